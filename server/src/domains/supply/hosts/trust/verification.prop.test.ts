import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  checkMachine,
  decideVerification,
  neededMbps,
  type Verification,
  type VerificationFacts,
} from "./rules/verification.ts";

/** A machine with eight RTX 4090 that meets every requirement. */
const GOOD: VerificationFacts = {
  isReal: true,
  hasGpus: true,
  gpuCount: 8,
  gpuMemoryMb: 24_576,
  totalMemoryMb: 8 * 24_576,
  cudaMax: 12,
  portCount: 24,
  inetUpMbps: 499,
  inetDownMbps: 499,
  reliabilityPpm: 900_000,
  hasStarted: true,
  isUplinkMeasured: true,
  hasSlowUplink: false,
};
const missing = (facts: Partial<VerificationFacts>) =>
  checkMachine({ ...GOOD, ...facts }).flatMap(({ name, isPassed }) => (isPassed ? [] : [name]));
const decide = (current: Verification, facts: Partial<VerificationFacts>) =>
  decideVerification(current, checkMachine({ ...GOOD, ...facts }));

test("each minimum is exactly what it says", () => {
  assert.deepEqual(missing({}), []);
  assert.deepEqual(missing({ cudaMax: 11.9 }), ["cuda_max_good"]);
  assert.deepEqual(missing({ reliabilityPpm: 899_900 }), ["reliability"]);
  assert.deepEqual(missing({ portCount: 23 }), ["direct_port_count"]);
  assert.deepEqual(missing({ inetUpMbps: 498 }), ["inet_up"]);
  assert.deepEqual(missing({ inetDownMbps: 498 }), ["inet_down"]);
  assert.deepEqual(missing({ gpuMemoryMb: 6_999 }), ["gpu_ram"]);
  assert.deepEqual(missing({ hasStarted: false }), ["has_started"]);
  assert.deepEqual(missing({ isReal: false }), ["is_real"]);
  assert.deepEqual(missing({ isUplinkMeasured: false }), ["line_measured"]);
  assert.deepEqual(missing({ hasSlowUplink: true }), ["line_credible"]);
});

test("the needed speed follows the memory of all GPUs, from 100 to 500", () => {
  assert.equal(neededMbps({ totalMemoryMb: 0 }), 100);
  assert.equal(neededMbps({ totalMemoryMb: 100 * 1024 }), 260);
  assert.equal(neededMbps({ totalMemoryMb: 1_000_000 }), 500);
});

test("a machine that rents out its cores is not asked for GPUs", () => {
  const cpu = { hasGpus: false, gpuCount: 0, gpuMemoryMb: 0, totalMemoryMb: 0, cudaMax: 0, portCount: 3 };
  assert.deepEqual(missing({ ...cpu, inetUpMbps: 100, inetDownMbps: 100 }), []);
  assert.deepEqual(missing({ ...GOOD, gpuCount: 0, gpuMemoryMb: 0, totalMemoryMb: 0 }), ["gpu_ram"]);
});

test("values that vary by themselves may become a little worse before they cost the verification", () => {
  assert.equal(decide("verified", { reliabilityPpm: 850_000 }), "verified");
  assert.equal(decide("verified", { reliabilityPpm: 849_900 }), "deverified");
  assert.equal(decide("deverified", { reliabilityPpm: 899_900 }), "deverified");
  assert.equal(decide("deverified", {}), "verified");
  assert.equal(decide("verified", { inetUpMbps: 400 }), "verified");
  assert.equal(decide("verified", { inetUpMbps: 399 }), "deverified");
  assert.equal(decide("verified", { cudaMax: 11.8 }), "deverified");
  assert.equal(decide("verified", { isUplinkMeasured: false }), "verified");
  assert.equal(decide("verified", { hasSlowUplink: true }), "deverified");
});

const anyFacts: fc.Arbitrary<VerificationFacts> = fc.record({
  isReal: fc.boolean(),
  hasGpus: fc.boolean(),
  gpuCount: fc.nat(16),
  gpuMemoryMb: fc.nat(200_000),
  totalMemoryMb: fc.nat(2_000_000),
  cudaMax: fc.double({ min: 0, max: 20, noNaN: true }),
  portCount: fc.nat(2_000),
  inetUpMbps: fc.double({ min: 0, max: 10_000, noNaN: true }),
  inetDownMbps: fc.double({ min: 0, max: 10_000, noNaN: true }),
  reliabilityPpm: fc.nat(1_000_000),
  hasStarted: fc.boolean(),
  isUplinkMeasured: fc.boolean(),
  hasSlowUplink: fc.boolean(),
});
const anyState = fc.constantFrom<Verification>("verified", "unverified", "deverified");

test("deciding again changes nothing, only the verified are deverified, and no new machine is", () => {
  fc.assert(
    fc.property(anyFacts, anyState, (facts, current) => {
      const checks = checkMachine(facts);
      const next = decideVerification(current, checks);
      assert.equal(decideVerification(next, checks), next);
      if (next === "deverified") assert.notEqual(current, "unverified");
      if (next === "verified") assert.ok(checks.every((check) => check.isKept));
      for (const check of checks) assert.ok(check.isKept || !check.isPassed, "what is passed is kept");
    }),
    { numRuns: 1000 },
  );
});
