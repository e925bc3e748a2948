import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOf } from "./host-fault.ts";
import { decide, PHASES, TRANSITIONS, type LifecycleEvent, type Phase } from "./lifecycle.ts";

const EVENTS = Object.keys(TRANSITIONS.running) as LifecycleEvent[];
const UP: readonly Phase[] = ["running", "yielding"];

/** Every move that the table of phases allows. */
function* moves() {
  for (const phase of PHASES) {
    for (const event of EVENTS) {
      const decision = decide(phase, event, event === "destroyRequested" ? "destroyed" : "running");
      if (decision.kind === "move") yield { phase, event, to: decision.to };
    }
  }
}

test("a run on a healthy machine ends by a fault of its host only when the host is lost, or stops or loses the run", () => {
  for (const move of moves()) {
    const { phase, event } = move;
    const isStopped = phase === "running" && (event === "containerStopped" || event === "containerAbsent");
    const expected = event === "hostLost" ? "host_lost" : isStopped ? "host_stopped" : undefined;
    assert.equal(faultOf({ ...move, deviceProblem: "" }), expected, `${phase} ${event}`);
  }
});

test("a run that ends while its GPUs are sick ends by that fault for any cause, and a run that goes on has no fault", () => {
  for (const move of moves()) {
    const isEnd = UP.includes(move.phase) && !UP.includes(move.to);
    const fault = faultOf({ ...move, deviceProblem: "GPU 0: too hot" });
    if (isEnd) assert.notEqual(fault, undefined, `${move.phase} ${move.event}`);
    else assert.ok(fault === undefined || move.event === "hostLost", `${move.phase} ${move.event}`);
  }
});
