import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { DesiredInstance, Notice } from "../wire/messages.ts";
import { order } from "../../test/fixtures.ts";
import type { Container } from "../engine/engine.ts";
import { LABEL_INSTANCE, readIdentity, settledName, type OwnContainer } from "../instances/identity.ts";
import {
  describeInterruption,
  endNotices,
  heedNotices,
  recallNotices,
  takeNotices,
  type Moment,
  type TakenNotices,
} from "./taken-notices.ts";

const NONE: TakenNotices = new Map();
const START: Moment = { monotonicMs: 5_000, nowMs: 1_900_000_000_400 };

function notice(remainingMs: number, changes: Partial<Notice> = {}): Notice {
  return { reason: "outbid", remainingMs, message: "a higher bid", ...changes };
}
function leaving(remainingMs: number, changes: Partial<DesiredInstance> = {}): DesiredInstance {
  return order(1, { notice: notice(remainingMs), ...changes });
}
function own(phase: Container["phase"], generation = 1): OwnContainer {
  const found = readIdentity({
    id: "c1",
    name: settledName(1, generation),
    labels: { [LABEL_INSTANCE]: "1" },
    phase,
    exitCode: phase === "exited" ? 0 : null,
    startedAtMs: phase === "created" ? null : 1,
    finishedAtMs: phase === "exited" ? 2 : null,
    ports: [],
    network: null,
    layerDirectory: null,
  });
  assert.ok(found);
  return found;
}
const at = (passedMs: number): Moment => ({
  monotonicMs: START.monotonicMs + passedMs,
  nowMs: START.nowMs + passedMs,
});
const look = (takenNotices: TakenNotices, passedMs: number, containers: readonly OwnContainer[], busy = false) =>
  endNotices(takenNotices, { monotonicMs: at(passedMs).monotonicMs, containers, isBusy: () => busy });

describe("the end of a notice", () => {
  it("is fixed when the notice is first seen, and the same order does not move it", () => {
    const first = takeNotices(NONE, [leaving(30_000)], START);
    const again = takeNotices(first, [leaving(30_000)], at(10_000));
    assert.deepEqual(again, first);
    assert.equal(again.get(1)?.endsAtMs, 35_000);
  });

  it("is the earliest of all orders of its generation, and another generation's is its own", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(50_000), fc.nat(50_000)), { minLength: 1 }), (orders) => {
        let takenNotices = NONE;
        let passedMs = 0;
        let earliestMs = Infinity;
        for (const [pauseMs, remainingMs] of orders) {
          passedMs += pauseMs;
          takenNotices = takeNotices(takenNotices, [leaving(remainingMs)], at(passedMs));
          earliestMs = Math.min(earliestMs, at(passedMs).monotonicMs + remainingMs);
        }
        assert.equal(takenNotices.get(1)?.endsAtMs, earliestMs);
        const next = takeNotices(takenNotices, [leaving(60_000, { generation: 2 })], at(passedMs));
        assert.equal(next.get(1)?.endsAtMs, at(passedMs).monotonicMs + 60_000);
      }),
    );
  });

  it("is told with what an earlier process of the same boot knew, and forgotten with the boot", () => {
    const notices = Object.fromEntries(takeNotices(NONE, [leaving(30_000)], START));
    const [base, bootId] = [{ lease: { grantedAtMs: 0, leaseMs: 0 }, halted: {}, running: [] }, "boot"];
    const rest = { images: {}, keys: {}, pulledImages: {}, guardedImages: [], meters: {} };
    const recalled = recallNotices({ ...base, ...rest, bootId, notices }, bootId);
    assert.equal(takeNotices(recalled, [leaving(30_000)], at(20_000)).get(1)?.endsAtMs, 35_000);
    assert.equal(recallNotices({ ...base, ...rest, bootId, notices }, "another boot").size, 0);
    assert.equal(recallNotices({ ...base, ...rest, bootId }, bootId).size, 0);
  });
});

describe("a run under notice", () => {
  it("goes on until the end and is an order for a stopped instance from then on", () => {
    const takenNotices = takeNotices(NONE, [leaving(30_000)], START);
    const before = look(takenNotices, 29_999, [own("running")]);
    assert.equal(heedNotices([leaving(30_000)], before)[0]?.run, "running");
    const after = look(takenNotices, 30_000, [own("running")]);
    assert.equal(heedNotices([leaving(30_000)], after)[0]?.run, "stopped");
  });

  it("is over when its process has ended, and when it has not begun", () => {
    const takenNotices = takeNotices(NONE, [leaving(30_000)], START);
    for (const containers of [[own("exited")], [own("created")], [], [own("running", 0)]]) {
      assert.equal(look(takenNotices, 1, containers).get(1)?.isOver, true);
    }
    assert.equal(look(takenNotices, 1, [], true).get(1)?.isOver, false, "a start is under way");
  });

  it("stays over when the notice is taken back, until a newer generation is ordered", () => {
    const over = look(takeNotices(NONE, [leaving(0)], START), 0, [own("running")]);
    const relieved = takeNotices(over, [order(1)], at(1));
    assert.equal(heedNotices([order(1)], relieved)[0]?.run, "stopped");
    const next = order(1, { generation: 2 });
    const renewed = takeNotices(relieved, [next], at(2));
    assert.deepEqual([renewed.size, heedNotices([next], renewed)[0]?.run], [0, "running"]);
  });

  it("goes on as ever when the notice is taken back before", () => {
    const takenNotices = look(takeNotices(NONE, [leaving(30_000)], START), 10, [own("running")]);
    assert.equal(takeNotices(takenNotices, [order(1)], at(20)).size, 0);
    assert.equal(takeNotices(takenNotices, [order(1, { run: "stopped" })], at(20)).size, 0);
    assert.equal(takeNotices(takenNotices, [], at(20)).size, 0);
  });

  it("does not stop what was ordered to be removed, nor another generation", () => {
    const over = look(takeNotices(NONE, [leaving(0)], START), 0, [own("running")]);
    for (const changed of [order(1, { run: "absent" }), order(1, { generation: 2 })]) {
      assert.deepEqual(heedNotices([changed], over), [changed]);
    }
  });
});

describe("the text inside", () => {
  it("has times in whole seconds since the epoch, and never promises more than there is", () => {
    const { message } = notice(0);
    const taken = takeNotices(NONE, [leaving(30_000)], START).get(1);
    assert.ok(taken);
    const text: unknown = JSON.parse(describeInterruption(taken, at(2_000)));
    const times = { noticed_at: 1_900_000_000, stops_at: 1_900_000_030, seconds: 30 };
    assert.deepEqual(text, { reason: "outbid", message, ...times });
  });
});
