import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../../base/errors.ts";
import { nanos } from "../../../../base/money.ts";
import {
  freeBytes,
  LOCAL_DEFAULTS,
  NETWORK_DEFAULTS,
  planListing,
  planRent,
  type ListingLimits,
  type ListingRequest,
} from "./rules/listing.ts";

const GB = 1_000_000_000n;
const now = new Date("2030-01-01T00:00:00Z");
const nowSeconds = now.getTime() / 1000;

const anyNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(Number.NaN, Infinity, -Infinity, -0, 0, 1e308, -1e308, 5e-324, 1e-10),
  fc.double({ min: 0, max: 1 }),
  fc.double({ min: nowSeconds - 10, max: nowSeconds + 1e9, noNaN: true }),
);
const requests: fc.Arbitrary<ListingRequest> = fc.record(
  { size: anyNumber, price_disk: anyNumber, credit_discount_max: anyNumber, end_date: anyNumber },
  { requiredKeys: [] },
);
const limits: fc.Arbitrary<ListingLimits> = fc
  .record({
    capacityBytes: fc.bigInt({ min: 1n, max: 1000n * GB }),
    rentedFraction: fc.integer({ min: 0, max: 1000 }),
    defaults: fc.constantFrom(NETWORK_DEFAULTS, LOCAL_DEFAULTS),
    isListed: fc.boolean(),
  })
  .map(({ capacityBytes, rentedFraction, defaults, isListed }) => {
    const rentedBytes = (capacityBytes * BigInt(rentedFraction)) / 1000n;
    const current = {
      sizeBytes: capacityBytes,
      priceNanosPerGbMonth: nanos(7n),
      creditDiscountMaxPermille: 3,
      endAt: new Date(now.getTime() + 1000),
    };
    const ceilings = { trafficNanosPerGb: nanos(0n), storageNanosPerGbMonth: nanos(1_000_000_000_000n) };
    return { capacityBytes, rentedBytes, defaults, now, ceilings, current: isListed ? current : undefined };
  });

test("an accepted listing fits its disk, covers its rented space, and is open", () => {
  fc.assert(
    fc.property(requests, limits, (request, given) => {
      let listing;
      try {
        listing = planListing(request, given);
      } catch (error) {
        assert.ok(error instanceof AppError && error.kind === "invalid");
        const field = String(error.extra["field"]);
        assert.ok(Object.hasOwn(request, field), `${field} was sent`);
        assert.match(error.publicMessage, new RegExp(`^${field} `));
        return;
      }
      assert.ok(listing.sizeBytes > 0n && listing.sizeBytes <= given.capacityBytes);
      assert.ok(listing.sizeBytes >= given.rentedBytes);
      assert.ok(listing.priceNanosPerGbMonth >= 0n && listing.priceNanosPerGbMonth <= 10_000n * GB);
      assert.ok(listing.creditDiscountMaxPermille >= 0 && listing.creditDiscountMaxPermille <= 1000);
      assert.ok(listing.endAt > now);
    }),
    { numRuns: 2000 },
  );
});

test("fields that an update leaves out stay as they were", () => {
  fc.assert(
    fc.property(limits, (given) => {
      if (given.current !== undefined) assert.deepEqual(planListing({}, given), given.current);
    }),
  );
});

test("no rental takes more than the free space", () => {
  const spaces = fc.record({
    sizeBytes: fc.bigInt({ min: 1n, max: 1000n * GB }),
    rentedBytes: fc.bigInt(0n, 999n * GB),
  });
  fc.assert(
    fc.property(fc.option(anyNumber, { nil: undefined }), spaces, (size, space) => {
      try {
        const rented = planRent(size, space, "size");
        assert.ok(rented > 0n && rented <= freeBytes(space));
      } catch (error) {
        assert.ok(error instanceof AppError && error.extra["field"] === "size");
      }
    }),
    { numRuns: 2000 },
  );
});
