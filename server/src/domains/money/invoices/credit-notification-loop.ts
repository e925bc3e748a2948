import type { Clock } from "../../../base/clock.ts";
import { formatDollars, nanos, NANOS_PER_DOLLAR } from "../../../base/money.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { sumReceivedCredit } from "../ledger/for-invoices.ts";
import { postNotifications } from "../../notifications/index.ts";
import { lockCreditMark, moveCreditMark } from "./credit-mark-store.ts";

const ROWS_PER_ROUND = 20_000;
const ROUNDS_PER_RUN = 50;
/** Minimum of a notification: flooding a mailbox costs its sender this much credit for each mail. */
const AMOUNT_MIN = nanos(NANOS_PER_DOLLAR / 100n);
/** Time after which all lower ids are committed: ids are taken before their transfers commit. */
const COMPLETE_AFTER_MS = 10_000;

/**
 * Notifies users of credit from others. An account may receive ten thousand credit transfers a second, so all that
 * arrived since the last run are one notification.
 */
export function creditNotificationLoop({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): Loop {
  return {
    name: "tell-credit-received",
    description: "Tells users what credit others have sent them.",
    everyMs: 15_000,
    run: async () => {
      let told = 0;
      for (let round = 1; round <= ROUNDS_PER_RUN; round += 1) {
        const { count, isLast } = await withTransaction(database, clock, tellReceived);
        told += count;
        if (isLast) break;
      }
      return { told };
    },
  };
}

async function tellReceived(tx: Tx): Promise<{ readonly count: number; readonly isLast: boolean }> {
  const afterId = await lockCreditMark(tx);
  const before = new Date(tx.now.getTime() - COMPLETE_AFTER_MS);
  const { lastId, received } = await sumReceivedCredit(tx.db, { afterId, before, limit: ROWS_PER_ROUND });
  if (lastId === undefined) return { count: 0, isLast: true };
  const told = received.filter(({ amount }) => amount >= AMOUNT_MIN);
  await postNotifications(
    tx,
    told.map(({ userId, amount, count }) => ({
      userId,
      kind: "client:credit_transfer_received",
      subject: `You received $${formatDollars(amount)} of credit`,
      message: `${count === 1 ? "A credit transfer" : `${count} credit transfers`} of $${formatDollars(amount)} came in from other users. Your invoices name the senders.`,
      key: `client:credit_transfer_received:${lastId}`,
    })),
  );
  await moveCreditMark(tx, lastId);
  return { count: told.length, isLast: false };
}
