import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type MachineId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import { middleOf } from "./rules/countries.ts";
import { placesOf } from "./rules/places.ts";
import { countGpus, percentilesOf, sampleMarket } from "./rules/sample.ts";

const priced = fc.array(fc.record({ price: fc.bigInt({ min: 0n, max: 20n }), count: fc.integer({ min: 0, max: 9 }) }));

test("a percentile is the price of one of the GPUs, at or below which are at least so many of them and no fewer", () => {
  fc.assert(
    fc.property(priced, (given) => {
      // One entry for each GPU, in order: the plainest definition.
      const each = given.flatMap(({ price, count }) => Array.from({ length: count }, () => price));
      each.sort((a, b) => Number(a - b));
      const naive = (percent: number) => each[Math.ceil((each.length * percent) / 100) - 1];
      assert.deepEqual(percentilesOf(given), {
        p10: naive(10),
        p25: naive(25),
        p50: naive(50),
        p75: naive(75),
        p90: naive(90),
      });
    }),
  );
});

const machines = fc.array(
  fc.record({
    gpuName: fc.constantFrom("RTX 4090", "H100 SXM"),
    usableCount: fc.integer({ min: 0, max: 8 }),
    faultyCount: fc.integer({ min: 0, max: 2 }),
    isResting: fc.boolean(),
    rentedCount: fc.integer({ min: 0, max: 8 }),
    isVerified: fc.boolean(),
    hostingType: fc.constantFrom(0, 1),
    isListed: fc.boolean(),
    geolocation: fc.constantFrom("Oslo, NO", "Reno, us", ", DE", "nowhere", "Bonn, QQ"),
  }),
  { maxLength: 12 },
);

function counted(given: readonly (typeof machines extends fc.Arbitrary<(infer M)[]> ? M : never)[]) {
  const described = given.map((machine, index) => ({
    ...machine,
    id: asId<MachineId>(index + 1),
    presentCount: machine.usableCount + machine.faultyCount,
    dlperf: 100,
    tflops: 80,
    isConnected: true,
    restsUntilAt: undefined,
    offerEndAt: new Date(0),
    priceDeviceNanosPerHour: nanos(BigInt(index)),
  }));
  const rented = described.flatMap(({ id, rentedCount: count }) =>
    count === 0 ? [] : [{ machineId: id, priceNanosPerDeviceHour: nanos(7n), count }],
  );
  return countGpus(described, rented, (machine) => {
    if (!machine.isListed) return "unlisted";
    return described.find(({ id }) => id === machine.id)?.isResting === true ? "closed" : "open";
  });
}

test("every GPU is counted once in each scope that it belongs to, and the scopes add up", () => {
  fc.assert(
    fc.property(machines, (given) => {
      const samples = sampleMarket(counted(given));
      for (const name of ["RTX 4090", "H100 SXM"]) {
        const of = (verified: string, hosting: string, bucket = "all") => {
          const found = samples.filter(
            (s) => s.gpuName === name && s.verified === verified && s.hosting === hosting && s.bucket === bucket,
          );
          assert.ok(found.length <= 1);
          return ["rentedCount", "availableCount", "unavailableCount"].map((field) =>
            Number(Reflect.get(found[0] ?? {}, field) ?? 0),
          );
        };
        const add = (a: readonly number[], b: readonly number[]) => a.map((count, index) => count + (b[index] ?? 0));
        for (const hosting of ["all", "secure_cloud", "community"]) {
          assert.deepEqual(of("all", hosting), add(of("yes", hosting), of("no", hosting)));
        }
        for (const verified of ["all", "yes", "no"]) {
          assert.deepEqual(of(verified, "all"), add(of(verified, "secure_cloud"), of(verified, "community")));
          const bySize = ["1", "2", "4", "8", "other"].map((bucket) => of(verified, "all", bucket));
          assert.deepEqual(of(verified, "all"), bySize.reduce(add));
        }
        const own = given.filter(({ gpuName }) => gpuName === name);
        const rented = own.reduce((sum, { rentedCount }) => sum + rentedCount, 0);
        const free = own.reduce(
          (sum, { isListed, isResting, usableCount, rentedCount }) =>
            sum + (isListed && !isResting ? Math.max(0, usableCount - rentedCount) : 0),
          0,
        );
        const closed = own.reduce((sum, { isListed, isResting, usableCount, faultyCount, rentedCount }) => {
          const taken = isResting ? rentedCount : Math.max(rentedCount, usableCount);
          return sum + (isListed ? Math.max(0, usableCount + faultyCount - taken) : 0);
        }, 0);
        assert.deepEqual(of("all", "all"), [rented, free, closed]);
      }
    }),
  );
});

test("names and figures that a host invents neither grow the census without end nor move it far", () => {
  const [model] = counted([
    {
      gpuName: "RTX 4090",
      usableCount: 8,
      faultyCount: 0,
      isResting: false,
      rentedCount: 0,
      isVerified: true,
      hostingType: 0,
      isListed: true,
      geolocation: "Oslo, NO",
    },
  ]);
  assert.ok(model);
  const invented = Array.from({ length: 1000 }, (_, index) => ({
    ...model,
    machine: { ...model.machine, gpuName: `RTX ${index}`, isVerified: false },
    availableCount: 1000,
  }));
  const lies = { ...model.machine, dlperf: 1e6, tflops: 1e6 };
  const liar = { ...model, machine: lies, availableCount: 7 };
  const offline = { ...model, machine: lies, availableCount: 0, unavailableCount: 1000 };
  const samples = sampleMarket([...invented, liar, offline, model]);
  assert.ok(new Set(samples.map(({ gpuName }) => gpuName)).size <= 300);
  const { dlperf, tflops } =
    samples.find(({ gpuName, verified, bucket }) => gpuName === "RTX 4090" && verified === "yes" && bucket === "all") ??
    {};
  assert.deepEqual([dlperf, tflops], [100, 80]);
});

test("places hold every GPU once, without a point where the country is not known", () => {
  fc.assert(
    fc.property(machines, (given) => {
      const all = counted(given);
      const places = placesOf(all);
      const total = all.reduce(
        (sum, { rentedCount, availableCount, unavailableCount }) =>
          sum + rentedCount + availableCount + unavailableCount,
        0,
      );
      assert.equal(
        places.reduce((sum, { num_gpus: count }) => sum + count, 0),
        total,
      );
      for (const place of places) {
        assert.equal(place.latitude === null, !["NO", "US", "DE"].includes(place.country_code));
      }
    }),
  );
  assert.deepEqual(middleOf("NO"), { latitude: 61, longitude: 9 });
});
