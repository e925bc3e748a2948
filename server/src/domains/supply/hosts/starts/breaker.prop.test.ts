import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type UserId } from "../../../../base/ids.ts";
import { noteFailure, restMs, type Breaker, type Failure } from "./rules/breaker.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START_MS = Date.parse("2026-01-01T00:00:00Z");
const FRESH: Breaker = { failingSince: undefined, restsUntil: undefined, restCount: 0 };
const renter = (id: number) => asId<UserId>(id);

/** A machine with a history of failures and successes. */
class Life {
  breaker: Breaker = FRESH;
  readonly failures: Failure[] = [];

  fail(renterId: UserId, atMs: number): boolean {
    const before = this.breaker.restCount;
    const judged = noteFailure(this.breaker, this.failures, { renterId, at: new Date(START_MS + atMs) });
    this.breaker = judged.breaker;
    this.failures.push(judged.failure);
    return judged.breaker.restCount > before;
  }

  succeed(): void {
    this.breaker = { ...this.breaker, failingSince: undefined, restCount: 0 };
  }
}

test("three failures in a row of two renters bring a rest of ten minutes, two do not", () => {
  const life = new Life();
  assert.equal(life.fail(renter(1), 0), false);
  assert.equal(life.fail(renter(1), MINUTE_MS), false);
  assert.equal(life.fail(renter(2), 2 * MINUTE_MS), true);
  assert.equal(life.breaker.restsUntil?.getTime(), START_MS + 12 * MINUTE_MS);
});

test("a successful start in between breaks the row", () => {
  const life = new Life();
  life.fail(renter(1), 0);
  life.fail(renter(2), 1);
  life.succeed();
  assert.equal(life.fail(renter(3), 2), false);
  assert.equal(life.fail(renter(4), 3), false);
});

test("failures of one renter alone need hours, even if every start fails", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 * HOUR_MS - 1 }), { maxLength: 60 }), (times) => {
      const life = new Life();
      for (const atMs of times.toSorted((a, b) => a - b)) assert.equal(life.fail(renter(1), atMs), false);
    }),
  );
  const patient = new Life();
  assert.deepEqual(
    [0, 1, 2].map((hour) => patient.fail(renter(1), hour * HOUR_MS)),
    [false, false, true],
  );
});

test("after a rest one failure is enough for a longer one, up to a day; a success forgets it all", () => {
  const life = new Life();
  for (const id of [1, 2, 3]) life.fail(renter(id), 0);
  let atMs = 0;
  for (let rests = 1; rests < 12; rests += 1) {
    atMs += restMs(rests - 1);
    assert.equal(life.fail(renter(100 + rests), atMs), true);
    const lastedMs = (life.breaker.restsUntil?.getTime() ?? 0) - START_MS - atMs;
    assert.equal(lastedMs, Math.min(24 * HOUR_MS, 10 * MINUTE_MS * 2 ** rests));
  }
  life.succeed();
  atMs += 24 * HOUR_MS;
  assert.equal(life.fail(renter(1000), atMs), false);
  assert.equal(life.breaker.restCount, 0);
});

test("while it rests, nothing makes the rest longer", () => {
  const life = new Life();
  for (const id of [1, 2, 3]) life.fail(renter(id), 0);
  const until = life.breaker.restsUntil;
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.integer({ min: 0, max: 10 * MINUTE_MS - 1 }), (id, atMs) => {
      const at = new Date(START_MS + atMs);
      assert.deepEqual(
        noteFailure(life.breaker, life.failures, { renterId: renter(id), at }).breaker.restsUntil,
        until,
      );
    }),
  );
});

test("at most one failure an hour counts for each renter", () => {
  const failures = fc.array(fc.record({ id: fc.integer({ min: 1, max: 3 }), afterMs: fc.nat(HOUR_MS) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(failures, (steps) => {
      const life = new Life();
      let atMs = 0;
      for (const { id, afterMs } of steps) life.fail(renter(id), (atMs += afterMs));
      const counted = Map.groupBy(
        life.failures.filter((failure) => failure.isCounted),
        (failure) => failure.renterId,
      );
      for (const own of counted.values()) {
        for (const [index, failure] of own.entries()) {
          const next = own[index + 1];
          assert.ok(next === undefined || next.at.getTime() - failure.at.getTime() >= HOUR_MS);
        }
      }
    }),
  );
});
