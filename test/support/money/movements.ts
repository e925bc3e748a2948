// Movements of money in the first days of March 2026, for tests of lists of them.
import assert from "node:assert/strict";
import { systemClock, type Clock } from "../../../server/src/base/clock.ts";
import { asId, type InstanceId } from "../../../server/src/base/ids.ts";
import { NANOS_PER_DOLLAR } from "../../../server/src/base/money.ts";
import type { Database } from "../../../server/src/db/connect.ts";
import { withTransaction } from "../../../server/src/db/transaction.ts";
import { PAYOUTS, STRIPE } from "../../../server/src/domains/money/ledger/for-payments.ts";
import {
  creditOf,
  depositOf,
  earningsOf,
  FEES,
  postTransfers,
  type TransferRequest,
} from "../../../server/src/domains/money/ledger/index.ts";
import { aCaller } from "../fixtures.ts";
import { postCharges } from "./charge-lines.ts";
import { grantOf, transferOf } from "./ledger.ts";

const DOLLAR = NANOS_PER_DOLLAR;

/** Posts these transfers at this time. */
export async function postMovements(
  database: Database,
  at: string,
  requests: readonly TransferRequest[],
): Promise<void> {
  const then: Clock = { ...systemClock, now: () => new Date(at) };
  const outcomes = await withTransaction(database, then, (tx) => postTransfers(tx, requests));
  assert.ok(outcomes.every(({ kind }) => kind === "posted"));
}

/** A user with movements of every kind, and usage in between, which is no movement. */
export async function aPast(database: Database) {
  const [user, friend] = [await aCaller(database), await aCaller(database)];
  const [credit, deposit, earnings] = [creditOf(user.id), depositOf(user.id, asId<InstanceId>(7)), earningsOf(user.id)];
  await postMovements(database, "2026-03-01T10:00:00Z", [grantOf(user.id, 100n * DOLLAR)]);
  await postMovements(database, "2026-03-02T10:00:00Z", [
    transferOf({ debit: STRIPE, credit, amount: 20n * DOLLAR, code: "payment" }),
  ]);
  await postMovements(database, "2026-03-03T10:00:00Z", [
    transferOf({ debit: credit, credit: creditOf(friend.id), amount: 5n * DOLLAR }),
  ]);
  await postMovements(database, "2026-03-04T10:00:00Z", [
    transferOf({ debit: credit, credit: deposit, amount: 8n * DOLLAR, code: "prepay", cause: { instance_id: 7 } }),
  ]);
  await postMovements(database, "2026-03-05T10:00:00Z", [
    transferOf({ debit: deposit, credit, amount: 3n * DOLLAR, code: "refund", cause: { instance_id: 7 } }),
  ]);
  await postCharges(database, "2026-03-05T11:00:00Z", { payer: friend.id, host: user.id }, [{ amount: 4n * DOLLAR }]);
  await postMovements(database, "2026-03-06T10:00:00Z", [
    transferOf({ debit: earnings, credit: FEES, amount: DOLLAR / 2n, code: "fee" }),
    transferOf({ debit: earnings, credit: PAYOUTS, amount: 3n * DOLLAR, code: "payout" }),
  ]);
  return { user, friend };
}
