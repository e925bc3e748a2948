import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { bigints, integers, jsons, texts, timestamps } from "./arrays.ts";

const MAX_BIGINT = 2n ** 63n - 1n;
const RUNS = { numRuns: 50 };

/** Any text without the one character that PostgreSQL cannot store. */
const storable = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\0", ""));
const maybe = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values), { maxLength: 40 });

test("PostgreSQL reads every array as it was written, nulls and empty arrays included", async (t) => {
  const { database } = await testDatabase(t);
  const all = fc.record({
    integers: maybe(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
    bigints: maybe(fc.bigInt({ min: -MAX_BIGINT - 1n, max: MAX_BIGINT })),
    texts: maybe(storable),
    jsons: maybe(fc.dictionary(storable, fc.oneof(storable, fc.integer(), fc.boolean()))),
    times: maybe(fc.date({ min: new Date("1900-01-01"), max: new Date("2200-01-01"), noInvalidDate: true })),
  });
  await fc.assert(
    fc.asyncProperty(all, async (values) => {
      const { rows } = await sql`
        select ${integers(values.integers)}::integer[] as integers, ${bigints(values.bigints)}::bigint[]::text[] as bigints,
          ${texts(values.texts)}::text[] as texts,
          to_jsonb(${jsons(values.jsons.map((one) => one && JSON.stringify(one)))}::jsonb[]) as jsons,
          ${timestamps(values.times.map((at) => at && at.getTime()))}::timestamptz[] as times
      `.execute(database.kysely);
      assert.deepEqual(rows, [
        {
          ...values,
          bigints: values.bigints.map((value) => (value === null ? null : String(value))),
          // Values without the prototypes that are chosen at random.
          jsons: JSON.parse(JSON.stringify(values.jsons)),
        },
      ]);
    }),
    RUNS,
  );
});

test("an array under another type than its own is refused", async (t) => {
  const { database } = await testDatabase(t);
  await assert.rejects(sql`select ${integers([1])}::bigint[]`.execute(database.kysely), { code: "42804" });
  await assert.rejects(sql`select ${bigints([1n])}::timestamptz[]`.execute(database.kysely), { code: "42804" });
});

test("a number that does not fit is refused, never cut to size", () => {
  for (const value of [0.5, Number.NaN, 2 ** 31, -(2 ** 31) - 1]) assert.throws(() => integers([value]));
  for (const value of [MAX_BIGINT + 1n, -MAX_BIGINT - 2n]) assert.throws(() => bigints([value]));
  for (const value of [0.0001, Number.NaN, Number.POSITIVE_INFINITY]) assert.throws(() => timestamps([value]));
});
