import { insufficientFunds } from "../../base/errors.ts";
import { formatDollars, NANOS_PER_DOLLAR } from "../../base/money.ts";
import type { UserId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { balanceOf } from "../ledger/index.ts";

/** Nothing is rented without credit (semantics.md §10.2): throws `insufficient_funds` unless some is left to spend. */
export async function requireCredit(tx: Tx, userId: UserId): Promise<void> {
  const { available } = await balanceOf(tx.db, userId);
  if (available > 0n) return;
  const cent = NANOS_PER_DOLLAR / 100n;
  throw insufficientFunds(`Renting a volume needs credit: at least $${formatDollars(cent - available)} more.`);
}
