import type { UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { sumCharged } from "../../charging/for-limits.ts";

const DAY_MS = 86_400_000;
const SPENDING_DAYS = 30n;

/** The average daily charges for usage of an account over the last thirty days. */
export async function averageDailySpend(tx: Tx, userId: UserId): Promise<Nanos> {
  const from = new Date(tx.now.getTime() - Number(SPENDING_DAYS) * DAY_MS);
  return nanos((await sumCharged(tx.db, { userId, from, of: undefined })) / SPENDING_DAYS);
}
