import { type AppError, conflict, forbidden, invalid, unauthenticated } from "../../../../base/errors.ts";
import {
  PERMISSION_CATEGORIES,
  type Caller,
  type Identity,
  type PermissionDocument,
} from "../../../../base/identity.ts";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import { parseDollars, type Nanos } from "../../../../base/money.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../audit-log/store.ts";
import { changeAddress, claimAddress, mailToken, type ProofMeans } from "../emails/service.ts";
import { noSuchUser, requireUser } from "./find-user.ts";
import { insertApiKey } from "../keys/store.ts";
import { newKey, type RandomBytes } from "../keys/rules/keys.ts";
import { parseEmail, parseUserChanges, USERNAME_LENGTH_MAX, type NewProfile } from "./profile.ts";
import { requireAccount } from "./require-account.ts";
import { requireRoom } from "../room.ts";
import type { AdminCreateUserBody, UpdateUserBody } from "../schema.ts";
import { addSshKey } from "../ssh-keys/service.ts";
import { parseSshPublicKey } from "../ssh-keys/rules/ssh-public-key.ts";
import { countSubaccounts, findTopAccount, insertUser, updateUser, type UserInsert } from "./store.ts";
import { notForTeams } from "./rules/user.ts";

/** The error for a sign-up on a server whose operator creates all accounts. */
export function signupClosed(): AppError {
  return forbidden("Sign-up is closed on this server. Ask its operator for an account.", "signup_closed");
}

type NewAccount = {
  readonly userId: UserId;
  readonly email: string;
  readonly username: string;
  readonly keyId: ApiKeyId;
  /** The secret of its first key, shown only in this answer. */
  readonly secret: string;
};

/** Puts credit on a new account, in the transaction that creates it; the ledger's, passed in by `app.ts`. */
export type GrantCredit = (
  tx: Tx,
  grant: { readonly userId: UserId; readonly amount: Nanos; readonly actor: Identity },
) => Promise<unknown>;

const FIRST_KEY_NAME = "default";

/** Permissions of a host-only account's first key: everything but renting. */
export const HOST_ONLY_PERMISSIONS: PermissionDocument = {
  api: Object.fromEntries(
    PERMISSION_CATEGORIES.filter((category) => !category.startsWith("instance_")).map((category) => [category, {}]),
  ),
};

const SUBACCOUNTS_MAX = 500;

/** The parent of the new account: the caller, or nobody when no parent is named. */
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

/**
 * Creates a standalone account or a subaccount, each with a first key. Throws `user_exists` when the address is taken.
 */
export async function createAccount(
  tx: Tx,
  input: {
    readonly profile: NewProfile;
    readonly passwordHash: string;
    readonly parentId: UserId | undefined;
    readonly identity: Identity | undefined;
    readonly ipAddress: string;
    readonly means: ProofMeans;
  },
): Promise<NewAccount> {
  const { means } = input;
  const { email, username, isHostOnly, sshKey } = input.profile;
  const { passwordHash, parentId } = input;
  if (parentId !== undefined) {
    // Counted for the account at the top: a subaccount that creates subaccounts gains no room.
    const topId = await findTopAccount(tx.db, parentId);
    const count = () => countSubaccounts(tx.db, topId);
    await requireRoom(tx, topId, { count, max: SUBACCOUNTS_MAX, field: "parent_id", what: "subaccounts" });
    // A freeze of the parent waits for this account, or this account is refused. The top account is locked first, as in
    // a freeze.
    await requireAccount(tx, parentId);
  }
  const user = { email, username, passwordHash, parentId, isHostOnly, sshKey: sshKey?.line ?? "" };
  const account = await insertAccount(tx, user, { random: means.random, canMail: means.queueMail !== undefined });
  await mailToken(tx, { id: account.userId, email }, means);
  if (sshKey !== undefined) await addSshKey(tx, account.userId, sshKey);
  const actor = input.identity ?? { userId: account.userId };
  const args = { user_id: account.userId, email, key_id: account.keyId };
  await recordAudit(tx, actor, { ipAddress: input.ipAddress, action: "api.user.create", args });
  return account;
}

/**
 * Creates an account without a password for another person, with credit if the request names some. The administrator
 * vouches for its address.
 */
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
  const account = await insertAccount(tx, { email, username, provenBy: "operator" }, { random, canMail: false });
  if (credit > 0n) await grantCredit(tx, { userId: account.userId, amount: credit, actor: identity });
  const args = { user_id: account.userId, email, key_id: account.keyId, credit: body.credit ?? 0 };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.user.create", args });
  return account;
}

/** Stores the settable fields of the request; the audit log names the fields and not their values. */
export async function updateOwnUser(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: UpdateUserBody,
  means: ProofMeans,
): Promise<void> {
  const changes = parseUserChanges(body);
  if (identity.memberId !== undefined && (changes.email !== undefined || changes.username !== undefined)) {
    throw notForTeams("A team has no address of its own, and is renamed by PUT /api/v0/team/.");
  }
  const { email, ...others } = changes;
  if (email !== undefined) {
    const user = await requireUser(tx.db, identity.userId);
    if ((await changeAddress(tx, user, email, means)) === "taken") throw userExists();
  }
  const isThere = Object.keys(others).length === 0 || (await updateUser(tx, identity.userId, others));
  if (!isThere) throw noSuchUser(String(identity.userId));
  // A key in the profile becomes a key of the account: it opens instances that the user rents later.
  if (changes.ssh_key) await addSshKey(tx, identity.userId, parseSshPublicKey(changes.ssh_key));
  const args = { fields: Object.keys(changes) };
  await recordAudit(tx, identity, { ipAddress, action: "api.user.update", args });
}

async function insertAccount(
  tx: Tx,
  user: UserInsert,
  { random, canMail }: { readonly random: RandomBytes; readonly canMail: boolean },
): Promise<NewAccount> {
  const isProven = user.provenBy !== undefined;
  if ((await claimAddress(tx, user.email, { isProven, canMail })) === "taken") throw userExists();
  const userId = await insertUser(tx, user);
  if (userId === undefined) throw userExists();
  const key = newKey(random);
  const permissions = user.isHostOnly === true ? HOST_ONLY_PERMISSIONS : undefined;
  const keyId = await insertApiKey(tx, { userId, name: FIRST_KEY_NAME, key, permissions });
  return { userId, email: user.email, username: user.username, keyId, secret: key.secret };
}

function userExists(): AppError {
  return conflict("user_exists", "user already exists.");
}
