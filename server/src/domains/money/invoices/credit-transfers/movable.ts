import type { Clock } from "../../../../base/clock.ts";
import type { UserId } from "../../../../base/ids.ts";
import { MicroBatcher } from "../../../../base/micro-batcher.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Database } from "../../../../db/connect.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { listFrozenIds } from "../../../people/accounts/index.ts";
import { readFreeCash } from "../../ledger/for-invoices.ts";
import { listAccruing } from "../../charging/for-invoices.ts";
import { lockSpendable } from "../../charging/index.ts";
import { listYoungCredit } from "../../payments/for-invoices.ts";

const USERS_BATCH_MAX = 500;

/** True when a part of an account's credit, or all of it, may have to stay there. */
export type IsBound = (userId: UserId) => Promise<boolean>;

/**
 * Finds accounts with recent card payments, with usage, or with a freeze: their transferable credit is computed account
 * by account. Questions that arrive together share a few statements.
 */
export function createBoundCheck(database: Database, clock: Clock): IsBound {
  const batcher = new MicroBatcher<UserId, boolean>({
    maxBatch: USERS_BATCH_MAX,
    run: async (userIds) => {
      const young = await listYoungCredit(database.kysely, clock.now(), userIds);
      const accruing = await listAccruing(database.kysely, userIds);
      const frozen = new Set(await listFrozenIds(database.kysely, userIds));
      return userIds.map((id) => young.has(id) || frozen.has(id) || accruing.has(id));
    },
  });
  return (userId) => batcher.submit(userId);
}

/**
 * The credit that an account can give away: its spendable credit less accrued usage, and less card payments that can
 * still be taken back, as far as they are there. The account's credit stays locked until the transaction ends.
 */
export async function lockMovable(tx: Tx, userId: UserId): Promise<Nanos> {
  const availableNanos = await lockSpendable(tx, userId);
  const young = (await listYoungCredit(tx.db, tx.now, [userId])).get(userId) ?? 0n;
  const cash = (await readFreeCash(tx.db, [userId], "credit")).get(userId) ?? 0n;
  const movable = availableNanos - (young < cash ? young : cash);
  return nanos(movable > 0n ? movable : 0n);
}
