import { unauthenticated } from "../../base/errors.ts";
import type { UserId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { keepAccounts } from "./user-store.ts";

/**
 * Keeps the account of the caller until the commit, so that nothing is stored for one that is gone: whoever deletes it
 * waits for this transaction and sees what it made. Called before that is stored.
 */
export async function requireAccount(tx: Tx, userId: UserId): Promise<void> {
  if (!(await keepAccounts(tx, [userId])).has(userId)) throw accountGone();
}

/** The answer to a key whose account was deleted since it was looked up. */
export function accountGone() {
  return unauthenticated("The account of this key is gone.");
}
