import { AppError } from "../../../../base/errors.ts";
import type { HttpScope } from "../../../../http/server.ts";
import { epochSeconds } from "../../../../base/clock.ts";
import { inSnapshot } from "../../../../db/transaction.ts";
import { readOwnRecord } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import type { Opened } from "./open-session.ts";

/** The record of the account that a new session acts as, with the session's key. */
export async function recordOf(
  { database }: Pick<HttpScope, "database">,
  { userId, secret }: Opened,
  { identities, factsOf }: SignInMeans,
) {
  const identity = await identities.authenticate(secret);
  if (identity?.session === undefined) {
    throw new AppError("unauthenticated", "auth_error", "The session ended meanwhile. Sign in again.");
  }
  const record = await inSnapshot(database, (db) => readOwnRecord(db, userId, identity, factsOf));
  return {
    success: true as const,
    ...record,
    session_key: secret,
    session_expires_at: epochSeconds(identity.session.expiresAt),
  };
}
