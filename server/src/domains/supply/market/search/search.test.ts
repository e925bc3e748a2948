import assert from "node:assert/strict";
import { test } from "node:test";
import { anOfferedMachine, type MachineChoice } from "../../../../../../test/support/hosts/offered-machines.ts";
import { referenceSearch } from "../../../../../../test/support/hosts/offer-reference.ts";
import { asId, type MachineId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import { AppError } from "../../../../base/errors.ts";
import { OfferIndex } from "./rules/offer-index.ts";
import { remainingText } from "./rules/offer-text.ts";
import { searchOffers } from "./rules/search.ts";
import { below } from "./rules/selection.ts";

const caller = { now: new Date("2026-01-10T00:00:00.000Z"), rentedMachines: new Set<MachineId>() };

function marketOf(choices: readonly MachineChoice[]): OfferIndex {
  const index = new OfferIndex();
  for (const choice of choices) index.replace(anOfferedMachine(choice));
  return index;
}

/** Three equal machines of one host, one of another host, one that costs more. */
function bundledMarket(): OfferIndex {
  const dearer = { machine: { priceDeviceNanosPerHour: nanos(400_000_000n) } };
  return marketOf([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4, hostId: 2 }, { id: 5, ...dearer }]);
}

test("equal offers are one row, the first of them, with their number, unless bundling is disabled", () => {
  const index = bundledMarket();
  const shown = (query: object) =>
    searchOffers(index, { num_gpus: { eq: 2 }, order: [["id", "asc"]], ...query }, caller).map((offer) => [
      offer.id,
      offer.bundled_results,
    ]);
  assert.deepEqual(shown({}), [[102, 3], [402, 1], [502, 1]]); // prettier-ignore
  assert.deepEqual(shown({ order: [["id", "desc"]] }), [[502, 1], [402, 1], [302, 3]]); // prettier-ignore
  const each = [102, 202, 302, 402, 502].map((id) => [id, null]);
  assert.deepEqual(shown({ disable_bundling: true }), each);
  assert.deepEqual(shown({ disable_bundling: "true" }), each);
});

test("a limit counts rows, and the number of a row's offers is that of all that were found", () => {
  const found = searchOffers(bundledMarket(), { num_gpus: { eq: 2 }, limit: 2, order: [["id", "asc"]] }, caller);
  assert.deepEqual(
    found.map((offer) => [offer.id, offer.bundled_results, offer.rn]),
    [[102, 3, 1], [402, 1, 2]], // prettier-ignore
  );
});

test("an unrentable offer is in no row with rentable ones, nor one of the caller's own machines with others", () => {
  const index = marketOf([{ id: 1, machine: { isConnected: false } }, { id: 2 }, { id: 3 }, { id: 4 }]);
  const mine = { ...caller, rentedMachines: new Set([asId<MachineId>(3)]) };
  const found = searchOffers(index, { num_gpus: { eq: 1 }, order: [["id", "asc"]] }, mine);
  assert.deepEqual(
    found.map((offer) => [offer.machine_id, offer.rentable, offer.rented, offer.bundled_results]),
    [[1, false, false, 1], [2, true, false, 2], [3, true, true, 1]], // prettier-ignore
  );
});

test("the number of a bundle is the same for equal offers everywhere, and another for every size", () => {
  const numbers = (index: OfferIndex) =>
    searchOffers(index, { disable_bundling: true, order: [["id", "asc"]] }, caller).map((offer) => offer.bundle_id);
  const [first, second] = [numbers(marketOf([{ id: 1 }])), numbers(marketOf([{ id: 7 }]))];
  assert.deepEqual(first, second);
  assert.equal(new Set(first).size, 2);
  assert.ok(first.every(Number.isSafeInteger));
});

test("a large market gives what a naive search gives, for conditions that keep little, much, and all", () => {
  const machines = Array.from({ length: 700 }, (_, number) =>
    anOfferedMachine({
      id: number + 1,
      hostId: 1 + (number % 7),
      gpus: number % 5,
      gpu: { name: ["L4", "H100 SXM", "RTX 4090"][number % 3] ?? "", dlperf: (number * 37) % 101 },
      facts: { inet_down_mbps: (number * 991) % 5000, public_ipaddr: `192.0.2.${number % 251}` },
      machine: { priceDeviceNanosPerHour: nanos(BigInt((number * 7919) % 1000) * 1_000_000n) },
    }),
  );
  const index = new OfferIndex();
  for (const machine of machines) index.replace(machine);
  const queries = [
    {},
    { order: [["dph_total", "asc"]], limit: 500 },
    { disable_bundling: true, limit: 10_000 },
    { gpu_name: { eq: "L4" }, num_gpus: { gte: 2 }, inet_down: { gt: 2500 }, order: [["public_ipaddr", "desc"]] },
    { rentable: { eq: true }, score: { gt: 100 }, gpu_name: { neq: "L4" }, order: [["host_id", "asc"], ["score", "asc"]] }, // prettier-ignore
    { public_ipaddr: { gte: "192.0.2.9" }, type: "bid", limit: 3 },
    { external: { eq: true } },
  ];
  for (const query of queries) {
    assert.deepEqual(
      searchOffers(index, query, caller).map(({ id, bundled_results }) => [id, bundled_results]),
      referenceSearch(machines, query, caller).map(({ id, bundled_results }) => [id, bundled_results]),
      JSON.stringify(query),
    );
  }
});

test("a search for reserved rentals shows the discount of one prepaid month", () => {
  const index = marketOf([{ id: 1, machine: { creditDiscountMaxPermille: 200 } }]);
  const ask = (type: string) =>
    searchOffers(index, { type, num_gpus: { eq: 2 }, allocated_storage: 0 }, caller).map((offer) => [
      offer.dph_total,
      offer.discount_rate,
      offer.discounted_dph_total,
      offer.search.discountTotalHour.toFixed(9),
    ]);
  assert.deepEqual(ask("reserved"), [[0.6, 0.1, 0.54, "0.060000000"]]);
  assert.deepEqual(ask("ondemand"), [[0.6, 0, 0.6, "0.000000000"]]);
});

test("an offer shows the places of the GPUs that it could have, and its machine's space for volumes", () => {
  const volume = { askId: 9, sizeGb: 120.5, dollarsPerHour: 0.02 };
  const index = marketOf([
    { id: 1, gpus: 4, held: { 0: "on-demand", 1: 200_000_000 }, broken: [3], sizes: [1, 2], volume },
  ]);
  const [offer] = searchOffers(index, { num_gpus: { eq: 1 } }, caller);
  assert.deepEqual(
    [offer?.gpu_ids, offer?.avail_vol_ask_id, offer?.avail_vol_size, offer?.avail_vol_dph],
    [[1, 2], 9, 120.5, 0.02],
  );
  assert.equal(searchOffers(marketOf([{ id: 2 }]), { avail_vol_size: { gt: 1 } }, caller).length, 0);
});

test("a free offer ranks by its worth per thousandth of a dollar, and first among its equals", () => {
  const free = { machine: { priceDeviceNanosPerHour: nanos(0n), priceDiskNanosPerGbMonth: nanos(0n) } };
  const [first, second] = searchOffers(marketOf([{ id: 1 }, { id: 2, ...free }]), { num_gpus: { eq: 1 } }, caller);
  // Each takes one of two GPUs: half of the bonus for using up a machine.
  assert.deepEqual([first?.machine_id, first?.dlperf_per_dphtotal, first?.score], [2, 100_000, 99_990]);
  assert.ok(second !== undefined && Math.abs(second.score - (100 / second.dph_total) * 0.99 * 1.01) < 1e-9);
});

test("among equally good offers the one that leaves least behind is first, and a cheaper one is before it", () => {
  const cheaper = { priceDeviceNanosPerHour: nanos(290_000_000n) };
  const index = marketOf([
    { id: 1, gpus: 8 },
    { id: 2, gpus: 8, held: { 0: "on-demand", 1: "on-demand", 2: "on-demand", 3: "on-demand" }, sizes: [1, 2, 3, 4] },
    { id: 3, gpus: 8, held: { 0: "on-demand", 1: "on-demand" }, sizes: [1, 2, 3, 4, 5, 6] },
    { id: 4, gpus: 8, machine: cheaper },
  ]);
  const machinesFor = (gpus: number) =>
    searchOffers(index, { num_gpus: { eq: gpus }, disable_bundling: true }, caller).map((offer) => offer.machine_id);
  assert.deepEqual(machinesFor(4), [4, 2, 3, 1]);
  assert.deepEqual(machinesFor(8), [4, 1]);
});

test("excessive or meaningless conditions are refused by name, and quickly", () => {
  const index = bundledMarket();
  const deep = "[".repeat(60_000) + "]".repeat(60_000);
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, number) => [`field_${number}`, { eq: number }]));
  for (const [field, query] of [
    ["field_256", many],
    ["field_256", { q: Object.fromEntries(Object.entries(many).slice(0, 300)) }],
    ["q", { q: JSON.stringify(many) }],
    ["q", { q: `{"num_gpus":${deep}}` }],
    ["q", { q: "x".repeat(1_000_000) }],
    ["q", { q: [1] }],
    ["num_gpus.in", { num_gpus: { in: Array.from({ length: 100_000 }, (_, number) => number) } }],
    ["num_gpus.eq", { num_gpus: { eq: { eq: { eq: 1 } } } }],
    ["num_gpus.in", { num_gpus: { in: [[1]] } }],
    ["num_gpus.eq", { num_gpus: { eq: "NaN" } }],
    ["num_gpus.gte", { num_gpus: { gte: Infinity } }],
    ["gpu_name.eq", { gpu_name: { eq: "x".repeat(1_000_000) } }],
    ["geolocation.eq", { geolocation: { eq: "x".repeat(1_000_000) } }],
    ["gpu_name.like", { gpu_name: { like: "RTX" } }],
    ["limit", { limit: 2 ** 53 }],
    ["limit", { limit: "9".repeat(1_000_000) }],
    ["allocated_storage", { allocated_storage: -1 }],
    ["allocated_storage", { allocated_storage: Number.NaN }],
    ["disable_bundling", { disable_bundling: "perhaps" }],
    ["type", { type: "constructor" }],
    ["order[0]", { order: [["is_open", "asc"]] }],
    ["order[0]", { order: [["__proto__", "asc"]] }],
    ["order", { order: Array.from({ length: 17 }, () => ["id", "asc"]) }],
  ] as const) {
    assert.throws(
      () => searchOffers(index, query, caller),
      (error) => error instanceof AppError && error.kind === "invalid" && error.extra["field"] === field,
      JSON.stringify(query).slice(0, 80),
    );
  }
  // A great distance, but a number like any other.
  assert.equal(searchOffers(index, { num_gpus: { lte: 2 ** 53 }, dph_total: { gt: -(2 ** 60) } }, caller).length, 6);
});

test("numbers next to a bound are on their side of it", () => {
  assert.equal(below(1), 1 - Number.EPSILON / 2);
  assert.equal(below(-1), -1 - Number.EPSILON);
  assert.ok(below(0) < 0 && below(Number.MIN_VALUE) === 0 && -below(-0.3) > 0.3);
});

test("the rest of an offer's time is shown in days and hours", () => {
  assert.deepEqual([-1, 0, 100, 3600, 86_400, 2 * 86_400 + 7300].map(remainingText), [
    "",
    "",
    "less than an hour",
    "1 hour",
    "1 day",
    "2 days, 2 hours",
  ]);
});
