import { unauthenticated } from "../../../../base/errors.ts";
import { accountFrozen } from "../../../../base/freeze.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { keepAccounts } from "./store.ts";

/**
 * Locks the caller's account until the commit and throws when it is gone or frozen, so that nothing is stored for such
 * an account: a deletion or a freeze waits for this transaction and sees what it stored. Call it before storing.
 */
export async function requireAccount(tx: Tx, userId: UserId): Promise<void> {
  const accounts = await keepAccounts(tx, [userId]);
  if (!accounts.has(userId)) throw accountGone();
  const freeze = accounts.get(userId);
  if (freeze !== undefined) throw accountFrozen(freeze);
}

/** The error for a key whose account was deleted since the key was looked up. */
export function accountGone() {
  return unauthenticated("The account of this key is gone.");
}
