import { invariant } from "../../../../base/invariant.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { CurrentUserResponse } from "../schema.ts";
import { viewUser, type OwnIdentity, type ReadUserFacts } from "../views.ts";
import { requireUser } from "./find-user.ts";

/** The account's record as the holder of a key of it sees it. */
export async function readOwnRecord(
  db: Reader,
  userId: UserId,
  identity: OwnIdentity,
  factsOf: ReadUserFacts,
): Promise<CurrentUserResponse> {
  const user = await requireUser(db, userId);
  const [facts] = await factsOf(db, [userId]);
  invariant(facts !== undefined, `user ${userId} has facts`);
  return viewUser(user, { ...facts, identity });
}
