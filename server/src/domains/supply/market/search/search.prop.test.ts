import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { anOfferedMachine, type MachineChoice } from "../../../../../../test/support/hosts/offered-machines.ts";
import { referenceSearch } from "../../../../../../test/support/hosts/offer-reference.ts";
import { asId, type MachineId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import { OFFER_ALIASES, OFFER_COLUMNS } from "./rules/offer-columns.ts";
import { OfferIndex } from "./rules/offer-index.ts";
import { OffersBody } from "../schema.ts";
import { searchOffers, searchText } from "./rules/search.ts";

const NOW = new Date("2026-01-10T00:00:00.000Z");
const SOON = new Date("2026-01-10T06:30:00.000Z");
const PAST = new Date("2026-01-09T00:00:00.000Z");
const LATER = new Date("2026-04-01T00:00:00.000Z");

const offersBody = Compile(OffersBody);

/** Few values for each field, so that conditions meet some machines and equal machines turn up. */
const machineChoice = fc.record({
  hostId: fc.integer({ min: 1, max: 2 }),
  gpus: fc.integer({ min: 0, max: 4 }),
  gpu: fc.record({
    name: fc.constantFrom("RTX 4090", "H100 SXM", "L4"),
    memory_mb: fc.constantFrom(24_576, 81_920),
    dlperf: fc.constantFrom(0, 8.1, 100),
    max_temp_c: fc.constantFrom(undefined, 83, 93),
    is_display_active: fc.constantFrom(undefined, false, true),
  }),
  facts: fc.record({
    geolocation: fc.constantFrom("Oslo, NO", "Reno, US", ", DE"),
    driver_version: fc.constantFrom("535.86.05", "570.9.01", ""),
    inet_down_mbps: fc.constantFrom(100, 1000),
    mobo_name: fc.constantFrom("", "\u{1F600} board", "\u{E000} board", 'a "quoted"\nboard'),
    is_simulated: fc.boolean(),
    hostname: fc.constantFrom("one", "two"),
  }),
  machine: fc.record({
    verification: fc.constantFrom("verified" as const, "unverified" as const, "deverified" as const),
    hostingType: fc.integer({ min: 0, max: 1 }),
    reliabilityPpm: fc.constantFrom(600_000, 991_234, 999_000),
    isListed: fc.constantFrom(true, true, true, false),
    isConnected: fc.constantFrom(true, true, true, false),
    restsUntilAt: fc.constantFrom(undefined, undefined, PAST, SOON),
    offerEndAt: fc.constantFrom(PAST, SOON, LATER),
    priceDeviceNanosPerHour: fc.constantFrom(0n, 300_000_000n, 123_456_789n).map(nanos),
    creditDiscountMaxPermille: fc.constantFrom(0, 290, 400),
    promisedDiskBytes: fc.constantFrom(0n, 333_333_333_333n),
  }),
  held: fc.dictionary(fc.constantFrom("0", "1"), fc.constantFrom("on-demand" as const, 200_000_000), { maxKeys: 2 }),
  volume: fc.constantFrom(undefined, undefined, { askId: 7, sizeGb: 100, dollarsPerHour: 0.01 }),
});

const market = fc
  .array(machineChoice, { maxLength: 12 })
  .map((choices) => choices.map((choice, index) => anOfferedMachine({ ...choice, id: index + 1 } as MachineChoice)));

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  number: [0, 1, 2, "2", 24, 24_576, "24576", 0.3, 0.15, 100, 1000, 0.991234, 250, 1e300, -1, true],
  integer: [0, 1, 2, "3", 2.5, 101, 204, 890, 535_086_005],
  text: ["RTX 4090", "CPU", "US", "verified", "gpu", "", 22.04, "\u{F000}", 'a "quoted"\nboard'],
  boolean: [true, false, "true", "False", 1, 0],
  time: [NOW.getTime() / 1000, LATER.getTime() / 1000, 0],
};

/** Digests are known to the columns alone. */
const KNOWN = Object.entries(OFFER_COLUMNS).filter(([name]) => name !== "bundle_id" && name !== "geolocode");

const condition = fc.constantFrom(...KNOWN).chain(([name, { type }]) => {
  const names = [name, ...Object.entries(OFFER_ALIASES).flatMap(([alias, of]) => (of === name ? [alias] : []))];
  const value = fc.constantFrom(...(VALUES[type] ?? []));
  const one = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom("lt", "lte", "gt", "gte"), value) },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom("eq", "neq"), fc.oneof(value, fc.constantFrom(null, "any"))) },
    {
      weight: 2,
      arbitrary: fc.tuple(
        fc.constantFrom("in", "notin"),
        fc.oneof(value, fc.array(fc.oneof(value, fc.constant(null)), { maxLength: 3 })),
      ),
    },
  );
  const usable = one.filter(([operator, given]) => given !== "any" || operator === "eq" || type === "text");
  return fc.tuple(fc.constantFrom(...names), usable).map(([spelled, [operator, given]]) => [spelled, operator, given]);
});

const query = fc.record(
  {
    conditions: fc.array(condition, { maxLength: 3 }),
    order: fc.array(fc.tuple(fc.constantFrom(...KNOWN.map(([name]) => name)), fc.constantFrom("asc", "desc")), {
      maxLength: 3,
    }),
    limit: fc.integer({ min: 0, max: 20 }),
    allocated_storage: fc.constantFrom(0, 5, 300),
    type: fc.constantFrom("ondemand", "bid", "reserved"),
    disable_bundling: fc.boolean(),
  },
  { requiredKeys: ["conditions"] },
);

function toBody({ conditions, ...settings }: { readonly conditions: readonly unknown[] }): Record<string, unknown> {
  const body: Record<string, Record<string, unknown>> = {};
  for (const each of conditions) {
    const [name, operator, value] = each as [string, string, unknown];
    body[name] = { ...body[name], [operator]: value };
  }
  return { ...settings, ...body };
}

function withoutDigests(records: readonly object[]): readonly object[] {
  return records.map((record) => {
    const { bundle_id: _bundle, geolocode: _place, ...rest } = record as Record<string, unknown>;
    return rest;
  });
}

test("columns answer every search as a naive evaluation of whole records does, field by field", () => {
  fc.assert(
    fc.property(market, fc.array(query, { minLength: 1, maxLength: 4 }), fc.boolean(), (machines, queries, rents) => {
      const index = new OfferIndex();
      for (const machine of machines) index.replace(machine);
      const caller = { now: NOW, rentedMachines: new Set(rents ? [asId<MachineId>(1), asId<MachineId>(99)] : []) };
      for (const each of queries) {
        const body = toBody(each);
        const expected = JSON.parse(JSON.stringify(referenceSearch(machines, body, caller)));
        assert.deepEqual(withoutDigests(searchOffers(index, body, caller)), expected);
      }
    }),
    { numRuns: 300 },
  );
});

test("after any changes of machines the columns answer as if they had just been filled", () => {
  const change = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.option(machineChoice, { nil: undefined }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const index = new OfferIndex();
      const now = new Map<number, ReturnType<typeof anOfferedMachine>>();
      for (const [id, choice] of changes) {
        const machine = choice && anOfferedMachine({ ...choice, id } as MachineChoice);
        if (machine === undefined) index.remove(asId<MachineId>(id));
        else index.replace(machine);
        if (machine === undefined) now.delete(id);
        else now.set(id, machine);
        // Fills the cache of texts, which must not outlive a change.
        searchText(index, {}, { now: NOW, rentedMachines: new Set() });
      }
      const fresh = new OfferIndex();
      for (const machine of now.values()) fresh.replace(machine);
      const ask = { limit: 100, disable_bundling: true, order: [["gpu_name", "desc"]] };
      const caller = { now: NOW, rentedMachines: new Set<MachineId>() };
      assert.deepEqual(searchOffers(index, ask, caller), searchOffers(fresh, ask, caller));
      assert.deepEqual(
        [index.offers.size, index.machines.size, [...index.machines.texts("mobo_name").dictionary.values()].toSorted()],
        [fresh.offers.size, fresh.machines.size, [...fresh.machines.texts("mobo_name").dictionary.values()].toSorted()],
      );
    }),
    { numRuns: 100 },
  );
});

test("the joined text is the record that the schema describes, and chosen columns are a part of it", () => {
  fc.assert(
    fc.property(market, fc.subarray(["id", "num_gpus", "score", "search", "no_such"]), (machines, columns) => {
      const index = new OfferIndex();
      for (const machine of machines) index.replace(machine);
      const caller = { now: NOW, rentedMachines: new Set<MachineId>() };
      const { offers: text, matching } = searchText(index, {}, caller);
      const offers = JSON.parse(text);
      assert.deepEqual([...offersBody.Errors({ offers, matching })], []);
      const names = Object.keys(OffersBody.properties.offers.items.properties).toSorted();
      for (const offer of offers) assert.deepEqual(Object.keys(offer).toSorted(), names);
      const chosen = JSON.parse(searchText(index, {}, caller, { chosen: new Set(columns) }).offers);
      const pick = (offer: object) =>
        Object.fromEntries(Object.entries(offer).filter(([name]) => columns.includes(name)));
      assert.deepEqual(chosen, offers.map(pick));
    }),
    { numRuns: 50 },
  );
});
