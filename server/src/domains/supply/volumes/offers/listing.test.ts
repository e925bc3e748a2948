import assert from "node:assert/strict";
import { test } from "node:test";
import { nanos } from "../../../../base/money.ts";
import { LOCAL_DEFAULTS, NETWORK_DEFAULTS, planListing, readVolumeName, type ListingLimits } from "./rules/listing.ts";

const GB = 1_000_000_000n;
const now = new Date("2030-01-01T00:00:00Z");
const nowSeconds = now.getTime() / 1000;
const fresh: ListingLimits = {
  current: undefined,
  defaults: NETWORK_DEFAULTS,
  capacityBytes: 100n * GB,
  rentedBytes: 0n,
  now,
  ceilings: { trafficNanosPerGb: nanos(0n), storageNanosPerGbMonth: nanos(1_000_000_000n) },
};

test("a listing without further fields has the published defaults", () => {
  assert.deepEqual(planListing({}, fresh), {
    sizeBytes: 15n * GB,
    priceNanosPerGbMonth: 150_000_000n,
    creditDiscountMaxPermille: 400,
    endAt: new Date("2030-01-31T00:00:00Z"),
  });
  const local = planListing({}, { ...fresh, defaults: LOCAL_DEFAULTS });
  assert.equal(local.priceNanosPerGbMonth, 100_000_000n);
  assert.deepEqual(local.endAt, new Date("2030-04-01T00:00:00Z"));
});

test("the default size is the whole of a small disk, and never less than the rented space", () => {
  assert.equal(planListing({}, { ...fresh, capacityBytes: 10n * GB }).sizeBytes, 10n * GB);
  assert.equal(planListing({}, { ...fresh, rentedBytes: 40n * GB }).sizeBytes, 40n * GB);
});

const refused: readonly (readonly [string, object])[] = [
  ["size", { size: 0 }],
  ["size", { size: -1 }],
  ["size", { size: 101 }],
  ["size", { size: 1e308 }],
  ["size", { size: Number.NaN }],
  ["size", { size: 1e-12 }],
  ["price_disk", { price_disk: -0.01 }],
  ["price_disk", { price_disk: -1e-12 }],
  ["price_disk", { price_disk: 1e308 }],
  ["price_disk", { price_disk: Infinity }],
  ["credit_discount_max", { credit_discount_max: 1.01 }],
  ["credit_discount_max", { credit_discount_max: -0.01 }],
  ["credit_discount_max", { credit_discount_max: Number.NaN }],
  ["end_date", { end_date: nowSeconds }],
  ["end_date", { end_date: -1 }],
  ["end_date", { end_date: 1e308 }],
  ["end_date", { end_date: Number.NaN }],
  ["end_date", { end_date: nowSeconds * 1000 + 1e15 }],
];
for (const [field, request] of refused) {
  test(`${JSON.stringify(request)} is refused by the name of ${field}`, () => {
    assert.throws(() => planListing(request, fresh), { kind: "invalid", code: "invalid_args", extra: { field } });
  });
}

test("a listing cannot shrink below its rented space", () => {
  const limits = { ...fresh, rentedBytes: 20n * GB };
  assert.throws(() => planListing({ size: 19.9 }, limits), { extra: { field: "size" } });
  assert.equal(planListing({ size: 20 }, limits).sizeBytes, 20n * GB);
});

test("a listing past its end is not renewed without a new end", () => {
  const current = { ...planListing({}, fresh), endAt: new Date(now.getTime() - 1) };
  assert.throws(() => planListing({ size: 20 }, { ...fresh, current }), { extra: { field: "end_date" } });
  const renewed = planListing({ end_date: nowSeconds + 60 }, { ...fresh, current });
  assert.deepEqual(renewed.endAt, new Date(now.getTime() + 60_000));
});

test("a volume's name is letters, digits, _ and -, does not look like an option, or is none", () => {
  assert.equal(readVolumeName(undefined, "name"), "");
  for (const name of ["Models_1", "my-models-2", "a-", "_-"]) assert.equal(readVolumeName(name, "name"), name);
  for (const name of ["a b", "-a", "--force", "a.b", "../a", "é", "a".repeat(65), "a\n"]) {
    assert.throws(() => readVolumeName(name, "name"), { extra: { field: "name" } });
  }
});
