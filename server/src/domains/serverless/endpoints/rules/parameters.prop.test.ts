import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../../base/errors.ts";
import { changeParameters, DEFAULT_PARAMETERS, planParameters, type ParameterRequest } from "./parameters.ts";

const anyNumber = fc.oneof(
  fc.double(),
  fc.integer({ min: -3, max: 30 }),
  fc.constantFrom(Number.NaN, Infinity, -0, 0, 0.9, 1, 1e308, 5e-324, 9_999_999_999, 1e10, 0.333333333333),
);
const names = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.constantFrom("a b", "", " ", "\n", "x\u2028y"),
);
const requests: fc.Arbitrary<ParameterRequest> = fc.record(
  {
    endpoint_name: names,
    endpoint_state: fc.constantFrom("active", "suspended", "stopped", "gone", ""),
    min_load: anyNumber,
    min_cold_load: anyNumber,
    target_util: anyNumber,
    cold_mult: anyNumber,
    cold_workers: anyNumber,
    min_workers: anyNumber,
    max_workers: anyNumber,
    max_queue_time: anyNumber,
    target_queue_time: anyNumber,
    inactivity_timeout: anyNumber,
  },
  { requiredKeys: [] },
);

test("accepted parameters are within the contract's limits, and a refusal names a field that was sent", () => {
  fc.assert(
    fc.property(requests, fc.boolean(), (request, isNew) => {
      let parameters;
      try {
        parameters = isNew ? planParameters(request) : changeParameters(DEFAULT_PARAMETERS, request);
      } catch (error) {
        assert.ok(error instanceof AppError && error.kind === "invalid");
        const field = String(error.extra["field"]);
        assert.ok(Object.hasOwn(request, field), `${field} was sent`);
        assert.ok(error.publicMessage.startsWith(field));
        return;
      }
      const { minLoad, minColdLoad, targetUtil, coldMult, coldWorkers, maxWorkers, name } = parameters;
      assert.ok(minLoad >= 0 && minColdLoad >= 0 && coldMult > 0);
      assert.ok(targetUtil > 0 && targetUtil <= 1);
      assert.ok(Number.isInteger(coldWorkers) && coldWorkers >= 0);
      assert.ok(Number.isInteger(maxWorkers) && maxWorkers >= 1);
      for (const value of [minLoad, minColdLoad, targetUtil, coldMult, coldWorkers, maxWorkers]) {
        assert.ok(String(value).length <= 10 && !Object.is(value, -0));
      }
      assert.ok(name.length >= 1 && name.length <= 255);
      assert.doesNotMatch(name, /\p{Cc}/u);
    }),
    { numRuns: 5000 },
  );
});

test("an empty change changes nothing, and the same change twice is the same as once", () => {
  fc.assert(
    fc.property(requests, (request) => {
      assert.deepEqual(changeParameters(DEFAULT_PARAMETERS, {}), DEFAULT_PARAMETERS);
      let once;
      try {
        once = changeParameters(DEFAULT_PARAMETERS, request);
      } catch {
        return;
      }
      assert.deepEqual(changeParameters(once, request), once);
    }),
  );
});
