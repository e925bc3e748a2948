import { AppError } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { HttpScope } from "../../../../http/server.ts";
import { inSnapshot } from "../../../../db/transaction.ts";
import { readOwnRecord } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import type { Opened } from "./open-session.ts";

type Means = Pick<SignInMeans, "identities" | "factsOf">;
type Scope = Pick<HttpScope, "database">;

/** The record of the account that a new session acts as, with the session's key. */
export async function recordOf(scope: Scope, opened: Opened, means: Means) {
  const identity = await means.identities.authenticate(opened.secret);
  const record = await readRecord(scope, opened, identity, means);
  return { ...record, session_key: opened.secret, session_expires_at: opened.expiresAtMs / 1000 };
}

/** The record of the account that a new session of a browser acts as. */
export async function recordOfBrowser(
  scope: Scope,
  { opened, ipAddress }: { readonly opened: Opened; readonly ipAddress: string },
  means: Means,
) {
  const caller = await means.identities.authenticateCookie(opened.secret, { ipAddress });
  return readRecord(scope, opened, caller?.identity, means);
}

async function readRecord({ database }: Scope, { userId }: Opened, identity: Identity | undefined, { factsOf }: Means) {
  if (identity?.session === undefined) {
    throw new AppError("unauthenticated", "auth_error", "The session ended meanwhile. Sign in again.");
  }
  const record = await inSnapshot(database, (db) => readOwnRecord(db, userId, identity, factsOf));
  return { success: true as const, ...record };
}
