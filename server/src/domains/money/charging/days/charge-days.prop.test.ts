import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { postCharges, type TestCharge } from "../../../../../../test/support/money/charge-lines.ts";
import { grantOf, inTransaction, makeUsers } from "../../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { systemClock } from "../../../../base/clock.ts";
import type { UserId } from "../../../../base/ids.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { postTransfers } from "../../ledger/index.ts";
import { addUpCharges } from "./charge-day-store.ts";
import { listLines, type ChargeLine } from "../lines/line-list-store.ts";
import { listContractSums, listDaySums, totalCharged } from "../lines/line-report-store.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.parse("2026-05-01T00:00:00Z");
const SPAN_DAYS = 4;

const charges = fc.array(
  fc.record({
    atMs: fc.oneof(
      fc.integer({ min: 0, max: SPAN_DAYS * DAY }),
      fc.constantFrom(0, DAY - 1, DAY, 2 * DAY, 2 * DAY + 1),
    ),
    component: fc.constantFrom("gpu", "disk", "bwu", "bwd"),
    contract: fc.constantFrom({ instance: 1 }, { instance: 2 }, { volume: 1 }),
    amount: fc.bigInt({ min: 0n, max: 5_000_000_000n }),
    unpaid: fc.constantFrom(0n, 7n),
    quantity: fc.bigInt({ min: 0n, max: 3_600_000n }),
  }),
  { maxLength: 12 },
);
/** The moments up to which sums are made, in several steps, and the periods that are asked for then. */
const goes = fc.array(fc.integer({ min: 0, max: (SPAN_DAYS + 1) * DAY }), { maxLength: 4 });
const moments = fc.oneof(
  fc.integer({ min: -DAY, max: (SPAN_DAYS + 1) * DAY }),
  fc.constantFrom(0, DAY, 2 * DAY, 3 * DAY),
);

const at = (ms: number) => new Date(START + ms);
const sumBy = (lines: readonly ChargeLine[], keyOf: (line: ChargeLine) => string) => {
  const sums = new Map<string, [bigint, bigint, bigint]>();
  for (const line of lines) {
    const [amount, unpaid, quantity] = sums.get(keyOf(line)) ?? [0n, 0n, 0n];
    sums.set(keyOf(line), [
      amount + line.amount,
      unpaid + line.unpaid,
      quantity + line.quantity * (line.sizeBytes ?? 1n),
    ]);
  }
  return Object.fromEntries(sums);
};

test("a report of any period equals its charge lines, however many of them are added up already", async () => {
  const { database, pool } = await testDatabase();
  const property = fc.asyncProperty(charges, goes, moments, moments, async (made, untils, one, other) => {
    const [payer, host] = await makeUsers(pool, 2);
    assert.ok(payer !== undefined && host !== undefined);
    await inTransaction(database, (tx) => postTransfers(tx, [grantOf(payer, 10n ** 15n)]));
    for (const charge of made.toSorted((a, b) => a.atMs - b.atMs)) {
      const isVolume = "volume" in charge.contract;
      const { component, amount, unpaid, quantity } = charge;
      const what = {
        amount,
        unpaid,
        quantity,
        component: isVolume ? "disk" : component,
        ...charge.contract,
      } as TestCharge;
      await postCharges(database, at(charge.atMs), { payer, host }, [what]);
    }
    await pool.query("truncate charge_days");
    await pool.query("update charge_days_clock set counted_until_at = null");
    for (const until of untils.toSorted((a, b) => a - b)) await addUpAll(at(until));
    const span = { payerId: payer as UserId, from: at(Math.min(one, other)), until: at(Math.max(one, other)) };
    const page = { after: undefined, isNewestFirst: false, limit: 100 };
    const lines = await listLines(database.kysely, span, page);
    const contractOf = (row: Pick<ChargeLine, "instanceId" | "volumeId" | "component">) =>
      `${row.instanceId} ${row.volumeId} ${row.component}`;
    const dayOf = (moment: Date) => Math.floor(moment.getTime() / DAY);
    const contracts = await listContractSums(database.kysely, span);
    assert.deepEqual(
      Object.fromEntries(contracts.map((sum) => [contractOf(sum), [sum.amount, sum.unpaid, sum.quantity]])),
      sumBy(lines, contractOf),
    );
    const days = await listDaySums(database.kysely, span, { limit: 1000 });
    assert.deepEqual(
      Object.fromEntries(days.map((sum) => [`${sum.day} ${contractOf(sum)}`, [sum.amount, sum.unpaid, sum.quantity]])),
      sumBy(lines, (line) => `${dayOf(line.chargedAt)} ${contractOf(line)}`),
    );
    const total = await totalCharged(database.kysely, span);
    assert.deepEqual(total, { amount: lines.reduce((sum, line) => sum + line.amount, 0n), lineCount: lines.length });
  });
  const addUpAll = async (now: Date) => {
    const clock = { ...systemClock, now: () => now };
    while ((await withTransaction(database, clock, addUpCharges)) !== undefined);
  };
  await fc.assert(property, { numRuns: 40 });
});

test("adding up twice or concurrently counts each charge line once", async () => {
  const { database, pool } = await testDatabase();
  const [payer, host] = await makeUsers(pool, 2);
  assert.ok(payer !== undefined && host !== undefined);
  await inTransaction(database, (tx) => postTransfers(tx, [grantOf(payer, 10n ** 12n)]));
  await postCharges(database, at(0), { payer, host }, [{ amount: 5n }, { amount: 6n }]);
  await postCharges(database, at(30 * DAY), { payer, host }, [{ amount: 7n }]);
  const clock = { ...systemClock, now: () => at(40 * DAY) };
  const run = async () => {
    while ((await withTransaction(database, clock, addUpCharges)) !== undefined);
  };
  await Promise.all([run(), run(), run()]);
  await run();
  const { rows } = await pool.query("select day, amount_nanos, line_count from charge_days order by day");
  assert.deepEqual(
    rows.map((row) => [row.amount_nanos, row.line_count]),
    [
      [11n, 2],
      [7n, 1],
    ],
  );
});
