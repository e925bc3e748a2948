// Further rows for an audit: a payment that partly went back, and day sums.
import { nanos } from "../../../server/src/base/money.ts";
import { withTransaction } from "../../../server/src/db/transaction.ts";
import { creditOf, earningsOf, LOSSES, postTransfers } from "../../../server/src/domains/money/ledger/index.ts";
import { STRIPE } from "../../../server/src/domains/money/ledger/for-payments.ts";
import { addUpCharges } from "../../../server/src/domains/money/charging/days/charge-day-store.ts";
import { HOUR_MS, type AuditWorld } from "./audit-world.ts";

/** A payment of $30, of which $20 went back: $15 from what the renter had, and $5 that the house lost. */
export async function aReturn({ env, clock, sql, renterId, hostId }: AuditWorld): Promise<void> {
  const now = clock.now();
  await sql("insert into payment_accounts (user_id, created_at) values ($1, $2) on conflict do nothing", [
    renterId,
    now,
  ]);
  const [payment] = await sql(
    `insert into payments (user_id, kind, state, amount_cents, intent_id, created_at, settled_at)
     values ($1, 'checkout', 'paid', 3000, 'pi_9', $2, $2) returning id`,
    [renterId, now],
  );
  await sql(
    `insert into payment_returns (key, intent_id, returned_cents, taken_nanos, lost_nanos, booked_count, created_at)
     values ('refund:ch_9', 'pi_9', 2000, 15000000000, 5000000000, 1, $1)`,
    [now],
  );
  await sql(
    `insert into payment_takings (return_key, account_kind, user_id, amount_nanos, taken_at)
     values ('refund:ch_9', 'earnings', $1, 1000, $2)`,
    [hostId, now],
  );
  const credit = creditOf(renterId);
  const cause = { payment_id: Number(payment?.["id"]) };
  const returned = { ...cause, return: "refund:ch_9" };
  const moves = [
    ["payment:stripe:pi_9", STRIPE, credit, 30_000_000_000n, "payment", cause],
    [`taken_back:stripe:refund:ch_9:1:earnings:${hostId}`, earningsOf(hostId), credit, 1000n, "taken_back", returned],
    ["payment_returned:stripe:refund:ch_9:1:taken", credit, STRIPE, 15_000_000_000n, "payment_returned", returned],
    ["payment_returned:stripe:refund:ch_9:1:lost", LOSSES, STRIPE, 5_000_000_000n, "write_off", returned],
  ] as const;
  await withTransaction(env.database, clock, (tx) =>
    postTransfers(
      tx,
      moves.map(([key, debit, to, amount, code, why]) => ({
        key,
        debit,
        credit: to,
        amount: nanos(amount),
        code,
        cause: why,
        description: "for a test",
      })),
    ),
  );
}

/** Adds up all that was charged so far, as an hour from now. */
export async function addUpDays({ env, clock }: Pick<AuditWorld, "env" | "clock">): Promise<void> {
  const later = new Date(clock.now().getTime() + HOUR_MS);
  const other = {
    now: () => later,
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
    every: (ms: number, run: () => void) => clock.every(ms, run),
  };
  while ((await withTransaction(env.database, other, addUpCharges)) !== undefined);
}
