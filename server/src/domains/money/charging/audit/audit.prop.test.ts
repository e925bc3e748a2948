import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { listMispricedLines } from "./audit-store.ts";
import { lineAmount, type PricedQuantity } from "../lines/lines.ts";

const big = (max: bigint) => fc.bigInt({ min: 0n, max });

/** The largest quantities whose amounts the database can hold. */
const aQuantity: fc.Arbitrary<PricedQuantity> = fc.oneof(
  fc.record({
    component: fc.constant("gpu" as const),
    quantity: big(86_400_000n),
    sizeBytes: fc.constant(undefined),
    unitPriceNanos: big(10_000_000_000_000n),
    discountPpm: fc.integer({ min: 0, max: 999_999 }),
  }),
  fc.record({
    component: fc.constant("disk" as const),
    quantity: big(86_400_000n),
    sizeBytes: fc.bigInt({ min: 1n, max: 100_000_000_000_000n }),
    unitPriceNanos: big(10_000_000_000n),
    discountPpm: fc.constant(0),
  }),
  fc.record({
    component: fc.constantFrom("bwu" as const, "bwd" as const),
    quantity: big(1_000_000_000_000_000n),
    sizeBytes: fc.constant(undefined),
    unitPriceNanos: big(1_000_000_000_000n),
    discountPpm: fc.constant(0),
  }),
);

const EVERYTHING = { nextId: 0n, from: undefined, to: undefined };

test("database and code compute the same amount for any charge line, to the nano-dollar", async () => {
  const { database, pool } = await testDatabase();
  const insert = (line: PricedQuantity, extra: bigint) =>
    pool.query(
      `insert into charge_lines (payer_id, host_id, instance_id, generation, component, state, cause, from_at, to_at,
         quantity, size_bytes, unit_price_nanos, discount_ppm, amount_nanos, unpaid_nanos, paid_from, charged_at)
       values (1, 2, 3, $1, $2, 'running', 'test', '2026-01-01', '2026-01-02', $3, $4, $5, $6, 0, $7, 'credit', '2026-01-02')`,
      [
        line.component === "disk" ? null : 1,
        line.component,
        line.quantity,
        line.sizeBytes ?? null,
        line.unitPriceNanos,
        line.discountPpm,
        lineAmount(line) + extra,
      ],
    );
  await fc.assert(
    fc.asyncProperty(aQuantity, async (line) => {
      await insert(line, 0n);
      assert.deepEqual((await listMispricedLines(database.kysely, EVERYTHING)).mispriced, []);
    }),
    { numRuns: 300 },
  );
  const { examined } = await listMispricedLines(database.kysely, EVERYTHING);
  await fc.assert(
    fc.asyncProperty(aQuantity, async (line) => {
      await insert(line, 1n);
      const { mispriced } = await listMispricedLines(database.kysely, EVERYTHING);
      assert.equal(mispriced.at(-1)?.costNanos, lineAmount(line));
    }),
    { numRuns: 30 },
  );
  assert.ok(examined >= 300);
});
