import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type InstanceId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import { periodsOf, segmentsOf, type PastTerms, type Terms, type TermsHistory } from "./rules/terms-history.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const at = (ms: number) => new Date(START_MS + ms);
const RUNNING = { generation: 1, counter: "runningMs" } as const;

const priced = (price: number, discountPpm = 0): Terms => ({
  priceNanosPerHour: nanos(BigInt(price)),
  storageNanosPerGbMonth: nanos(BigInt(price * 2)),
  inetUpNanosPerGb: nanos(BigInt(price * 3)),
  inetDownNanosPerGb: nanos(BigInt(price * 4)),
  discountPpm,
});

const past = (price: number, generation: number, untilMs: number): PastTerms => ({
  ...priced(price),
  instanceId: asId<InstanceId>(1),
  generation,
  untilAt: at(untilMs),
  untilRunningMs: BigInt(untilMs),
  untilReceivedBytes: BigInt(untilMs * 5),
  untilSentBytes: BigInt(untilMs * 7),
});

const pricesOf = (history: TermsHistory, from: bigint, to: bigint) =>
  segmentsOf(history, RUNNING, { from, to }).map((part) => [part.from, part.to, part.terms.priceNanosPerHour]);

/** The time that each price held, one after the other, in one run that goes on. */
const bids = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 120_000 }), price: fc.nat(5) }), {
  minLength: 1,
  maxLength: 12,
});

function historyOf(held: readonly { ms: number; price: number }[]): TermsHistory {
  let untilMs = 0;
  const rows = held.map(({ ms, price }) => past(price, 1, (untilMs += ms)));
  return { past: rows.slice(0, -1), present: priced(held.at(-1)?.price ?? 0) };
}

test("each price costs exactly the time for which it held, for any times of reports and charges", () => {
  fc.assert(
    fc.property(bids, fc.array(fc.nat(1_440_000), { maxLength: 8 }), (held, cuts) => {
      const history = historyOf(held);
      const wholeMs = held.reduce((sum, { ms }) => sum + ms, 0);
      const edges = [0, ...cuts.filter((cut) => cut < wholeMs).toSorted((a, b) => a - b), wholeMs];
      const charged = new Map<bigint, bigint>();
      for (let index = 0; index + 1 < edges.length; index += 1) {
        const range = { from: BigInt(edges[index] ?? 0), to: BigInt(edges[index + 1] ?? 0) };
        let last = range.from;
        for (const { from, to, terms } of segmentsOf(history, RUNNING, range)) {
          assert.ok(from === last && from < to, "without a gap, in order");
          last = to;
          charged.set(terms.priceNanosPerHour, (charged.get(terms.priceNanosPerHour) ?? 0n) + to - from);
        }
        assert.equal(last, range.to, "no part is left out");
      }
      const wanted = new Map<bigint, bigint>();
      for (const { ms, price } of held) {
        if (ms > 0) wanted.set(BigInt(price), (wanted.get(BigInt(price)) ?? 0n) + BigInt(ms));
      }
      assert.deepEqual(charged, wanted);
    }),
  );
});

test("a bid that is lowered and raised again between two reports gains nothing", () => {
  const history = historyOf([
    { ms: 61_000, price: 5 },
    { ms: 1_000, price: 1 },
    { ms: 58_000, price: 5 },
  ]);
  assert.deepEqual(pricesOf(history, 60_000n, 120_000n), [
    [60_000n, 61_000n, 5n],
    [61_000n, 62_000n, 1n],
    [62_000n, 120_000n, 5n],
  ]);
});

test("use after the last change of terms is charged at the terms at the end of the run", () => {
  const history = { past: [past(1, 1, 100), past(2, 3, 50), past(3, 3, 80)], present: priced(4) };
  assert.deepEqual(pricesOf(history, 0n, 200n), [
    [0n, 100n, 1n],
    [100n, 200n, 2n],
  ]);
  const later = (generation: number) =>
    segmentsOf(history, { generation, counter: "runningMs" }, { from: 0n, to: 100n }).map(({ to, terms }) => [
      to,
      terms.priceNanosPerHour,
    ]);
  assert.deepEqual(later(2), [[100n, 2n]], "a run without a change of terms");
  assert.deepEqual(later(3), [
    [50n, 2n],
    [80n, 3n],
    [100n, 4n],
  ]);
  assert.deepEqual(later(4), [[100n, 4n]]);
});

test("bytes are divided by their own marks and prices, and adjacent parts of equal cost are joined", () => {
  const history = { past: [past(1, 1, 100), { ...past(1, 1, 150), discountPpm: 1 }], present: priced(2) };
  const parts = (counter: "runningMs" | "receivedBytes" | "sentBytes") =>
    segmentsOf(history, { generation: 1, counter }, { from: 0n, to: 2000n }).map(({ from, to }) => [from, to]);
  assert.deepEqual(parts("runningMs"), [
    [0n, 100n],
    [100n, 150n],
    [150n, 2000n],
  ]);
  assert.deepEqual(parts("receivedBytes"), [
    [0n, 750n],
    [750n, 2000n],
  ]);
  assert.deepEqual(parts("sentBytes"), [
    [0n, 1050n],
    [1050n, 2000n],
  ]);
});

test("storage is divided by the times at which its price changed", () => {
  fc.assert(
    fc.property(bids, fc.nat(1_440_000), fc.nat(1_440_000), (held, one, other) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      let last = from;
      for (const period of periodsOf(historyOf(held), { from: at(from), to: at(to) })) {
        assert.equal(period.from.getTime() - START_MS, last);
        last = period.to.getTime() - START_MS;
        let endMs = 0;
        const holds = held.findIndex(({ ms }) => (endMs += ms) > period.from.getTime() - START_MS);
        const price = held[holds === -1 ? held.length - 1 : holds]?.price ?? 0;
        assert.equal(period.terms.storageNanosPerGbMonth, BigInt(price * 2));
      }
      assert.equal(last, to);
    }),
  );
});
