import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DesiredInstance } from "../wire/messages.ts";
import { order } from "../../test/fixtures.ts";
import type { Container } from "../engine/engine.ts";
import {
  LABEL_GENERATION,
  LABEL_INSTANCE,
  pendingName,
  readIdentity,
  settledName,
  type OwnContainer,
} from "./identity.ts";
import { plan, type PlanInput } from "./plan.ts";

function own(changes: Partial<Container> = {}): OwnContainer {
  const container: Container = {
    id: "one",
    name: settledName(1, 1),
    labels: { [LABEL_INSTANCE]: "1", [LABEL_GENERATION]: "1" },
    phase: "running",
    exitCode: null,
    startedAtMs: 1_000,
    finishedAtMs: null,
    ports: [],
    network: null,
    layerDirectory: null,
    ...changes,
  };
  const identity = readIdentity(container);
  assert.ok(identity);
  return identity;
}

const exited = { phase: "exited", exitCode: 0, finishedAtMs: 2_000 } as const;

function kinds(
  orders: PlanInput["orders"],
  containers: readonly OwnContainer[],
  changes: Partial<PlanInput> = {},
): string[] {
  const input: PlanInput = {
    orders,
    containers,
    disks: new Set(),
    recipeOf: () => "",
    appliedGenerations: new Map(),
    halted: new Set<string>(),
    isLeaseLive: true,
    keptIds: [],
    ...changes,
  };
  return plan(input).map((action) => action.kind);
}

describe("plan", () => {
  it("a disk without a container is deleted when nobody wants it, and kept for a container to come", () => {
    const disks = new Set([1]);
    assert.deepEqual(kinds([order(1, { run: "absent" })], [], { disks }), ["erase"]);
    assert.deepEqual(kinds([], [], { disks }), ["erase"]);
    assert.deepEqual(kinds([order(1)], [], { disks }), ["create"]);
    assert.deepEqual(kinds([order(1, { run: "absent" })], [own(exited)], { disks }), ["remove"]);
    assert.deepEqual(kinds(undefined, [], { disks }), []);
  });

  it("a container with another recipe is made again before its next start: on its disk, or on a new one for a newer revision", () => {
    const keeps = (desired: DesiredInstance, recipe: string) =>
      plan({
        orders: [desired],
        containers: [own(exited)],
        disks: new Set([1]),
        recipeOf: () => recipe,
        appliedGenerations: new Map(),
        halted: new Set(),
        isLeaseLive: true,
        keptIds: [],
      }).map((action) => (action.kind === "remove" ? action.keepsDisk : action.kind));
    assert.deepEqual(keeps(order(1, { generation: 2 }), "other"), [true]);
    assert.deepEqual(keeps(order(1, { generation: 2 }), ""), ["start"]);
    assert.deepEqual(keeps(order(1, { generation: 2, revision: 1 }), "other"), [false]);
    assert.deepEqual(keeps(order(1, { generation: 1 }), "other"), [], "what ended by itself stays as it is");
    assert.deepEqual(kinds([order(1, { revision: 1 })], [own()], { recipeOf: () => "other" }), [], "it runs");
  });

  it("a new instance is created, and then started", () => {
    assert.deepEqual(kinds([order(1)], []), ["create"]);
    assert.deepEqual(kinds([order(1)], [own({ phase: "created", startedAtMs: null })]), ["start"]);
  });

  it("a stopped order of an instance that never existed creates it without starting", () => {
    const stopped = order(1, { run: "stopped" });
    assert.deepEqual(kinds([stopped], []), ["create"]);
    assert.deepEqual(kinds([stopped], [own({ phase: "created", startedAtMs: null })]), []);
  });

  it("an absent order with nothing there has nothing to do", () => {
    assert.deepEqual(kinds([order(1, { run: "absent" })], []), []);
  });

  it("a newer generation of a running instance stops it first", () => {
    assert.deepEqual(kinds([order(1, { generation: 2 })], [own()]), ["stop"]);
    assert.deepEqual(kinds([order(1, { generation: 2 })], [own(exited)]), ["start"]);
  });

  it("a stale order is ignored, also after the container has gone", () => {
    assert.deepEqual(kinds([order(1, { generation: 0, run: "absent" })], [own()]), []);
    assert.deepEqual(kinds([order(1, { generation: 0, run: "stopped" })], [own()]), []);
    assert.deepEqual(kinds([order(1, { generation: 1 })], [], { appliedGenerations: new Map([[1, 2]]) }), []);
  });

  it("a process that ended by itself stays ended; one that the agent stopped goes on under its generation", () => {
    assert.deepEqual(kinds([order(1)], [own(exited)]), []);
    assert.deepEqual(kinds([order(1)], [own(exited)], { halted: new Set(["one"]) }), ["start"]);
  });

  it("a crash between renaming and starting is seen by the name", () => {
    const pending = { name: pendingName(1, 2, 1_000) };
    assert.deepEqual(kinds([order(1, { generation: 2 })], [own({ ...exited, ...pending })]), ["start"]);
    const started = own({ ...exited, ...pending, startedAtMs: 1_500 });
    assert.deepEqual(kinds([order(1, { generation: 2 })], [started]), ["rename"]);
    assert.deepEqual(kinds([order(1, { generation: 2 })], [own({ ...pending, startedAtMs: 1_500 })]), ["rename"]);
  });

  it("a container renamed by hand keeps the generation of its label", () => {
    assert.deepEqual(kinds([order(1)], [own({ name: "mine-now" })]), []);
  });

  it("a lost lease stops even what is otherwise right, and removal goes on", () => {
    assert.deepEqual(kinds([order(1)], [own()], { isLeaseLive: false }), ["stop"]);
    assert.deepEqual(kinds([order(1, { run: "absent" })], [own(exited)], { isLeaseLive: false }), ["remove"]);
  });
});
