import assert from "node:assert/strict";
import { test } from "node:test";
import { withTransaction } from "../../../db/transaction.ts";
import { nanos } from "../../../base/money.ts";
import { creditOf, earningsOf, FEES, postTransfers } from "../ledger/index.ts";
import { PAYOUTS, STRIPE } from "../ledger/for-payments.ts";
import { putCap } from "../ledger/for-limits.ts";
import { auditWorld, HOUR_MS, passHour, type AuditWorld } from "../../../../../test/support/money/audit-world.ts";
import { insertPayout } from "../payments/payouts/payout-store.ts";
import { differencesIn } from "../../../../../test/support/money/audit-differences.ts";
import { addUpDays, aReturn } from "../../../../../test/support/money/audit-rows.ts";
import { audit } from "./audit-service.ts";
import type { CheckName } from "./rules/difference.ts";

test("sound books have no difference, in an ordinary audit and in a full one", async (t) => {
  const world = await auditWorld(t);
  assert.deepEqual(await differencesIn(world), []);
  assert.deepEqual(await differencesIn(world, true), []);
  await passHour(world, 2_000_000_000n);
  assert.deepEqual(await differencesIn(world), []);
});

test("each check has examined at least one row", async (t) => {
  const world = await auditWorld(t);
  await aCap(world);
  await paymentsAndPayouts(world);
  await aReturn(world);
  await addUpDays(world);
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  const idle = checks.filter(({ examinedCount }) => examinedCount === 0);
  assert.deepEqual(
    idle.map(({ name }) => name),
    ["faults", "arrears", "invoices", "seals"],
    "there is no checkpoint yet, and relief-audit.test.ts has the others",
  );
});

/** One cap on everything that the renter pays, created at this moment. */
async function aCap({ env, sql, renterId: userId, clock }: AuditWorld): Promise<void> {
  const [spent] = await sql("select sum(amount_nanos)::bigint as n from charge_lines where paid_from = 'credit'");
  const [prepaid] = await sql("select sum(amount_nanos)::bigint as n from ledger_transfers where code = 'prepay'");
  const paid = nanos(BigInt(String(spent?.["n"])) + BigInt(String(prepaid?.["n"])));
  const limit = nanos(1_000_000_000_000n);
  await withTransaction(env.database, clock, (tx) =>
    putCap(tx, {
      userId,
      scope: `account:${userId}`,
      period: "day",
      limit,
      spent: paid,
      isCovered: true,
      stoppedBy: clock.now(),
    }),
  );
}

/** A card payment of the renter, a payout of the host, and all rows that belong to them. */
async function paymentsAndPayouts({ env, clock, sql, renterId, hostId }: AuditWorld): Promise<void> {
  const now = clock.now();
  await sql("insert into payment_accounts (user_id, created_at) values ($1, $2)", [renterId, now]);
  const [payment] = await sql(
    `insert into payments (user_id, kind, state, amount_cents, intent_id, created_at, settled_at)
     values ($1, 'checkout', 'paid', 2000, 'pi_1', $2, $2) returning id`,
    [renterId, now],
  );
  const payoutId = await withTransaction(env.database, clock, (tx) =>
    insertPayout(tx, {
      userId: hostId,
      invoicedAt: now,
      dueAt: new Date(now.getTime() + 168 * HOUR_MS),
      earned: 1_000_000_000n,
      feePpm: 100_000,
      fee: nanos(100_000_000n),
      amount: nanos(900_000_000n),
    }),
  );
  const paymentId = payment?.["id"];
  const [credit, earnings] = [creditOf(renterId), earningsOf(hostId)];
  const [ofPayment, ofPayout] = [{ payment_id: Number(paymentId) }, { payout_id: Number(payoutId) }];
  const moves = [
    ["payment:stripe:pi_1", STRIPE, credit, 20_000_000_000n, "payment", ofPayment],
    [`fee:payout:${String(payoutId)}`, earnings, FEES, 100_000_000n, "fee", ofPayout],
    [`payout:${String(payoutId)}`, earnings, PAYOUTS, 900_000_000n, "payout", ofPayout],
  ] as const;
  await withTransaction(env.database, clock, (tx) =>
    postTransfers(
      tx,
      moves.map(([key, debit, to, amount, code, cause]) => ({
        key,
        debit,
        credit: to,
        amount: nanos(amount),
        code,
        cause,
        description: "for a test",
      })),
    ),
  );
}

const withPayments = (what: string, statement: string, problem: RegExp, table = "payments"): Mistake => ({
  what,
  check: "payments",
  problem,
  plant: async (world) => {
    await paymentsAndPayouts(world);
    assert.deepEqual(await differencesIn(world), []);
    await world.plant(table, statement);
  },
});

const FIRST_GPU = "(select min(id) from charge_lines where component = 'gpu')";
const FIRST_DISK = "(select min(id) from charge_lines where component = 'disk' and instance_id is not null)";

type Mistake = {
  readonly what: string;
  readonly check: CheckName;
  readonly plant: (world: AuditWorld) => Promise<unknown>;
  /** The difference that the audit must report, among others that follow from it. */
  readonly problem: RegExp;
};

const onLine = (what: string, check: CheckName, change: string, problem: RegExp, line = FIRST_GPU): Mistake => ({
  what,
  check,
  problem,
  plant: ({ plant }) => plant("charge_lines", `update charge_lines set ${change} where id = ${line}`),
});
const bySql = (what: string, check: CheckName, statement: string, problem: RegExp): Mistake => ({
  what,
  check,
  problem,
  plant: ({ sql }) => sql(statement),
});
const onTransfer = (what: string, check: CheckName, change: string, problem: RegExp): Mistake => ({
  what,
  check,
  problem,
  plant: ({ plant }) =>
    plant(
      "ledger_transfers",
      `update ledger_transfers set ${change}
       where id = (select transfer_id from charge_lines where id = ${FIRST_GPU})`,
    ),
});

const MISTAKES: readonly Mistake[] = [
  bySql(
    "money from nowhere",
    "balances",
    "update ledger_accounts set balance_nanos = balance_nanos + 1 where kind = 'earnings'",
    /sum to zero/,
  ),
  bySql(
    "a balance that its transfers do not make",
    "balances",
    "update ledger_accounts set balance_nanos = balance_nanos + 1 where kind = 'earnings'",
    /account \d+: its balance is not what its transfers make it/,
  ),
  onTransfer("a transfer from an account that is not there", "balances", "debit_account_id = 999999", /not there/),
  bySql(
    "a held amount that its holds do not make",
    "held",
    "update ledger_accounts set held_nanos = held_nanos + 1 where kind = 'credit'",
    /held amount is not the sum of its holds/,
  ),
  bySql(
    "granted credit that is passed off as cash",
    "granted",
    "update ledger_accounts set granted_nanos = granted_nanos - 1 where kind = 'earnings'",
    /granted part of its balance is not what its transfers make it/,
  ),
  {
    what: "a cap that counts too little spending",
    check: "caps",
    problem: /its spending is not/,
    plant: async (world) => {
      await aCap(world);
      await world.sql("update ledger_caps set spent_nanos = spent_nanos - 1");
    },
  },
  {
    what: "a cap that counts too small holds",
    check: "caps",
    problem: /the holds that it counts/,
    plant: async (world) => {
      await aCap(world);
      await world.sql("update ledger_caps set held_nanos = held_nanos - 1");
    },
  },
  onLine(
    "an amount that is not quantity by price",
    "amounts",
    "amount_nanos = amount_nanos + 1",
    /quantity at its price/,
  ),
  onLine("an unpaid rest that never was", "amounts", "unpaid_nanos = 5", /quantity at its price/),
  onLine("an amount that its transfer does not have", "transfers", "amount_nanos = amount_nanos + 1", /another amount/),
  onLine("another payer", "transfers", "payer_id = host_id", /comes from another account/),
  onLine("another host", "transfers", "host_id = payer_id", /goes to another account/),
  onLine("another machine", "transfers", "machine_id = 999999", /earned elsewhere/),
  onLine("another time of charging", "transfers", "charged_at = charged_at - interval '1 second'", /at another time/),
  onLine("a transfer that is not there", "transfers", "transfer_id = 999999", /its transfer is not there/),
  onTransfer("a transfer with another code", "transfers", "code = 'usage_storage'", /for something else/),
  {
    what: "a charge of usage without a charge line",
    check: "pairs",
    problem: /not charged by exactly one line/,
    plant: ({ plant }) => plant("charge_lines", `delete from charge_lines where id = ${FIRST_GPU}`),
  },
  onLine(
    "two lines for one transfer",
    "pairs",
    "transfer_id = (select transfer_id from charge_lines where component = 'bwu' order by id limit 1)",
    /not charged by exactly one line/,
  ),
  onLine(
    "a line of a transfer that pays no usage",
    "pairs",
    "transfer_id = (select min(id) from ledger_transfers where code = 'prepay')",
    /no charge of usage/,
  ),
  bySql(
    "a counter charged beyond its lines",
    "counters",
    "update instance_runs set running_ms = running_ms + 1, charged_running_ms = charged_running_ms + 1",
    /do not add up to what it was charged for/,
  ),
  bySql(
    "sent bytes charged short of their lines",
    "counters",
    "update instance_runs set charged_sent_bytes = charged_sent_bytes - 1",
    /bwu lines do not add up/,
  ),
  onLine("a line of a run that never was", "counters", "generation = 7", /its run is not there/),
  onLine("a line of an instance that never was", "counters", "instance_id = 999999", /its instance is not there/),
  onLine("another price than that of its time", "terms", "unit_price_nanos = 2000000000", /its price is not that/),
  onLine("a discount that nobody agreed to", "terms", "discount_ppm = 100000", /its discount is not that/),
  bySql(
    "a line that reaches beyond its terms",
    "terms",
    "update past_terms set until_running_ms = until_running_ms - 1000",
    /reaches beyond its terms/,
  ),
  onLine("another disk than is stored", "terms", "size_bytes = size_bytes * 2", /its size is not that/, FIRST_DISK),
  onLine(
    "a line that overlaps the one before",
    "intervals",
    "from_at = from_at - interval '1 minute'",
    /does not begin where the last one ended/,
    "(select max(id) from charge_lines where component = 'gpu')",
  ),
  onLine(
    "a line that lasts longer than it charges",
    "intervals",
    "to_at = to_at + interval '1 s'",
    /as long as it charges/,
  ),
  onLine(
    "storage before the first proven running",
    "intervals",
    "from_at = from_at - interval '1 minute', quantity = quantity + 60000",
    /begins before it ran/,
    FIRST_DISK,
  ),
  bySql(
    "a run that nobody has proven",
    "intervals",
    "update instance_runs set metered_from_at = null",
    /nobody has proven/,
  ),
  bySql(
    "storage while the machine was away",
    "coverage",
    "update machine_spans set from_at = from_at + interval '1 minute'",
    /time that does not cost this/,
  ),
  bySql(
    "time in touch that was not charged",
    "coverage",
    `update instance_tabs set storage_charged_until_at = storage_charged_until_at - interval '1 minute'`,
    /do not add up to the time/,
  ),
  onLine("another state than it was in", "coverage", "state = 'stopped'", /another state/, FIRST_DISK),
  bySql(
    "a deposit that is not what moved through it",
    "deposits",
    "update ledger_accounts set balance_nanos = balance_nanos - 1 where kind like 'deposit:%'",
    /not the prepaid amount/,
  ),
  bySql("a closed deposit that is not empty", "deposits", "update deposits set closed_at = opened_at", /not empty/),
  withPayments(
    "a payment that nobody credited",
    "update payments set intent_id = 'pi_2'",
    /payment \d+: its transfer is not there/,
  ),
  withPayments(
    "a payment of another amount",
    "update payments set amount_cents = 1999",
    /payment \d+: its transfer has/,
  ),
  withPayments(
    "a payment from somewhere else",
    "update ledger_transfers set debit_account_id = (select id from ledger_accounts where kind = 'issuance') where code = 'payment'",
    /moves between other accounts/,
    "ledger_transfers",
  ),
  withPayments(
    "a credit that nobody paid",
    "update payments set state = 'failed'",
    /transfer \d+: there is no payment or payout/,
  ),
  withPayments(
    "a payout of another amount",
    "update payouts set amount_nanos = 800000000",
    /another amount/,
    "payouts",
  ),
  withPayments("a payout with another fee", "update payouts set fee_nanos = 1", /another amount/, "payouts"),
  withPayments(
    "a payout that came back without its money",
    "update payouts set state = 'failed', failure = 'closed', settled_at = created_at",
    /payout \d+: its transfer is not there/,
    "payouts",
  ),
  bySql("devices of one that is stopped", "leases", "update instances set phase = 'stopped'", /it is stopped/),
  bySql("one that runs on nothing", "leases", "update leases set released_at = granted_at", /it is running/),
  {
    what: "a hold that no instance names",
    check: "holds",
    problem: /no live instance names it/,
    plant: ({ sql, instanceId }) => sql("update instance_tabs set hold_id = null where instance_id = $1", [instanceId]),
  },
  {
    what: "one hold that two instances name",
    check: "holds",
    problem: /several instances name it/,
    plant: ({ sql, instanceId, reservedId }) =>
      sql(
        "update instance_tabs set hold_id = (select hold_id from instance_tabs where instance_id = $1) where instance_id = $2",
        [instanceId, reservedId],
      ),
  },
  {
    what: "a closed hold that an instance names",
    check: "holds",
    problem: /names a hold that is not pending/,
    plant: ({ plant }) =>
      plant(
        "ledger_holds",
        "update ledger_holds set state = 'released', closed_at = created_at where state = 'pending'",
      ),
  },
  bySql("an instance that is never due", "schedules", "update instance_tabs set settle_at = null", /it may still cost/),
  bySql("an instance without a tab", "schedules", "delete from instance_tabs", /instance \d+: it may still cost/),
  bySql("a volume that is never due", "schedules", "update volumes set settle_at = null", /volume \d+: it may still/),
];

for (const { what, check, plant, problem } of MISTAKES) {
  test(`finds ${what}, with the check ${check}`, async (t) => {
    const world = await auditWorld(t);
    await plant(world);
    const found = await differencesIn(world);
    const own = found.filter((text) => text.startsWith(`${check}: `));
    assert.ok(
      own.some((text) => problem.test(text)),
      `it says: ${found.join("\n")}`,
    );
  });
}

test("only the first differences of a check are kept, and all are counted", async (t) => {
  const world = await auditWorld(t);
  for (let hour = 0; hour < 4; hour += 1) await passHour(world, 2_000_000_000n);
  await world.plant("charge_lines", "update charge_lines set unpaid_nanos = 1");
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: false });
  const amounts = checks.find(({ name }) => name === "amounts");
  const [{ count = 0 } = {}] = await world.sql("select count(*)::integer as count from charge_lines");
  assert.equal(amounts?.differenceCount, count);
  assert.equal(amounts?.differences.length, 50);
});
