import { unauthenticated } from "../../../../base/errors.ts";
import { accountFrozen } from "../../../../base/freeze.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { keepAccounts } from "./store.ts";

/**
 * Keeps the account of the caller until the commit, so that nothing is stored for one that is gone or frozen: whoever
 * deletes or freezes it waits for this transaction and sees what it made. Called before that is stored.
 */
export async function requireAccount(tx: Tx, userId: UserId): Promise<void> {
  const accounts = await keepAccounts(tx, [userId]);
  if (!accounts.has(userId)) throw accountGone();
  const freeze = accounts.get(userId);
  if (freeze !== undefined) throw accountFrozen(freeze);
}

/** The answer to a key whose account was deleted since it was looked up. */
export function accountGone() {
  return unauthenticated("The account of this key is gone.");
}
