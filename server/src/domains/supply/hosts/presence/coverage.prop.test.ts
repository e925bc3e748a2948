import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { certainUntil, coveredParts, joinIntervals, lengthMs, type Span } from "./rules/coverage.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const HOUR_MS = 3_600_000;
const LENGTH = 60;
const at = (minute: number) => new Date(START_MS + minute * 60_000);

/** Spans within an hour that do not overlap, the last one perhaps open. */
const history = fc
  .tuple(fc.uniqueArray(fc.nat(LENGTH), { maxLength: 12 }), fc.boolean(), fc.nat(LENGTH))
  .map(([marks, isOpen, seen]) => {
    const edges = marks.toSorted((a, b) => a - b);
    const spans: Span[] = [];
    for (let index = 0; index + 1 < edges.length; index += 2) {
      const isLast = index + 3 >= edges.length;
      const untilAt = isLast && isOpen ? undefined : at(edges[index + 1] ?? 0);
      spans.push({ fromAt: at(edges[index] ?? 0), untilAt });
    }
    return { spans, lastSeenAt: at(seen) };
  });

test("a minute is covered if and only if one of the spans has it, and no part is returned twice", () => {
  fc.assert(
    fc.property(history, fc.nat(LENGTH), fc.nat(LENGTH), ({ spans, lastSeenAt }, one, other) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      const parts = coveredParts(spans, lastSeenAt, { from: at(from), to: at(to) });
      for (let minute = 0; minute < LENGTH; minute += 1) {
        const isInside = minute >= from && minute < to;
        const isSeen = spans.some(
          ({ fromAt, untilAt = lastSeenAt }) => fromAt <= at(minute) && at(minute + 1) <= untilAt,
        );
        const found = parts.filter((part) => part.from <= at(minute) && at(minute + 1) <= part.to);
        assert.equal(found.length, isInside && isSeen ? 1 : 0, `minute ${minute}`);
      }
      for (const [index, part] of parts.entries()) {
        assert.ok(part.from < part.to);
        const next = parts[index + 1];
        assert.ok(next === undefined || part.to < next.from, "in order, and parts that meet are one");
      }
    }),
  );
});

test("the covered parts of two neighbouring intervals are those of both together", () => {
  fc.assert(
    fc.property(history, fc.nat(LENGTH), ({ spans, lastSeenAt }, middle) => {
      const covered = (from: number, to: number) =>
        lengthMs(coveredParts(spans, lastSeenAt, { from: at(from), to: at(to) }));
      assert.equal(covered(0, middle) + covered(middle, LENGTH), covered(0, LENGTH));
    }),
  );
});

test("several machines together cover no less than each of them, and no more than all", () => {
  fc.assert(
    fc.property(fc.array(history, { minLength: 1, maxLength: 4 }), (machines) => {
      const whole = { from: at(0), to: at(LENGTH) };
      const parts = machines.map(({ spans, lastSeenAt }) => coveredParts(spans, lastSeenAt, whole));
      const joined = lengthMs(joinIntervals(parts.flat()));
      assert.ok(parts.every((own) => lengthMs(own) <= joined));
      assert.ok(joined <= parts.reduce((sum, own) => sum + lengthMs(own), 0));
    }),
  );
});

test("time before a machine's last message is certain, until it is gone for longer than any heartbeat lease", () => {
  const left = [{ fromAt: at(0), untilAt: at(10) }];
  assert.deepEqual(certainUntil(left, at(10), at(59)), at(10), "it may turn out to have been there");
  const tomorrow = new Date(at(10).getTime() + 24 * HOUR_MS + 1);
  const justNow = new Date(tomorrow.getTime() - 60_000);
  assert.deepEqual(certainUntil(left, at(10), tomorrow), justNow, "it may come back to a server whose clock is behind");
  assert.deepEqual(certainUntil([{ fromAt: at(0), untilAt: undefined }], at(12), tomorrow), at(12), "it is in touch");
});
