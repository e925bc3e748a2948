import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../base/errors.ts";
import { nanos } from "../../../base/money.ts";
import type { EndingRental } from "../../money/deposits/index.ts";
import type { Terms } from "../hosts/index.ts";
import { isExtendedBy, planTerms, readDuration, type ListingRequest } from "./rules/listing.ts";

const NOW = new Date("2026-03-01T00:00:00Z");
const DAY_MS = 86_400_000;
const LATEST_MS = 253_402_300_799_000;

const terms = (overrides: Partial<Terms> = {}): Terms => ({
  priceDeviceNanosPerHour: nanos(300_000_000n),
  priceMinBidNanosPerHour: nanos(100_000_000n),
  priceDiskNanosPerGbMonth: nanos(100_000_000n),
  priceInetUpNanosPerGb: nanos(2_000_000n),
  priceInetDownNanosPerGb: nanos(2_000_000n),
  minChunk: 1,
  creditDiscountMaxPermille: 400,
  offerEndAt: new Date(NOW.getTime() + 30 * DAY_MS),
  offerDurationS: undefined,
  ...overrides,
});

const CEILINGS = { trafficNanosPerGb: nanos(150_000_000n), storageNanosPerGbMonth: nanos(1_000_000_000n) };

const plan = (request: ListingRequest, current = terms(), deviceCount = 4) =>
  planTerms(request, current, { deviceCount, now: NOW, ceilings: CEILINGS });

function fieldOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof AppError && error.kind === "invalid", String(error));
    return error.extra["field"];
  }
  return undefined;
}

const NUMBER = fc.oneof(
  fc.double(),
  fc.integer({ min: -2, max: 10 }),
  fc.double({ min: 0, max: 10, noNaN: true }),
  fc.constantFrom(2 ** 53, 1e300, -0, 1e-12, NOW.getTime(), NOW.getTime() / 1000 + 60, 10_000),
);
const REQUEST = fc.record(
  {
    price_gpu: NUMBER,
    price_disk: NUMBER,
    price_inetu: NUMBER,
    price_inetd: NUMBER,
    price_min_bid: NUMBER,
    min_chunk: NUMBER,
    end_date: NUMBER,
    credit_discount_max: NUMBER,
    duration: fc.oneof(NUMBER, fc.string(), fc.constantFrom("3 days", "2 weeks", "1 month", "1 year", "90 minutes")),
    vol_size: NUMBER,
    vol_price: NUMBER,
  },
  { requiredKeys: [] },
);

test("every request leads to terms that can be stored, or names one of its fields", () => {
  fc.assert(
    fc.property(REQUEST, fc.integer({ min: 0, max: 16 }), (request, deviceCount) => {
      let planned: Terms;
      try {
        planned = planTerms(request, terms(), { deviceCount, now: NOW, ceilings: CEILINGS });
      } catch (error) {
        assert.ok(error instanceof AppError && error.kind === "invalid", String(error));
        assert.ok(Object.hasOwn(request, String(error.extra["field"])), `${String(error.extra["field"])} was not sent`);
        return;
      }
      const prices = [
        planned.priceDeviceNanosPerHour,
        planned.priceDiskNanosPerGbMonth,
        planned.priceInetUpNanosPerGb,
        planned.priceInetDownNanosPerGb,
        planned.priceMinBidNanosPerHour,
      ];
      for (const price of prices) assert.ok(price >= 0n && price <= 10_000n * 1_000_000_000n);
      for (const price of prices.slice(1, 4)) assert.ok(price <= 1_000n * 1_000_000_000n);
      assert.ok(
        planned.priceMinBidNanosPerHour <= planned.priceDeviceNanosPerHour,
        "a bid never has to exceed the price",
      );
      assert.ok(
        Number.isInteger(planned.minChunk) && planned.minChunk >= 1 && planned.minChunk <= Math.max(1, deviceCount),
      );
      assert.ok(planned.creditDiscountMaxPermille >= 0 && planned.creditDiscountMaxPermille <= 1000);
      assert.ok(planned.offerEndAt > NOW && planned.offerEndAt.getTime() <= LATEST_MS);
    }),
  );
});

test("absent fields stay, and a minimum bid is lowered to a price that fell below it", () => {
  assert.deepEqual(plan({}), terms());
  const cheaper = plan({ price_gpu: 0.05 });
  assert.equal(cheaper.priceMinBidNanosPerHour, 50_000_000n);
  assert.equal(
    fieldOf(() => plan({ price_gpu: 0.05, price_min_bid: 0.06 })),
    "price_min_bid",
  );
  assert.equal(
    fieldOf(() => plan({ vol_size: 0, vol_price: 0.1 })),
    "vol_price",
  );
  assert.equal(
    fieldOf(() => plan({ min_chunk: 5 })),
    "min_chunk",
  );
  assert.equal(
    fieldOf(() => plan({ min_chunk: 1.5 })),
    "min_chunk",
  );
  assert.equal(
    fieldOf(() => plan({ price_gpu: Number.NaN })),
    "price_gpu",
  );
});

test("an end is fixed or moves on, never both, lies ahead, and is stated in seconds", () => {
  const inAWeek = NOW.getTime() / 1000 + 7 * 86_400;
  assert.deepEqual(plan({ end_date: inAWeek }).offerEndAt, new Date(inAWeek * 1000));
  const rolling = plan({ duration: "3 days" });
  assert.deepEqual([rolling.offerDurationS, rolling.offerEndAt.getTime() - NOW.getTime()], [3 * 86_400, 3 * DAY_MS]);
  assert.equal(plan({}, rolling).offerDurationS, 3 * 86_400, "it goes on moving");
  assert.equal(plan({ end_date: inAWeek }, rolling).offerDurationS, undefined);
  assert.equal(
    fieldOf(() => plan({ end_date: inAWeek, duration: "3 days" })),
    "duration",
  );
  for (const end of [inAWeek * 1000, NOW.getTime() / 1000, 0, -1])
    assert.equal(
      fieldOf(() => plan({ end_date: end })),
      "end_date",
    );
  assert.equal(
    fieldOf(() => plan({}, terms({ offerEndAt: NOW }))),
    "end_date",
  );
});

test("durations are words or seconds", () => {
  const [day, hour] = [86_400, 3600];
  for (const [text, seconds] of [
    ["1 day", day],
    ["3 days", 3 * day],
    ["2 weeks", 14 * day],
    ["1 Month", 30 * day],
    ["1 year", 365 * day],
    ["1.5 days", 1.5 * day],
    ["12hours", 12 * hour],
    ["604800", 7 * day],
    [" 86400 ", day],
    [86_400.7, day],
  ] as const) {
    assert.equal(readDuration(text), seconds, String(text));
  }
  for (const text of [
    "",
    "days",
    "3 fortnights",
    "-1 day",
    "1 day 2 hours",
    "NaN",
    "1e9",
    0,
    59,
    -5,
    2 ** 53,
    "999999999999 years",
  ]) {
    assert.equal(
      fieldOf(() => readDuration(text)),
      "duration",
      String(text),
    );
  }
});

test("a rental is extended exactly where the end is later and nothing that it pays became dearer", () => {
  const price = fc.bigInt({ min: 0n, max: 5n });
  const arbitrary = fc.record({
    isBid: fc.boolean(),
    count: fc.integer({ min: 1, max: 3 }),
    end: fc.integer({ min: -2, max: 2 }),
    agreed: fc.tuple(price, price, price, price),
    listed: fc.tuple(price, price, price, price),
    minBid: price,
  });
  fc.assert(
    fc.property(arbitrary, ({ isBid, count, end, agreed, listed, minBid }) => {
      const rental: EndingRental = {
        isBid,
        deviceCount: count,
        endAt: new Date(NOW.getTime() - end * DAY_MS),
        prices: {
          priceNanosPerHour: nanos(agreed[0]),
          storageNanosPerGbMonth: nanos(agreed[1]),
          inetUpNanosPerGb: nanos(agreed[2]),
          inetDownNanosPerGb: nanos(agreed[3]),
        },
      };
      const listing = terms({
        offerEndAt: NOW,
        priceDeviceNanosPerHour: nanos(listed[0]),
        priceDiskNanosPerGbMonth: nanos(listed[1]),
        priceInetUpNanosPerGb: nanos(listed[2]),
        priceInetDownNanosPerGb: nanos(listed[3]),
        priceMinBidNanosPerHour: nanos(minBid),
      });
      const asked = BigInt(count) * (isBid ? minBid : listed[0]);
      const isNoDearer = asked <= agreed[0] && [1, 2, 3].every((index) => listed[index]! <= agreed[index]!);
      assert.equal(isExtendedBy(rental, listing), end > 0 && isNoDearer);
    }),
  );
});
