import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import { coveredParts, type Span } from "../../../supply/hosts/index.ts";
import type { PastTerms } from "../../../rental/instances/index.ts";
import { lineAmount, type DueLine } from "./lines.ts";
import { storageLines, type StateChange, type Stored } from "./storage-lines.ts";

const DAY_MS = 86_400_000;
/** The period of these tests: half a minute around midnight. */
const START_MS = DAY_MS * 20_000 - 15_000;
const LENGTH_MS = 30_000;
const at = (ms: number) => new Date(START_MS + ms);
const moment = fc.integer({ min: 0, max: LENGTH_MS });
const price = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 10n ** 12n })).map(nanos);

const spans = fc.array(moment, { maxLength: 8 }).map((moments): readonly Span[] => {
  const sorted = [...new Set(moments)].toSorted((a, b) => a - b);
  return sorted.flatMap((from, index) =>
    index % 2 === 0
      ? [{ fromAt: at(from), untilAt: sorted[index + 1] === undefined ? undefined : at(sorted[index + 1]!) }]
      : [],
  );
});

const stored = fc
  .record({
    sizeBytes: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    first: fc.constantFrom("running", "loading", "stopped" as const),
    changes: fc.array(fc.record({ ms: moment, state: fc.constantFrom("running", "loading", "stopped" as const) }), {
      maxLength: 5,
    }),
    overMs: fc.option(moment, { nil: undefined }),
    present: price,
    past: fc.array(fc.record({ ms: moment, price }), { maxLength: 4 }),
  })
  .map(({ sizeBytes, first, changes, overMs, present, past }): Stored => {
    const over: StateChange[] =
      overMs === undefined ? [] : [{ at: at(overMs), state: "over", cause: "destroy_requested" }];
    const terms = {
      priceNanosPerHour: nanos(0n),
      inetUpNanosPerGb: nanos(0n),
      inetDownNanosPerGb: nanos(0n),
      discountPpm: 0,
    };
    const marks = { generation: 1, untilRunningMs: 0n, untilReceivedBytes: 0n, untilSentBytes: 0n };
    return {
      name: "disk:71",
      sizeBytes,
      changes: [
        { at: at(-1000), state: first, cause: "before" },
        // In the order of writing, which may differ from the order of their times.
        ...changes.map(({ ms, state }, index): StateChange => ({ at: at(ms), state, cause: `cause ${index}` })),
        ...over,
      ],
      history: {
        present: { ...terms, storageNanosPerGbMonth: present },
        past: past
          .toSorted((a, b) => a.ms - b.ms)
          .map((one): PastTerms => ({
            ...terms,
            ...marks,
            instanceId: asId<InstanceId>(71),
            untilAt: at(one.ms),
            storageNanosPerGbMonth: one.price,
          })),
      },
    };
  });

/** The price of one millisecond by the stated rule: state and price at that time; undefined when it is free. */
function naive({ changes, history }: Stored, covering: readonly Span[], lastSeenMs: number, ms: number) {
  const isCovered = covering.some(
    ({ fromAt, untilAt }) => fromAt.getTime() <= ms && ms < (untilAt?.getTime() ?? lastSeenMs),
  );
  const { state, cause } = changes.findLast((change) => change.at.getTime() <= ms)!;
  const { storageNanosPerGbMonth } = history.past.find((past) => ms < past.untilAt.getTime()) ?? history.present;
  if (!isCovered || state === "over" || storageNanosPerGbMonth === 0n) return undefined;
  return `${state} ${cause} ${storageNanosPerGbMonth}`;
}

/** Settles at each of these moments, from the end of the settlement before. */
function settle(one: Stored, covering: readonly Span[], fromMs: number, cuts: readonly number[]): readonly DueLine[] {
  const lines: DueLine[] = [];
  let mark = at(fromMs);
  for (const cut of [...cuts.toSorted((a, b) => a - b), LENGTH_MS]) {
    const now = at(cut);
    // Only facts before this moment are known.
    const known = covering.filter(({ fromAt }) => fromAt <= now);
    const parts = coveredParts(known, now, { from: mark, to: now });
    const made = storageLines(one, mark, parts);
    assert.ok(made.untilAt >= mark);
    mark = made.untilAt;
    lines.push(...made.lines);
  }
  return lines;
}

test("storage is charged for exactly the time in which it existed and its machine was in touch, at the price of that time, in any cuts", () => {
  fc.assert(
    fc.property(stored, spans, moment, fc.array(moment, { maxLength: 5 }), (one, covering, fromMs, cuts) => {
      const lines = settle(one, covering, fromMs, cuts);
      let next = 0;
      for (let ms = START_MS; ms < START_MS + LENGTH_MS; ms += 1) {
        while (next < lines.length && lines[next]!.toMs <= ms) next += 1;
        const line = lines[next];
        const charged =
          line !== undefined && line.fromMs <= ms ? `${line.state} ${line.cause} ${line.unitPriceNanos}` : undefined;
        const expected = ms < START_MS + fromMs ? undefined : naive(one, covering, START_MS + LENGTH_MS, ms);
        if (charged !== expected) assert.fail(`${ms - START_MS}: ${charged} instead of ${expected}`);
      }
      let end = START_MS;
      for (const line of lines) {
        assert.ok(line.fromMs >= end && line.fromMs < line.toMs, "lines never overlap");
        assert.equal(Number(line.quantity), line.toMs - line.fromMs);
        assert.equal(
          Math.floor(line.fromMs / DAY_MS),
          Math.floor((line.toMs - 1) / DAY_MS),
          "no line crosses midnight",
        );
        end = line.toMs;
      }
    }),
    { numRuns: 60 },
  );
});

test("cuts change the price of storage by at most one nano-dollar for each charge line", () => {
  fc.assert(
    fc.property(stored, spans, fc.array(moment, { maxLength: 8 }), (one, covering, cuts) => {
      const [whole, parts] = [settle(one, covering, 0, []), settle(one, covering, 0, cuts)];
      const sum = (lines: readonly DueLine[]) => lines.reduce((total, line) => total + lineAmount(line), 0n);
      const difference = sum(whole) - sum(parts);
      assert.ok(difference >= 0n && difference <= BigInt(parts.length), `${difference} of ${parts.length} lines`);
    }),
  );
});
