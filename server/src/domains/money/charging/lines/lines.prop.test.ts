import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { PastTerms } from "../../../rental/instances/index.ts";
import type { TermsHistory } from "../../../rental/instances/for-charging.ts";
import { gpuLines, lineAmount, trafficLines, type CountedRun, type DueLine } from "./lines.ts";

const DAY_MS = 86_400_000;
const GENERATION = 3;
/** Starts close to midnight, so that most runs cross one. */
const begin = fc.integer({ min: -20_000, max: 20_000 }).map((ms) => new Date(DAY_MS * 20_000 + ms));
const price = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 40_000_000_000n }));
const count = fc.bigInt({ min: 0n, max: 30_000n });

const terms = fc.record({
  priceNanosPerHour: price.map(nanos),
  storageNanosPerGbMonth: price.map(nanos),
  inetUpNanosPerGb: price.map(nanos),
  inetDownNanosPerGb: price.map(nanos),
  discountPpm: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 500_000 })),
});

const history: fc.Arbitrary<TermsHistory> = fc
  .record({
    present: terms,
    past: fc.array(
      fc.record({ terms, generation: fc.integer({ min: 2, max: 4 }), ms: count, received: count, sent: count }),
      {
        maxLength: 5,
      },
    ),
  })
  .map(({ present, past }) => {
    const marks = past.toSorted((a, b) => a.generation - b.generation);
    const highest = { generation: 0, ms: 0n, received: 0n, sent: 0n };
    const rising = marks.map(({ terms: old, ...mark }): PastTerms => {
      const isSame = highest.generation === mark.generation;
      for (const name of ["ms", "received", "sent"] as const) {
        highest[name] = isSame && highest[name] > mark[name] ? highest[name] : mark[name];
      }
      highest.generation = mark.generation;
      return {
        ...old,
        instanceId: asId<InstanceId>(71),
        untilAt: new Date(0),
        generation: mark.generation,
        untilRunningMs: highest.ms,
        untilReceivedBytes: highest.received,
        untilSentBytes: highest.sent,
      };
    });
    return { present, past: rising };
  });

const total = fc.record({ runningMs: count, receivedBytes: count, sentBytes: count });

function aRun(
  meteredFromAt: Date | undefined,
  counted: { runningMs: bigint; receivedBytes: bigint; sentBytes: bigint },
): CountedRun {
  const charged = { chargedMs: 0n, chargedReceivedBytes: 0n, chargedSentBytes: 0n };
  return { instanceId: 71, generation: GENERATION, meteredFromAt, ...counted, ...charged };
}

/** The terms of one unit of a counter, by the stated rule alone. */
function naiveTerms({ past, present }: TermsHistory, mark: (past: PastTerms) => bigint, position: bigint) {
  return (
    past.find((one) => one.generation === GENERATION && position < mark(one)) ??
    past.find((one) => one.generation > GENERATION) ??
    present
  );
}

/** Cuts a run into as many settlements as there are cuts, each from the end of the one before. */
function inCuts(run: CountedRun, cuts: readonly number[]): readonly CountedRun[] {
  const at = (whole: bigint, cut: number) => (whole * BigInt(cut)) / 100n;
  const ends = [...cuts.toSorted((a, b) => a - b), 100];
  return ends.map((end, index) => {
    const start = ends[index - 1] ?? 0;
    return {
      ...run,
      chargedMs: at(run.runningMs, start),
      chargedReceivedBytes: at(run.receivedBytes, start),
      chargedSentBytes: at(run.sentBytes, start),
      runningMs: at(run.runningMs, end),
      receivedBytes: at(run.receivedBytes, end),
      sentBytes: at(run.sentBytes, end),
    };
  });
}

const sumOf = (lines: readonly DueLine[], pick: (line: DueLine) => bigint) =>
  lines.reduce((sum, line) => sum + pick(line), 0n);
const cutsOf = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 6 });

test("each millisecond of running time is charged at the terms that held in it, however settlements cut it", () => {
  fc.assert(
    fc.property(begin, history, total, cutsOf, (meteredFromAt, terms, counted, cuts) => {
      const run = aRun(meteredFromAt, counted);
      const lines = inCuts(run, cuts).flatMap((part) => gpuLines(part, terms, undefined).lines);
      let end = meteredFromAt.getTime();
      for (const line of lines) {
        assert.ok(line.fromMs >= end, "lines never overlap, and nothing is before the first proven running");
        assert.equal(line.toMs - line.fromMs, Number(line.quantity));
        assert.equal(
          Math.floor(line.fromMs / DAY_MS),
          Math.floor((line.toMs - 1) / DAY_MS),
          "no line crosses midnight",
        );
        assert.deepEqual([line.discountPpm, line.paidFrom], [0, "credit"], "there is no deposit");
        end = line.toMs;
      }
      assert.ok(end <= meteredFromAt.getTime() + Number(run.runningMs));
      // The reference: each millisecond alone.
      let next = 0;
      for (let ms = 0n; ms < run.runningMs; ms += 1n) {
        const { priceNanosPerHour } = naiveTerms(terms, (past) => past.untilRunningMs, ms);
        if (priceNanosPerHour === 0n) continue;
        const at = meteredFromAt.getTime() + Number(ms);
        while (next < lines.length && lines[next]!.toMs <= at) next += 1;
        const line = lines[next];
        assert.ok(line !== undefined && line.fromMs <= at, `millisecond ${ms} is charged`);
        assert.equal(line.unitPriceNanos, priceNanosPerHour);
      }
    }),
    { numRuns: 40 },
  );
});

test("cuts change no total by more than one nano-dollar for each line", () => {
  fc.assert(
    fc.property(begin, history, total, cutsOf, (meteredFromAt, terms, counted, cuts) => {
      const run = aRun(meteredFromAt, counted);
      for (const linesOf of [
        (part: CountedRun) => gpuLines(part, terms, undefined).lines,
        (part: CountedRun) => trafficLines(part, terms),
      ]) {
        const whole = linesOf(run);
        const parts = inCuts(run, cuts).flatMap(linesOf);
        assert.equal(
          sumOf(parts, (line) => line.quantity),
          sumOf(whole, (line) => line.quantity),
        );
        const difference = sumOf(whole, lineAmount) - sumOf(parts, lineAmount);
        assert.ok(difference >= 0n && difference <= BigInt(parts.length), `${difference}`);
        assert.equal(new Set(parts.map(({ key }) => key)).size, parts.length, "each stretch has its own key");
      }
    }),
  );
});

test("each byte is charged once at its price, within the time in which it was counted", () => {
  fc.assert(
    fc.property(begin, history, total, (meteredFromAt, terms, counted) => {
      const run = aRun(meteredFromAt, counted);
      const lines = trafficLines(run, terms);
      const [received, sent] = [new Map<bigint, bigint>(), new Map<bigint, bigint>()];
      const add = (sums: Map<bigint, bigint>, unit: bigint) => sums.set(unit, (sums.get(unit) ?? 0n) + 1n);
      for (let byte = 0n; byte < run.receivedBytes; byte += 1n) {
        add(received, naiveTerms(terms, (past) => past.untilReceivedBytes, byte).inetDownNanosPerGb);
      }
      for (let byte = 0n; byte < run.sentBytes; byte += 1n) {
        add(sent, naiveTerms(terms, (past) => past.untilSentBytes, byte).inetUpNanosPerGb);
      }
      for (const [component, expected] of [
        ["bwd", received],
        ["bwu", sent],
      ] as const) {
        const own = lines.filter((line) => line.component === component);
        let end = meteredFromAt.getTime();
        for (const line of own) {
          assert.ok(line.fromMs >= end && line.toMs >= line.fromMs);
          end = line.toMs;
        }
        assert.ok(end <= meteredFromAt.getTime() + Number(run.runningMs));
        for (const [unit, bytes] of expected) {
          const charged = sumOf(
            own.filter((line) => line.unitPriceNanos === unit),
            (line) => line.quantity,
          );
          assert.equal(charged, unit === 0n ? 0n : bytes);
        }
      }
    }),
    { numRuns: 30 },
  );
});

test("a run that is not proven to run is not charged", () => {
  fc.assert(
    fc.property(history, total, (terms, counted) => {
      const run = aRun(undefined, counted);
      assert.deepEqual([gpuLines(run, terms, undefined).lines, trafficLines(run, terms)], [[], []]);
    }),
  );
});

test("a deposit pays as much as it covers at its discount, is never overdrawn, and credit pays the rest at the full price", () => {
  const left = fc.bigInt({ min: 0n, max: 400_000_000n });
  fc.assert(
    fc.property(begin, history, total, left, cutsOf, (meteredFromAt, terms, counted, leftNanos, cuts) => {
      const run = aRun(meteredFromAt, counted);
      let deposit = { leftNanos, isClosed: false };
      let isSpent = false;
      let saved = 0n;
      const lines: DueLine[] = [];
      for (const part of inCuts(run, cuts)) {
        const made = gpuLines(part, terms, isSpent ? undefined : deposit);
        lines.push(...made.lines);
        if (isSpent) continue;
        deposit = { ...deposit, leftNanos: made.leftNanos };
        isSpent = made.isSpent;
        saved += made.savedNanos;
      }
      const prepaid = lines.filter((line) => line.paidFrom === "deposit");
      assert.equal(sumOf(prepaid, lineAmount), leftNanos - deposit.leftNanos);
      assert.ok(deposit.leftNanos >= 0n);
      assert.equal(
        saved,
        sumOf(prepaid, (line) => lineAmount({ ...line, discountPpm: 0 })) - sumOf(prepaid, lineAmount),
      );
      for (const line of lines) assert.equal(line.paidFrom === "deposit", line.discountPpm > 0);
      const discountAt = (line: DueLine) =>
        naiveTerms(terms, (past) => past.untilRunningMs, BigInt(line.fromMs - meteredFromAt.getTime())).discountPpm;
      const full = lines.findIndex((line) => line.paidFrom === "credit" && discountAt(line) > 0);
      if (full >= 0) {
        assert.ok(
          lines.slice(full).every((line) => line.paidFrom === "credit"),
          "what is spent pays nothing more",
        );
      }
      const charged = sumOf(lines, (line) => line.quantity);
      assert.equal(
        charged,
        sumOf(gpuLines(run, terms, undefined).lines, (line) => line.quantity),
        "no time twice, none left out",
      );
    }),
  );
});

test("a deposit that is used up pays for no later day, although rounding left it the price of a millisecond", () => {
  const present = {
    priceNanosPerHour: nanos(10_000_017n),
    storageNanosPerGbMonth: nanos(0n),
    inetUpNanosPerGb: nanos(0n),
    inetDownNanosPerGb: nanos(0n),
    discountPpm: 2_506,
  };
  const run = aRun(new Date(DAY_MS * 20_000), {
    runningMs: 3n * BigInt(DAY_MS),
    receivedBytes: 0n,
    sentBytes: 0n,
  });
  const prepaid = { leftNanos: 47_821_359n, isClosed: false };
  const { lines, leftNanos, isSpent } = gpuLines(run, { past: [], present }, prepaid);
  assert.deepEqual([leftNanos, isSpent], [3n, true]);
  assert.deepEqual(
    lines.map((line) => [line.paidFrom, line.quantity]),
    [
      ["deposit", 17_258_910n],
      ["credit", 69_141_090n],
      ["credit", 86_400_000n],
      ["credit", 86_400_000n],
    ],
  );
});

test("after a deposit is closed, credit pays late counts at the agreed price", () => {
  fc.assert(
    fc.property(begin, history, total, (meteredFromAt, terms, counted) => {
      const run = aRun(meteredFromAt, counted);
      const { lines, leftNanos } = gpuLines(run, terms, { leftNanos: 0n, isClosed: true });
      assert.equal(leftNanos, 0n);
      for (const line of lines) {
        assert.equal(line.paidFrom, "credit");
        const at = BigInt(line.fromMs - meteredFromAt.getTime());
        assert.equal(line.discountPpm, naiveTerms(terms, (past) => past.untilRunningMs, at).discountPpm);
      }
    }),
  );
});

test("an amount is price × quantity, rounded down once", () => {
  const line = { sizeBytes: undefined, discountPpm: 0 };
  assert.equal(lineAmount({ ...line, component: "gpu", quantity: 3_599_999n, unitPriceNanos: 3_600_000n }), 3_599_999n);
  assert.equal(lineAmount({ ...line, component: "gpu", quantity: 1n, unitPriceNanos: 3_599_999n }), 0n);
  assert.equal(
    lineAmount({ ...line, component: "gpu", quantity: 3_600_000n, unitPriceNanos: 10n, discountPpm: 250_000 }),
    7n,
  );
  assert.equal(lineAmount({ ...line, component: "bwu", quantity: 1_500_000_000n, unitPriceNanos: 3n }), 4n);
  const month = { ...line, component: "disk", quantity: 2_592_000_000n, unitPriceNanos: 150_000_000n } as const;
  assert.equal(lineAmount({ ...month, sizeBytes: 10_000_000_000n }), 1_500_000_000n);
});
