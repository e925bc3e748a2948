import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { aPaymentShop, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { earningsOf, ISSUANCE, postTransfers } from "../../ledger/index.ts";
import { setFeeRate } from "../for-assembly.ts";
import { feeOf, fridayOf, PAYOUT_MINIMUM, planPayout } from "./rules/payout.ts";

const DOLLAR = 1_000_000_000n;
const CENT = 10_000_000n;
const WEEK_MS = 7 * 86_400_000;

test("payouts, fees and balance add up to the earnings less returns, and the fee never exceeds its rate", () => {
  const steps = fc.array(fc.bigInt({ min: -40n * DOLLAR, max: 90n * DOLLAR }), { maxLength: 30 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 500_000 }), (weeks, feePpm) => {
      let [balance, settled, earned, fees, paid, highest] = [0n, 0n, 0n, 0n, 0n, 0n];
      for (const week of weeks) {
        // Only money that is there goes back.
        const change = week < -balance ? -balance : week;
        balance += change;
        earned += change;
        if (earned > highest) highest = earned;
        const plan = planPayout({ balance: nanos(balance), settled, feePpm });
        if (plan.kind === "pay") {
          assert.ok(plan.amount >= PAYOUT_MINIMUM && plan.amount % CENT === 0n);
          [fees, paid, settled] = [fees + plan.fee, paid + plan.amount, plan.settledAfter];
          balance -= plan.fee + plan.amount;
        }
        assert.equal(paid + fees + balance, earned);
        assert.ok(balance >= 0n);
        assert.ok(fees <= feeOf(highest, feePpm), "no nano-dollar bears the fee twice");
      }
    }),
  );
});

test("the Friday of a moment is a Friday at midnight, at most a week before", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true }), (now) => {
      const friday = fridayOf(now);
      assert.equal(friday.getUTCDay(), 5);
      assert.equal(friday.getTime() % 86_400_000, 0);
      const sinceMs = now.getTime() - friday.getTime();
      assert.ok(sinceMs >= 0 && sinceMs < WEEK_MS);
    }),
  );
});

type Step = "earn" | "invoice" | "send" | "send and crash" | "lose the request" | "lose the answer" | "wait" | "week";

test("a payout is paid once despite crashes and lost answers, and all earnings are accounted for", async (t) => {
  const anyStep = fc.constantFrom<Step>(
    "earn",
    "invoice",
    "send",
    "send and crash",
    "lose the request",
    "lose the answer",
    "wait",
    "week",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 25 }), async (steps) => {
      const shop = await aHouse(t);
      const [host, other] = [await shop.user(), await shop.user()];
      for (const [index, user] of [host, other].entries()) {
        const details = { account_id: `acct_1TestHost000${index}` };
        await shop.call(user, "PUT", "/api/v0/billing/payout_method/", { method: "stripe", details });
      }
      let earned = 0n;
      for (const step of steps) {
        if (step === "earn") earned += await earn(shop, [host, other]);
        else await take(shop, step);
        await assertAccounted(shop, earned);
      }
      for (const step of ["week", "invoice", "week", "send", "wait", "send"] as const) await take(shop, step);
      await assertAccounted(shop, earned);
      const { rows } = await shop.env.pool.query<{ state: string; cents: bigint; reference: string }>(
        "select state, amount_nanos / 10000000 as cents, reference from payouts order by reference",
      );
      const sent = shop.stripe.transfers.map(({ id, amount }) => ({
        state: "paid",
        cents: BigInt(amount),
        reference: id,
      }));
      assert.deepEqual(
        rows,
        sent.toSorted((a, b) => (a.reference < b.reference ? -1 : 1)),
      );
    }),
    { numRuns: 12 },
  );
});

class Crash extends Error {}

/** A server that may end between the provider's answer and the storing of it. */
async function aHouse(
  t: Parameters<typeof aPaymentShop>[0],
): Promise<PaymentShop & { readonly crash: { isDue: boolean } }> {
  const crash = { isDue: false };
  const shop = await aPaymentShop(t, {
    clock: new ManualClock("2026-01-01T12:00:00Z"),
    wrap: (provider) => ({
      ...provider,
      async payOut(request) {
        const result = await provider.payOut(request);
        if (crash.isDue) throw new Crash("the server ended");
        return result;
      },
    }),
  });
  await inTransaction(shop.env.database, (tx) => setFeeRate(tx, { feePpm: 150_000 }));
  return { ...shop, crash };
}

async function take(shop: PaymentShop & { readonly crash: { isDue: boolean } }, step: Exclude<Step, "earn">) {
  const { stripe, clock, crash } = shop;
  switch (step) {
    case "invoice":
      await Promise.all([shop.runLoop("invoice-earnings"), shop.runLoop("invoice-earnings")]);
      return;
    case "send":
      await Promise.all([shop.runLoop("send-due-payouts"), shop.runLoop("send-due-payouts")]);
      return;
    case "send and crash":
      crash.isDue = true;
      await shop.runLoop("send-due-payouts").catch((error: unknown) => assert.ok(error instanceof Crash));
      crash.isDue = false;
      return;
    case "lose the request":
    case "lose the answer":
      stripe.outage = step === "lose the request" ? "before" : "after";
      await shop.runLoop("send-due-payouts");
      stripe.outage = "none";
      return;
    case "wait":
      clock.advance(11 * 60_000);
      return;
    case "week":
      clock.advance(WEEK_MS);
  }
}

async function earn(shop: PaymentShop, hosts: readonly TestCaller[]): Promise<bigint> {
  const amount = 33n * DOLLAR + 333_333_333n;
  const earned = hosts.map(({ id }: { readonly id: UserId }) =>
    transferOf({ debit: ISSUANCE, credit: earningsOf(id), amount, code: "usage_gpu" }),
  );
  await inTransaction(shop.env.database, (tx) => postTransfers(tx, earned));
  return amount * BigInt(hosts.length);
}

async function assertAccounted(shop: PaymentShop, earned: bigint): Promise<void> {
  const { rows } = await shop.env.pool.query<{ total: string; scheduled: string }>(
    `select coalesce(sum(balance_nanos) filter (where kind in ('earnings', 'fees', 'payouts')), 0)::text as total,
       (coalesce(sum(balance_nanos) filter (where kind = 'payouts'), 0)
         - (select coalesce(sum(amount_nanos), 0) from payouts where state <> 'failed'))::text as scheduled
     from ledger_accounts`,
  );
  assert.deepEqual(rows, [{ total: String(earned), scheduled: "0" }]);
  await shop.assertBooks();
}
