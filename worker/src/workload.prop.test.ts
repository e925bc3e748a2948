import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Workload, type Entry } from "./workload.ts";

const step = fc.oneof(
  fc.record({ kind: fc.constant("enter" as const), load: fc.integer({ min: 0, max: 1_000 }) }),
  fc.record({ kind: fc.constant("reject" as const), load: fc.integer({ min: 0, max: 1_000 }) }),
  fc.record({
    kind: fc.constant("end" as const),
    which: fc.nat(),
    status: fc.constantFrom("Success" as const, "Error" as const, "Cancelled" as const),
  }),
  fc.record({ kind: fc.constant("report" as const), isTaken: fc.boolean() }),
  fc.record({ kind: fc.constant("tell" as const), isTaken: fc.boolean() }),
);

test("accepted reports add up to the real counts, and each request is reported exactly once, whichever reports fail", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const workload = new Workload();
      const open: Entry[] = [];
      const told: number[] = [];
      const actual = { served: 0, received: 0, rejected: 0 };
      const reported = { served: 0, received: 0, rejected: 0 };
      let idx = 0;
      let ended = 0;
      const report = (isTaken: boolean) => {
        const { deltas } = workload;
        if (!isTaken) return;
        workload.settle(deltas);
        reported.served += deltas.served;
        reported.received += deltas.received;
        reported.rejected += deltas.rejected;
      };
      const tell = (isTaken: boolean) => {
        const finished = workload.takeFinished(3);
        if (isTaken) told.push(...finished.map(({ request_idx }) => request_idx));
        else workload.putBack(finished);
      };
      for (const one of steps) {
        if (one.kind === "enter") {
          open.push(workload.enter((idx += 1), one.load, 0));
          actual.received += one.load;
        } else if (one.kind === "reject") {
          workload.reject((idx += 1), one.load, 0);
          actual.rejected += one.load;
          ended += 1;
        } else if (one.kind === "end" && open.length > 0) {
          const [entry] = open.splice(one.which % open.length, 1);
          assert.ok(entry);
          workload.end(entry, one.status, 1);
          workload.end(entry, "Success", 2);
          if (one.status === "Success") actual.served += entry.load;
          if (one.status === "Cancelled") actual.received -= entry.load;
          ended += 1;
        } else if (one.kind === "report") report(one.isTaken);
        else if (one.kind === "tell") tell(one.isTaken);
        assert.equal(
          workload.currentLoad,
          open.reduce((total, { load }) => total + load, 0),
        );
      }
      report(true);
      while (workload.finishedCount > 0) tell(true);
      assert.deepEqual(reported, actual);
      assert.deepEqual([told.length, new Set(told).size], [ended, ended]);
    }),
  );
});
