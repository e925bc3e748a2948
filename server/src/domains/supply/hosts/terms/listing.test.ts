import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuModels } from "../../../../../../protocol/index.ts";
import { simulatedFacts } from "../../../../../../test/support/hosts/simulated-facts.ts";
import { usualNanosPerHour } from "./rules/gpu-prices.ts";
import { defaultListing } from "./rules/listing.ts";

const NOW = new Date("2026-05-01T12:00:00Z");
const DAY_MS = 86_400_000;
const DOLLAR = 1e9;

function simulated(number: number) {
  const host_key = `market-${number}`;
  return { host_key, ...simulatedFacts(host_key, number) };
}

const machines = Array.from({ length: 800 }, (_, index) => simulated(index + 1));
const listed = machines.map((described) => ({ described, listing: defaultListing(described, NOW) }));

test("each GPU model that agents know has a usual price, and an unknown one is valued by its score", () => {
  for (const { name } of gpuModels) assert.ok(usualNanosPerHour({ name, dlperf: 0 }) >= 40_000_000n, name);
  assert.equal(usualNanosPerHour({ name: "of the future", dlperf: 200 }), 600_000_000n);
  assert.equal(usualNanosPerHour({ name: "constructor", dlperf: 0 }), 50_000_000n);
});

test("a real machine is listed at the usual price of its model, in single GPUs", () => {
  const { machine, gpus, host_key } = simulated(4);
  const listing = defaultListing({ host_key, machine: { ...machine, is_simulated: false }, gpus }, NOW);
  assert.ok(gpus[0] !== undefined);
  assert.equal(listing.priceDeviceNanosPerHour, usualNanosPerHour(gpus[0]));
  assert.equal(listing.minChunk, 1);
  assert.equal(listing.offerEndAt.getTime(), NOW.getTime() + 90 * DAY_MS);
});

test("a machine without GPUs is listed by the core, simulated or not", () => {
  const { machine } = simulated(1);
  for (const is_simulated of [false, true]) {
    const listing = defaultListing({ host_key: "k", machine: { ...machine, is_simulated }, gpus: [] }, NOW);
    assert.equal(listing.priceDeviceNanosPerHour, 10_000_000n);
  }
});

test("simulated hosts ask the same terms each time, each its own, around the usual price of their GPUs", () => {
  for (const { described, listing } of listed) assert.deepEqual(defaultListing(described, NOW), listing);
  const ratios = listed.map(
    ({ described: { gpus }, listing }) =>
      Number(listing.priceDeviceNanosPerHour) / Number(gpus[0] === undefined ? 1n : usualNanosPerHour(gpus[0])),
  );
  const sorted = ratios.toSorted((a, b) => a - b);
  const middle = sorted[400] ?? 0;
  assert.ok(middle > 0.95 && middle < 1.12, `median ${middle}`);
  assert.ok((sorted[0] ?? 0) >= 0.5 && (sorted.at(-1) ?? 9) <= 2.2);
  assert.ok((sorted[720] ?? 0) / (sorted[80] ?? 1) > 1.4, "they differ");
});

test("their terms hold together: bids below the price, chunks that the machine has, ends from days to months", () => {
  for (const { described, listing } of listed) {
    const { priceDeviceNanosPerHour: price, priceMinBidNanosPerHour: bid } = listing;
    assert.ok(bid > 0n && bid <= price && Number(bid) >= Number(price) * 0.4, `${bid} of ${price}`);
    assert.ok(listing.minChunk >= 1 && listing.minChunk <= described.gpus.length);
    const days = (listing.offerEndAt.getTime() - NOW.getTime()) / DAY_MS;
    assert.ok(days >= 3 && days <= 270);
    assert.ok(Number(listing.priceDiskNanosPerGbMonth) <= 0.6 * DOLLAR);
  }
  assert.ok(listed.slice(0, 3).every(({ listing }) => listing.minChunk === 1));
  const bundled = listed.filter(({ listing }) => listing.minChunk > 1).length / listed.length;
  assert.ok(bundled > 0.03 && bundled < 0.25, `${bundled}`);
});
