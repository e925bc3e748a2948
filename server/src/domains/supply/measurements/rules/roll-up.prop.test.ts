import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { joinBlocks, readBlock, type Block } from "./block.ts";
import { decodeValue, encodeValue, NO_CODE } from "./code.ts";
import { rollUp } from "./roll-up.ts";
import { encodeSample, readSubject } from "./sample.ts";
import { seriesKey, type Subject } from "./series.ts";
import { QUARTER_S, SAMPLE_S, TIERS } from "./tiers.ts";

const BEGINS_S = 1_800_000_000;
/** Codes keep 11 binary digits, and stored values are whole. */
const near = (a: number, b: number) => Math.abs(a - b) <= 1 + Math.abs(b) * 2 ** -10;

const keys = [seriesKey("gpu_util"), seriesKey("memory_bytes"), seriesKey("gpu_power_watts", 3)] as const;
const value = fc.oneof(fc.integer({ min: 0, max: 2_047 }), fc.maxSafeNat());
const subject: fc.Arbitrary<Subject> = fc.record({
  kind: fc.constantFrom("machine" as const, "instance" as const),
  id: fc.integer({ min: 1, max: 3 }),
});
const said = fc.record({ subject, key: fc.constantFrom(...keys), value });
/** Samples of one machine at some of the moments of a quarter of an hour, each with some values. */
const samples = fc
  .uniqueArray(
    fc.record({
      slot: fc.integer({ min: 0, max: QUARTER_S / SAMPLE_S - 1 }),
      said: fc.uniqueArray(said, {
        maxLength: 6,
        selector: ({ subject: { kind, id }, key }) => `${kind} ${id} ${key}`,
      }),
    }),
    { selector: ({ slot }) => slot, maxLength: 60 },
  )
  .map((all) =>
    all.map((one) => ({
      ...one,
      takenAtMs: (BEGINS_S + one.slot * SAMPLE_S) * 1000,
      content: encodeSample(
        [...Map.groupBy(one.said, ({ subject: { kind, id } }) => `${kind} ${id}`).values()].map((own) => ({
          subject: own[0]!.subject,
          values: new Map(own.map((each) => [each.key, each.value])),
        })),
      ),
    })),
  );

const isOf = (wanted: Subject) => (one: { readonly subject: Subject }) =>
  one.subject.kind === wanted.kind && one.subject.id === wanted.id;

function pointsOf(block: Block | undefined) {
  const points: { key: number; atS: number; mean: number; maximum: number }[] = [];
  if (block) readBlock(block, (key, atS, mean, maximum) => points.push({ key, atS, mean, maximum }));
  return points;
}

test("a code holds whole numbers up to 2,047 exactly, larger ones to 0.05 %, and keeps their order", () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [codeA, codeB] = [encodeValue(a), encodeValue(b)];
      if (a < 2_048) assert.equal(decodeValue(codeA), a);
      assert.ok(Math.abs(decodeValue(codeA) - a) <= a * 2 ** -11, `${a} became ${decodeValue(codeA)}`);
      assert.ok(codeA < NO_CODE);
      if (a <= b) assert.ok(codeA <= codeB);
      assert.equal(encodeValue(decodeValue(codeA)), codeA);
    }),
  );
  for (const [given, kept] of [
    [Number.POSITIVE_INFINITY, 2 ** 53],
    [-5, 0],
    [0.4, 0],
  ] as const) {
    assert.equal(decodeValue(encodeValue(given)), kept);
  }
  assert.ok(Number.isNaN(decodeValue(encodeValue(Number.NaN))));
});

test("means and maxima of each resolution equal those of the readings, and every reading counts once", () => {
  fc.assert(
    fc.property(samples, (given) => {
      const blocks = rollUp(BEGINS_S, given);
      for (const kind of ["machine", "instance"] as const) {
        for (const id of [1, 2, 3]) {
          for (const { stepS } of TIERS) {
            const block = blocks.find((one) => isOf({ kind, id })(one) && one.stepS === stepS);
            const points = pointsOf(block);
            for (const key of keys) {
              for (let atS = BEGINS_S; atS < BEGINS_S + QUARTER_S; atS += stepS) {
                const readings = given.flatMap(({ takenAtMs, said: all }) =>
                  takenAtMs / 1000 >= atS && takenAtMs / 1000 < atS + stepS
                    ? all.filter((one) => one.key === key && isOf({ kind, id })(one)).map((one) => one.value)
                    : [],
                );
                const found = points.filter((point) => point.key === key && point.atS === atS);
                assert.equal(found.length, readings.length === 0 ? 0 : 1);
                if (readings.length === 0) continue;
                const mean = readings.reduce((sum, reading) => sum + reading, 0) / readings.length;
                assert.ok(near(found[0]!.mean, mean), `mean ${found[0]!.mean} for ${mean}`);
                assert.ok(near(found[0]!.maximum, Math.max(...readings)));
              }
            }
          }
        }
      }
    }),
  );
});

test("joined blocks have the points of their parts, and no other", () => {
  const part = (fromS: number) =>
    fc.integer({ min: 0, max: 2_047 }).map((level) => {
      const content = encodeSample([{ subject: { kind: "machine", id: 1 }, values: new Map([[keys[0], level]]) }]);
      const block = rollUp(fromS, [{ takenAtMs: fromS * 1000, content }]).find(({ stepS }) => stepS === QUARTER_S)!;
      return { block, level };
    });
  const day = { fromS: Math.floor(BEGINS_S / 86_400) * 86_400, stepS: QUARTER_S, count: 96 };
  const places = fc.uniqueArray(fc.integer({ min: 0, max: 95 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(
      places.chain((all) => fc.tuple(...all.map((place) => part(day.fromS + place * QUARTER_S)))),
      (parts) => {
        const content = joinBlocks(
          parts.map(({ block }) => block),
          day,
        );
        const points = pointsOf({ beginsS: day.fromS, stepS: QUARTER_S, content });
        assert.deepEqual(
          points.map(({ atS, mean, maximum }) => [atS, mean, maximum]),
          parts.map(({ block, level }) => [block.beginsS, level, level]).toSorted((a, b) => a[0]! - b[0]!),
        );
      },
    ),
  );
});

test("samples and blocks of an unknown format, and broken ones, have no values", () => {
  const content = encodeSample([{ subject: { kind: "machine", id: 1 }, values: new Map([[keys[0], 5]]) }]);
  content[0] = 9;
  assert.equal(readSubject(content, { kind: "machine", id: 1 }), undefined);
  assert.deepEqual(pointsOf({ beginsS: 0, stepS: 10, content: Buffer.alloc(0) }), []);
  assert.deepEqual(pointsOf({ beginsS: 0, stepS: 10, content: Buffer.from([9, 0, 1, 0, 1, 0]) }), []);
});
