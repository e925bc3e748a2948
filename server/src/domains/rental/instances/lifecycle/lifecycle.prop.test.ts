import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  decide,
  HOLDING_PHASES,
  PHASES,
  TRANSITIONS,
  type DesiredState,
  type Effect,
  type LifecycleEvent,
  type Phase,
} from "./rules/lifecycle.ts";

const EVENTS = Object.keys(TRANSITIONS.running) as LifecycleEvent[];
const DESIRED = ["running", "stopped", "destroyed"] as const satisfies readonly DesiredState[];
const event = fc.constantFrom(...EVENTS);

/** All single steps are checked, because they are few and a random choice would miss most of them. */
const STEPS = PHASES.flatMap((from) =>
  EVENTS.flatMap((name) => DESIRED.map((wanted) => ({ from, name, wanted, decision: decide(from, name, wanted) }))),
);
const MOVES = STEPS.flatMap(({ decision, ...step }) => (decision.kind === "move" ? [{ ...step, decision }] : []));

/** The intent that a user's event leaves behind, as the service writes it. */
function desiredAfter(before: DesiredState, name: LifecycleEvent): DesiredState {
  if (before === "destroyed" || name === "destroyRequested") return "destroyed";
  if (name === "startRequested" || name === "rebootRequested" || name === "renewalRequested") return "running";
  return name === "stopRequested" || name === "deadlinePassed" ? "stopped" : before;
}

test("devices are released only by a receipt or a certain loss of the host", () => {
  const certain: ReadonlySet<LifecycleEvent> = new Set(["containerStopped", "containerAbsent", "hostLost"]);
  for (const { from, name, decision } of MOVES) {
    const isLeavingHold = HOLDING_PHASES.has(from) && !HOLDING_PHASES.has(decision.to);
    assert.equal(decision.effects.includes("releaseDevices"), isLeavingHold, `${from} ${name}`);
    if (isLeavingHold) assert.ok(certain.has(name), `${from} leaves its devices on ${name}`);
  }
});

test("devices are taken only by a grant, and every fresh run has a generation of its own", () => {
  for (const { from, name, decision } of MOVES) {
    if (!HOLDING_PHASES.has(from) && decision.to === "starting") assert.equal(name, "devicesGranted", from);
    assert.equal(decision.effects.includes("newGeneration"), decision.to === "starting", `${from} ${name}`);
  }
});

test("asking for the same thing twice is never an error and changes nothing the second time", () => {
  for (const name of ["startRequested", "stopRequested", "destroyRequested"] as const) {
    for (const { from, wanted: before } of STEPS.filter((step) => step.name === name)) {
      const wanted = desiredAfter(before, name);
      const first = decide(from, name, wanted);
      if (first.kind === "move") assert.equal(decide(first.to, name, wanted).kind, "stay", `${from} ${name}`);
    }
  }
});

test("an ended instance never leaves its phase", () => {
  fc.assert(
    fc.property(fc.constantFrom<Phase>("ending", "ended"), fc.array(event), (from, names) => {
      let current: Phase = from;
      for (const name of names) {
        const decision = decide(current, name, "destroyed");
        if (decision.kind === "move") current = decision.to;
      }
      assert.ok(current === "ending" || current === "ended");
    }),
  );
});

test("after any events a destroyed instance ends once its host confirms", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (names) => {
      let current: Phase = "scheduled";
      let wanted: DesiredState = "running";
      for (const name of [...names, "destroyRequested", "containerAbsent"] as const) {
        wanted = desiredAfter(wanted, name);
        const decision = decide(current, name, wanted);
        if (decision.kind === "move") current = decision.to;
      }
      assert.equal(current, "ended");
    }),
  );
});

test("the hold is released whenever nothing can become due any more", () => {
  const isOver: ReadonlySet<Phase> = new Set(["stopped", "ended"]);
  const released: Effect = "releaseHold";
  for (const { from, name, decision } of MOVES) {
    assert.equal(decision.effects.includes(released), isOver.has(decision.to), `${from} ${name} ${decision.to}`);
  }
});

test("a running instance that is displaced gets an eviction notice, which ends only by its time, a receipt, a request or a reprieve", () => {
  const running = decide("running", "displaced", "running");
  assert.ok(running.kind === "move" && running.to === "yielding" && running.effects.includes("tellAgent"));
  const ways: ReadonlySet<LifecycleEvent> = new Set([
    "deadlinePassed",
    "displacedAtOnce",
    "stopRequested",
    "destroyRequested",
    "containerStopped",
    "containerAbsent",
    "hostLost",
    "hostAhead",
    "reprieved",
  ]);
  for (const { name, decision } of STEPS.filter(({ from }) => from === "yielding")) {
    assert.equal(decision.kind === "move", ways.has(name), name);
    // An instance under an eviction notice begins no new run.
    if (decision.kind === "move") assert.ok(!decision.effects.includes("newGeneration"), name);
  }
});
