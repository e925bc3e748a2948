import { randomBytes } from "node:crypto";
import { systemClock } from "../../server/src/base/clock.ts";
import type { Identity, PermissionDocument } from "../../server/src/base/identity.ts";
import type { ApiKeyId, UserId } from "../../server/src/base/ids.ts";
import type { Database } from "../../server/src/db/connect.ts";
import { withTransaction, type Tx } from "../../server/src/db/transaction.ts";
import { insertApiKey } from "../../server/src/domains/people/accounts/keys/store.ts";
import { newKey } from "../../server/src/domains/people/accounts/keys/rules/keys.ts";
import { insertUser, type UserInsert } from "../../server/src/domains/people/accounts/users/store.ts";

/** Runs `work` in a transaction of its own, for the fixtures below and for stores under test. */
export function inTransaction<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withTransaction(database, systemClock, work);
}

export type TestUser = { readonly id: UserId; readonly email: string; readonly username: string };

let userCount = 0;

/** A user without a key; each has another address. */
export async function aUser(tx: Tx, overrides: Partial<UserInsert> = {}): Promise<TestUser> {
  userCount += 1;
  const email = overrides.email ?? `user${userCount}@example.com`;
  const username = overrides.username ?? `user${userCount}`;
  const id = await insertUser(tx, { provenBy: "operator", ...overrides, email, username });
  if (id === undefined) throw new Error(`there is a user ${email} already`);
  return { id, email, username };
}

export type TestKey = { readonly id: ApiKeyId; readonly secret: string; readonly identity: Identity };

/** A key of the user: one that may do everything, unless permissions are given. */
export async function aKey(
  tx: Tx,
  user: Pick<TestUser, "id"> & { readonly isAdmin?: boolean; readonly memberId?: UserId | undefined },
  { permissions, name = "test" }: { readonly permissions?: PermissionDocument; readonly name?: string } = {},
): Promise<TestKey> {
  const key = newKey(randomBytes);
  const { memberId } = user;
  const id = await insertApiKey(tx, { userId: user.id, memberId, name, key, permissions });
  const identity = {
    userId: user.id,
    apiKeyId: id,
    memberId,
    isAdmin: user.isAdmin ?? false,
    permissions,
    instanceId: undefined,
  };
  return { id, secret: key.secret, identity };
}

export type TestCaller = TestUser & { readonly key: TestKey; readonly secret: string; readonly identity: Identity };

/** A user with a key that may do everything. */
export async function aCaller(
  database: Database,
  overrides: Partial<UserInsert> & { readonly permissions?: PermissionDocument } = {},
): Promise<TestCaller> {
  const { permissions, ...user } = overrides;
  return inTransaction(database, async (tx) => {
    const made = await aUser(tx, user);
    const isAdmin = user.isAdmin ?? false;
    const key = await aKey(tx, { id: made.id, isAdmin }, permissions === undefined ? {} : { permissions });
    return { ...made, key, secret: key.secret, identity: key.identity };
  });
}

/** A key of the right form that belongs to nobody. */
export function anUnknownKey(): string {
  return newKey(randomBytes).secret;
}
