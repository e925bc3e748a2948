import { conflict, forbidden, notFound } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import { parseId, type UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { isUnscopedAdmin } from "../../../../base/access.ts";
import { findUser, listUsersByEmail } from "./store.ts";
import type { User } from "./rules/user.ts";

/**
 * Finds a live user by e-mail address (in any case) or by id, as a person types them. Throws `ambiguous_email` when
 * several accounts claim the address and none has proven it.
 */
export async function findUserByEmailOrId(db: Reader, text: string): Promise<User | undefined> {
  const trimmed = text.trim();
  if (trimmed.includes("@")) {
    const [first, ...others] = await listUsersByEmail(db, trimmed.toLowerCase());
    if (first === undefined || first.isEmailProven || others.length === 0) return first;
    throw ambiguousEmail(trimmed, [first, ...others]);
  }
  const id = parseId<UserId>(trimmed);
  return id === undefined ? undefined : findUser(db, id);
}

/** The account that has proven this address, given in lower case. */
export async function findProvenUser(db: Reader, email: string): Promise<User | undefined> {
  return (await listUsersByEmail(db, email)).find(({ isEmailProven }) => isEmailProven);
}

/** The live user of this id; `no_such_user` when there is none. */
export async function requireUser(db: Reader, id: UserId): Promise<User> {
  const user = await findUser(db, id);
  if (user === undefined) throw noSuchUser(String(id));
  return user;
}

/**
 * The user that a path such as `/users/{user_id}/…` means: `me`, `current`, or the caller's own id. Any other id is
 * forbidden, whether that user exists or not, except to an administrator.
 */
export async function resolveUserId(db: Reader, identity: Identity, text: string): Promise<UserId> {
  if (text === "me" || text === "current" || text === String(identity.userId)) return identity.userId;
  if (!isUnscopedAdmin(identity)) throw forbidden("You may read only your own account.");
  const id = parseId<UserId>(text);
  const user = id === undefined ? undefined : await findUser(db, id);
  if (user === undefined) throw noSuchUser(text);
  return user.id;
}

/**
 * The user that a path such as `/users/{user_id}/…` means where it may be nobody but the caller: `me`, `current`, or the
 * caller's own id. Any other id is forbidden, whether that user exists or not.
 */
export function requireOwnId(identity: Identity, text: string): UserId {
  if (text === "me" || text === "current" || text === String(identity.userId)) return identity.userId;
  throw forbidden("user_id must be your own account, me or current.");
}

function ambiguousEmail(text: string, claimants: readonly User[]) {
  const ids = claimants.map(({ id }) => id);
  const message = `Accounts ${ids.join(", ")} claim ${text}, and none has proven it. Name the account by its id.`;
  return conflict("ambiguous_email", message, { extra: { user_ids: ids } });
}

/** The error for an administrator who names a user that does not exist. */
export function noSuchUser(text: string) {
  return notFound("no_such_user", `There is no user ${text}.`);
}
