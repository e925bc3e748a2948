import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type EndpointGroupId, type InstanceId } from "../../../base/ids.ts";
import { finishedPayloads, readFinished, type Finished } from "./finished-elsewhere.ts";

const finished = fc.record({
  endpointId: fc.nat(2_147_483_647).map((id) => asId<EndpointGroupId>(id)),
  workerId: fc
    .option(fc.integer({ min: 1, max: 2_147_483_647 }), { nil: undefined })
    .map((id) => (id === undefined ? undefined : asId<InstanceId>(id))),
  requestIdxs: fc.array(fc.nat(Number.MAX_SAFE_INTEGER), { maxLength: 1_000 }),
});

test("finished requests reach every other server whole, in messages that PostgreSQL accepts, and not the sender", () => {
  fc.assert(
    fc.property(fc.array(finished, { maxLength: 20 }), (told) => {
      const payloads = finishedPayloads("one", told);
      assert.ok(payloads.every((payload) => payload.length < 8_000));
      const flat = (all: readonly Finished[]) =>
        all.flatMap(({ endpointId, workerId, requestIdxs }) => requestIdxs.map((idx) => [endpointId, workerId, idx]));
      assert.deepEqual(flat(payloads.flatMap((payload) => [...readFinished(payload, "two")])), flat(told));
      assert.deepEqual(
        payloads.flatMap((payload) => readFinished(payload, "one")),
        [],
      );
    }),
    { numRuns: 30 },
  );
});
