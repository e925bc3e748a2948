import { type AppError, conflict, forbidden, invalid, unauthenticated } from "../../base/errors.ts";
import { PERMISSION_CATEGORIES, type Identity, type PermissionDocument } from "../../base/identity.ts";
import type { ApiKeyId, UserId } from "../../base/ids.ts";
import { parseDollars, type Nanos } from "../../base/money.ts";
import { isUniqueViolation } from "../../db/sql-state.ts";
import type { Tx } from "../../db/transaction.ts";
import { recordAudit } from "./audit-store.ts";
import { noSuchUser } from "./find-user.ts";
import { insertApiKey } from "./key-store.ts";
import { newKey, type RandomBytes } from "./keys.ts";
import { parseEmail, parseUserChanges, USERNAME_LENGTH_MAX, type NewProfile } from "./profile.ts";
import type { AdminCreateUserBody, UpdateUserBody } from "./schema.ts";
import { addSshKey } from "./ssh-key-service.ts";
import { parseSshPublicKey } from "./ssh-public-key.ts";
import { insertUser, updateUser, type UserInsert } from "./user-store.ts";
import { notForTeams } from "./user.ts";

/** Who asks, and from where. */
export type Caller = { readonly identity: Identity; readonly ipAddress: string };

type NewAccount = {
  readonly userId: UserId;
  readonly email: string;
  readonly username: string;
  readonly keyId: ApiKeyId;
  /** The secret of its first key: shown in the answer to this request and never again. */
  readonly secret: string;
};

/** Puts credit on a new account, in the transaction that makes it; given by the ledger through `app.ts`. */
export type GrantCredit = (
  tx: Tx,
  grant: { readonly userId: UserId; readonly amount: Nanos; readonly actor: Identity },
) => Promise<unknown>;

const FIRST_KEY_NAME = "default";

/** What the first key of a host-only account may do: everything but renting. */
const HOST_ONLY_PERMISSIONS: PermissionDocument = {
  api: Object.fromEntries(
    PERMISSION_CATEGORIES.filter((category) => !category.startsWith("instance_")).map((category) => [category, {}]),
  ),
};

/** Whose subaccount is asked for: the caller's, or nobody's when no parent is named. */
export function resolveParent(
  identity: Identity | undefined,
  parentId: string | number | undefined,
): UserId | undefined {
  if (parentId === undefined) return undefined;
  if (identity === undefined) throw unauthenticated("This action requires login.");
  if (identity.memberId !== undefined) throw notForTeams("A team has members, and no subaccounts.");
  if (parentId === "me" || String(parentId) === String(identity.userId)) return identity.userId;
  throw forbidden("Only your own account can be the parent of a subaccount.");
}

/** Makes a standalone account or a subaccount, each with a first key. `user_exists` when the address is taken. */
export async function createAccount(
  tx: Tx,
  input: {
    readonly profile: NewProfile;
    readonly passwordHash: string;
    readonly parentId: UserId | undefined;
    readonly identity: Identity | undefined;
    readonly ipAddress: string;
    readonly random: RandomBytes;
  },
): Promise<NewAccount> {
  const { email, username, isHostOnly, sshKey } = input.profile;
  const { passwordHash, parentId } = input;
  const user = { email, username, passwordHash, parentId, isHostOnly, sshKey: sshKey?.line ?? "" };
  const account = await insertAccount(tx, user, input.random);
  if (sshKey !== undefined) await addSshKey(tx, account.userId, sshKey);
  const actor = input.identity ?? { userId: account.userId };
  const args = { user_id: account.userId, email, key_id: account.keyId };
  await recordAudit(tx, actor, { ipAddress: input.ipAddress, action: "api.user.create", args });
  return account;
}

/** Makes an account without a password for somebody else, with credit if some is named. */
export async function createAccountAsAdmin(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: AdminCreateUserBody,
  { random, grantCredit }: { readonly random: RandomBytes; readonly grantCredit: GrantCredit },
): Promise<NewAccount> {
  const email = parseEmail(body.email);
  const username = body.username?.trim() ?? email.slice(0, email.indexOf("@"));
  if (username === "" || username.length > USERNAME_LENGTH_MAX) {
    throw invalid("username", `username must have 1 to ${USERNAME_LENGTH_MAX} characters`);
  }
  const credit = parseDollars(body.credit ?? 0);
  if (credit === undefined || credit < 0n) throw invalid("credit", "credit must be an amount of dollars");
  const account = await insertAccount(tx, { email, username }, random);
  if (credit > 0n) await grantCredit(tx, { userId: account.userId, amount: credit, actor: identity });
  const args = { user_id: account.userId, email, key_id: account.keyId, credit: body.credit ?? 0 };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.user.create", args });
  return account;
}

/** Stores what of the request a user may set; the audit names the fields and not what is in them. */
export async function updateOwnUser(tx: Tx, { identity, ipAddress }: Caller, body: UpdateUserBody): Promise<void> {
  const changes = parseUserChanges(body);
  if (identity.memberId !== undefined && (changes.email !== undefined || changes.username !== undefined)) {
    throw notForTeams("A team has no address of its own, and is renamed by PUT /api/v0/team/.");
  }
  const isThere = await updateUser(tx, identity.userId, changes).catch((error: unknown) => {
    throw isUniqueViolation(error, "users_email") ? userExists(error) : error;
  });
  if (!isThere) throw noSuchUser(String(identity.userId));
  // The key in the profile is one of the account's: it opens what the user rents from now on.
  if (changes.ssh_key) await addSshKey(tx, identity.userId, parseSshPublicKey(changes.ssh_key));
  const args = { fields: Object.keys(changes) };
  await recordAudit(tx, identity, { ipAddress, action: "api.user.update", args });
}

async function insertAccount(tx: Tx, user: UserInsert, random: RandomBytes): Promise<NewAccount> {
  const userId = await insertUser(tx, user);
  if (userId === undefined) throw userExists();
  const key = newKey(random);
  const permissions = user.isHostOnly === true ? HOST_ONLY_PERMISSIONS : undefined;
  const keyId = await insertApiKey(tx, { userId, name: FIRST_KEY_NAME, key, permissions });
  return { userId, email: user.email, username: user.username, keyId, secret: key.secret };
}

function userExists(cause?: unknown): AppError {
  return conflict("user_exists", "user already exists.", { cause });
}
