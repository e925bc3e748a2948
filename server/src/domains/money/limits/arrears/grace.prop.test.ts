import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { followDrop, type Drop } from "./rules/drops.ts";
import { graceHours, keptUntil, remindersDue } from "./rules/grace.ts";

const HOUR_MS = 3_600_000;
const spends = fc.bigInt({ min: 0n, max: 10n ** 15n });
const rates = fc.bigInt({ min: 1n, max: 10n ** 13n });
const NOW = new Date("2026-01-01T00:00:00Z");

test("data is kept between two days and two weeks, longer after more spending and for cheaper storage", () => {
  fc.assert(
    fc.property(spends, spends, rates, rates, (spent, more, rate, higher) => {
      const hours = graceHours({ averageDailySpendNanos: spent, storageNanosPerHour: rate });
      assert.ok(Number.isInteger(hours) && hours >= 48 && hours <= 336);
      const richer = graceHours({ averageDailySpendNanos: spent + more, storageNanosPerHour: rate });
      const dearer = graceHours({ averageDailySpendNanos: spent, storageNanosPerHour: rate + higher });
      assert.ok(richer >= hours && dearer <= hours);
    }),
  );
  const dollar = 1_000_000_000n;
  // Three dollars a day pay for data at three cents an hour for a hundred hours.
  assert.equal(graceHours({ averageDailySpendNanos: 3n * dollar, storageNanosPerHour: (3n * dollar) / 100n }), 100);
});

test("unpaid storage beyond two days is worth at most a tenth of what was paid in, and at most the limit", () => {
  fc.assert(
    fc.property(spends, rates, spends, spends, (spent, rate, paidIn, limit) => {
      const facts = {
        averageDailySpendNanos: spent,
        storageNanosPerHour: rate,
        paidInNanos: paidIn,
        limitNanos: limit,
      };
      const hours = BigInt((keptUntil(NOW, facts, undefined).getTime() - NOW.getTime()) / HOUR_MS);
      assert.ok(hours >= 48n && hours <= 336n);
      if (hours > 48n) assert.ok(rate * hours <= paidIn / 10n && rate * hours <= limit && rate * hours <= spent);
    }),
  );
});

test("arrears that come again within a month keep the time that was stated, and leave two days at least", () => {
  const facts = {
    averageDailySpendNanos: 10n ** 12n,
    storageNanosPerHour: 1n,
    paidInNanos: 10n ** 15n,
    limitNanos: 10n ** 12n,
  };
  const hours = (until: Date) => (until.getTime() - NOW.getTime()) / HOUR_MS;
  const earlier = (hour: number) => new Date(NOW.getTime() + hour * HOUR_MS);
  assert.equal(hours(keptUntil(NOW, facts, undefined)), 336);
  assert.equal(hours(keptUntil(NOW, facts, earlier(100))), 100);
  assert.equal(hours(keptUntil(NOW, facts, earlier(-100))), 48);
});

test("there is a reminder at half time, and one a day before the end; nothing before, and nothing after", () => {
  const after = (hours: number) => new Date(NOW.getTime() + hours * HOUR_MS);
  const long = { beganAt: NOW, deleteAt: after(100) };
  const said = [0, 49.9, 50, 75.9, 76, 99.9, 100, 101].map((hours) => remindersDue(long, after(hours)));
  assert.deepEqual(said, [[], [], ["half"], ["half"], ["last"], ["last"], [], []]);
  const short = { beganAt: NOW, deleteAt: after(48) };
  assert.deepEqual([remindersDue(short, after(23.9)), remindersDue(short, after(24))], [[], ["last"]]);
});

test("each drop of credit is told of once below a day and once below an hour, however often it is checked", () => {
  const looks = fc.array(fc.integer({ min: -2, max: 60 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(looks, (hoursLeft) => {
      let drop: Drop | undefined;
      const told: string[] = [];
      for (const hours of hoursLeft) {
        const facts = { balanceNanos: BigInt(hours) * 7n, nanosPerHour: 7n };
        const change = followDrop(facts, drop);
        if (change?.tell !== undefined) told.push(`${change.dropCount}:${change.tell}`);
        drop = change ?? drop;
        assert.equal(followDrop(facts, drop), undefined, "a repeated check changes nothing");
        assert.equal(
          drop?.toldHours !== undefined && hours < 25,
          hours < 24 || (drop?.toldHours !== undefined && hours < 25),
        );
        if (hours < 1) assert.equal(drop?.toldHours, 1);
        if (hours >= 25) assert.equal(drop?.toldHours, undefined);
      }
      assert.equal(new Set(told).size, told.length);
    }),
  );
  const free = { balanceNanos: 0n, nanosPerHour: 0n };
  assert.equal(followDrop(free, undefined), undefined, "an account without use is not warned");
});
