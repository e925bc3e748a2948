import { forbidden } from "../../../base/errors.ts";
import type { Identity } from "../../../base/identity.ts";
import type { ApiKeyId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { listCappedAmong, type CapScope } from "../../money/ledger/index.ts";
import type { Instance } from "./instance.ts";

export type Spender = Pick<Identity, "apiKeyId">;

/**
 * Refuses a key with a cap any spending that is paid under another key, because its own cap would not count that.
 * `payers` are the keys under which `what` is charged.
 */
export async function requireOwnSpending(
  db: Reader,
  { apiKeyId }: Spender,
  { payers, what }: { readonly payers: readonly ApiKeyId[]; readonly what: string },
): Promise<void> {
  if (payers.every((payer) => payer === apiKeyId)) return;
  await refuseCapped(db, `key:${apiKeyId}`, what);
}

/**
 * Refuses a key with a cap an instance of another key. Without a key the server itself acts, by orders that were
 * checked before.
 */
export async function requireOwnInstance(
  db: Reader,
  apiKeyId: ApiKeyId | undefined,
  { id, capScopes }: Pick<Instance, "id" | "capScopes">,
): Promise<void> {
  if (apiKeyId === undefined || capScopes.includes(`key:${apiKeyId}`)) return;
  await refuseCapped(db, `key:${apiKeyId}`, `Instance ${id}`);
}

async function refuseCapped(db: Reader, scope: CapScope, what: string): Promise<void> {
  if (!(await listCappedAmong(db, [scope])).has(scope)) return;
  throw forbidden(
    `${what} spends under another key, and this key has a cap, which would not count it. Use another key.`,
  );
}
