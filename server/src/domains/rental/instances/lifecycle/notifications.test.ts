import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, type InstanceId, type UserId } from "../../../../base/ids.ts";
import { tellingOf, type Moved } from "./notifications.ts";

const from = (phase: Moved["from"]["phase"], label?: string): Moved["from"] => ({
  id: asId<InstanceId>(7),
  userId: asId<UserId>(1),
  label,
  isBackground: false,
  phase,
});
const kindOf = (move: Omit<Moved, "cause" | "generation"> & Partial<Moved>) =>
  tellingOf({ cause: "c", generation: 1, ...move })?.kind;

test("each change in an instance's life has a notification of its own kind", () => {
  assert.equal(kindOf({ from: from("starting"), to: "running", event: "containerRunning" }), "client:instance_started");
  assert.equal(
    kindOf({ from: from("starting"), to: "running", event: "containerRunning", generation: 2 }),
    "client:instance_resumed",
  );
  assert.equal(kindOf({ from: from("stopping"), to: "stopped", event: "containerStopped" }), "client:instance_stopped");
  assert.equal(
    kindOf({ from: from("stopping"), to: "scheduled", event: "containerStopped" }),
    "client:instance_stopped",
  );
  assert.equal(kindOf({ from: from("ending"), to: "ended", event: "containerAbsent" }), "client:instance_deleted");
  assert.equal(kindOf({ from: from("running"), to: "yielding", event: "displaced" }), "client:outbid");
  assert.equal(kindOf({ from: from("running"), to: "stopping", event: "displacedAtOnce" }), "client:outbid");
});

test("intermediate steps have no notification", () => {
  assert.equal(kindOf({ from: from("running"), to: "stopping", event: "stopRequested" }), undefined);
  assert.equal(kindOf({ from: from("stopped"), to: "scheduled", event: "startRequested" }), undefined);
  assert.equal(kindOf({ from: from("yielding"), to: "running", event: "reprieved" }), undefined);
});

test("a notification fits its limit with a label of any length", () => {
  const move = { to: "ended", event: "containerAbsent", cause: "destroy_requested", generation: 3 } as const;
  const told = tellingOf({ ...move, from: from("ending", "🦊".repeat(5_000)) });
  assert.ok(told !== undefined && told.message.length < 1_000 && told.message.isWellFormed());
  assert.match(told.message, /^Instance 7 \(🦊/u);
});
