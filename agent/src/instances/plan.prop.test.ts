import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { DesiredInstance } from "../wire/messages.ts";
import { order } from "../../test/fixtures.ts";
import type { Container } from "../engine/engine.ts";
import {
  LABEL_INSTANCE,
  LABEL_RECIPE,
  LABEL_REVISION,
  pendingName,
  readIdentity,
  settledName,
  type OwnContainer,
} from "./identity.ts";
import { instanceOf, plan, type Action, type PlanInput } from "./plan.ts";

type World = {
  readonly containers: Map<string, Container>;
  readonly halted: Set<string>;
  readonly disks: Set<number>;
  clockMs: number;
  created: number;
};

const instanceId = fc.integer({ min: 1, max: 4 });
const generation = fc.integer({ min: 0, max: 4 });
const run = fc.constantFrom<DesiredInstance["run"]>("running", "stopped", "absent");
const digit = fc.integer({ min: 0, max: 1 });
const orders = fc.uniqueArray(
  fc
    .record({ instanceId: instanceId, generation, run, revision: digit, gpus: digit })
    .map(({ gpus, ...fields }) => order(fields.instanceId, { ...fields, gpuUuids: gpus === 0 ? [] : ["GPU-1"] })),
  { selector: (one) => one.instanceId, maxLength: 4 },
);

/** A container in any situation in which a crash, an operator or the engine may leave it. */
const container = fc
  .record({
    id: fc.uuid(),
    instanceId: instanceId,
    generation,
    startedAtMs: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
    pendingAfterMs: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
    isRunning: fc.boolean(),
    revision: digit,
    recipe: digit,
  })
  .map((fields): Container => {
    const { id, instanceId, startedAtMs, pendingAfterMs } = fields;
    const isRunning = fields.isRunning && startedAtMs !== null;
    const name =
      pendingAfterMs === null
        ? settledName(instanceId, fields.generation)
        : pendingName(instanceId, fields.generation, pendingAfterMs);
    return {
      id,
      name,
      labels: {
        [LABEL_INSTANCE]: String(instanceId),
        [LABEL_RECIPE]: String(fields.recipe),
        [LABEL_REVISION]: String(fields.revision),
      },
      phase: isRunning ? "running" : startedAtMs === null ? "created" : "exited",
      exitCode: isRunning || startedAtMs === null ? null : 0,
      startedAtMs,
      finishedAtMs: isRunning || startedAtMs === null ? null : startedAtMs,
      ports: [],
      network: null,
      layerDirectory: null,
    };
  });
const containers = fc.uniqueArray(container, { selector: (one) => one.id, maxLength: 6 });
const halts = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 });

const disks = fc.uniqueArray(instanceId);
const situation = fc.record({ orders, containers, halts, disks }).map((fields) => {
  const world: World = {
    containers: new Map(fields.containers.map((one) => [one.id, one])),
    halted: new Set(fields.containers.filter((_, index) => fields.halts[index] === true).map((one) => one.id)),
    disks: new Set([...fields.disks, ...fields.containers.map((one) => readIdentity(one)?.instanceId ?? 0)]),
    clockMs: 100,
    created: 0,
  };
  return { orders: fields.orders, world };
});

function inputOf(
  world: World,
  desired: readonly DesiredInstance[],
  { isLeaseLive = true, keptIds = [] }: Partial<PlanInput> = {},
): PlanInput {
  const own = [...world.containers.values()].map(readIdentity).filter((one) => one !== undefined);
  const recipeOf = (one: DesiredInstance) => String(one.gpuUuids.length);
  const { disks, halted } = world;
  const appliedGenerations = new Map<number, number>();
  return { orders: desired, containers: own, disks, recipeOf, appliedGenerations, halted, isLeaseLive, keptIds };
}

/** The effect of one action, in the smallest possible model of the engine and the jobs. */
function apply(world: World, action: Action): void {
  world.clockMs += 1;
  if (action.kind === "create") {
    world.created += 1;
    const { instanceId, generation: made } = action.order;
    const id = `made-${world.created}`;
    const labels = {
      [LABEL_INSTANCE]: String(instanceId),
      [LABEL_RECIPE]: String(action.order.gpuUuids.length),
      [LABEL_REVISION]: String(action.order.revision),
    };
    world.disks.add(instanceId);
    const times = { exitCode: null, startedAtMs: null, finishedAtMs: null };
    world.containers.set(id, {
      id,
      name: settledName(instanceId, made),
      labels,
      phase: "created",
      ...times,
      ports: [],
      network: null,
      layerDirectory: null,
    });
    return;
  }
  if (action.kind === "erase") {
    world.disks.delete(action.instanceId);
    return;
  }
  const { container: one } = action.own;
  const change = (fields: Partial<Container>) => world.containers.set(one.id, { ...one, ...fields });
  if (action.kind === "remove") {
    world.containers.delete(one.id);
    if (!action.keepsDisk) world.disks.delete(action.own.instanceId);
  } else if (action.kind === "rename") change({ name: action.name });
  else if (action.kind === "stop") {
    world.halted.add(one.id);
    change({ phase: "exited", exitCode: 143, finishedAtMs: world.clockMs });
  } else {
    world.halted.delete(one.id);
    const name = settledName(action.order.instanceId, action.order.generation);
    change({ name, phase: "running", exitCode: null, startedAtMs: world.clockMs, finishedAtMs: null });
  }
}

function converge(world: World, desired: readonly DesiredInstance[], changes: Partial<PlanInput> = {}): Action[] {
  const done: Action[] = [];
  for (let round = 0; round < 10; round += 1) {
    const actions = plan(inputOf(world, desired, changes));
    if (actions.length === 0) return done;
    for (const action of actions) apply(world, action);
    done.push(...actions);
  }
  throw new Error("the plan does not converge");
}

function ownOf(world: World, instanceId: number): OwnContainer[] {
  return [...world.containers.values()]
    .flatMap((one) => readIdentity(one) ?? [])
    .filter((own) => own.instanceId === instanceId);
}

describe("the plan, over any situation", () => {
  it("stops and keeps instances that a restored database does not know, and nothing else", () => {
    fc.assert(
      fc.property(situation, fc.integer({ min: 0, max: 4 }), ({ orders: desired, world }, after) => {
        const isKept = (id: number) => id > after && id <= 4 && desired.every((one) => one.instanceId !== id);
        const kept = [...world.containers.values()].filter((one) => isKept(Number(one.labels[LABEL_INSTANCE])));
        const keptDisks = [...world.disks].filter(isKept);
        converge(world, desired, { keptIds: [{ after, until: 4 }] });
        for (const { id } of kept) assert.notEqual(world.containers.get(id)?.phase ?? "gone", "gone");
        for (const { id } of kept) assert.notEqual(world.containers.get(id)?.phase, "running");
        for (const id of keptDisks) assert.ok(world.disks.has(id));
        const orphans = [...world.containers.values()].map((one) => Number(one.labels[LABEL_INSTANCE]));
        assert.deepEqual(
          orphans.filter((id) => !isKept(id) && desired.every((one) => one.instanceId !== id)),
          [],
        );
      }),
    );
  });

  it("converges, and over a converged state does nothing", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        converge(world, desired);
        assert.deepEqual(plan(inputOf(world, desired)), []);
      }),
    );
  });

  it("keeps the disk of everything that is desired, and no other", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        const gone = desired.filter(
          (one) =>
            one.run === "absent" && ownOf(world, one.instanceId).every((own) => own.generation <= one.generation),
        );
        converge(world, desired);
        for (const one of gone) assert.ok(!world.disks.has(one.instanceId));
        for (const id of world.disks) assert.ok(desired.some((one) => one.instanceId === id));
      }),
    );
  });

  it("never gives up a disk that a run of the same revision was written on", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        const kept = desired.filter(
          (one) => one.run !== "absent" && ownOf(world, one.instanceId).every((own) => own.revision >= one.revision),
        );
        const done = converge(world, desired);
        for (const action of done) {
          const isGone = action.kind === "erase" || (action.kind === "remove" && !action.keepsDisk);
          if (isGone) assert.ok(!kept.some((one) => one.instanceId === instanceOf(action)));
        }
      }),
    );
  });

  it("leaves one container at most for an instance, and none for one that is not desired", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        converge(world, desired);
        for (let id = 1; id <= 4; id += 1) {
          assert.ok(ownOf(world, id).length <= (desired.some((one) => one.instanceId === id) ? 1 : 0));
        }
      }),
    );
  });

  it("never touches the newest container of an instance for a stale order, except to settle its name", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        const touched = new Set(
          plan(inputOf(world, desired)).flatMap((action) =>
            action.kind === "remove" || action.kind === "stop" || action.kind === "start"
              ? [action.own.container.id]
              : [],
          ),
        );
        for (const one of desired) {
          const all = ownOf(world, one.instanceId);
          const newest = Math.max(-1, ...all.map((own) => own.generation));
          if (one.generation >= newest) continue;
          const left = all.filter((own) => !touched.has(own.container.id));
          assert.deepEqual(
            left.map((own) => own.generation),
            [newest],
          );
        }
      }),
    );
  });

  it("brings a fresh order to what it says", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        const fresh = desired.filter((one) =>
          ownOf(world, one.instanceId).every((own) => own.generation < one.generation),
        );
        converge(world, desired);
        for (const one of fresh) {
          const [own] = ownOf(world, one.instanceId);
          if (one.run === "absent") assert.equal(own, undefined);
          else
            assert.deepEqual(
              [own?.generation, own?.container.phase === "running"],
              [one.generation, one.run === "running"],
            );
        }
      }),
    );
  });

  it("never starts again what ended by itself in its generation", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        const spent = [...world.containers.values()].filter((one) => {
          const own = readIdentity(one);
          const oneOrder = desired.find((candidate) => candidate.instanceId === own?.instanceId);
          return (
            own?.hasBegun &&
            one.phase === "exited" &&
            !world.halted.has(one.id) &&
            oneOrder?.generation === own.generation
          );
        });
        const done = converge(world, desired);
        for (const one of spent) {
          assert.ok(!done.some((action) => action.kind === "start" && action.own.container.id === one.id));
        }
      }),
    );
  });

  it("with a dead lease nothing runs, nothing is started and nothing is made", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        const done = converge(world, desired, { isLeaseLive: false });
        assert.ok(!done.some((action) => action.kind === "start" || action.kind === "create"));
        assert.ok([...world.containers.values()].every((one) => one.phase !== "running"));
      }),
    );
  });

  it("before the server has said anything it does nothing but stop what has no lease", () => {
    fc.assert(
      fc.property(situation, fc.boolean(), ({ world }, isLeaseLive) => {
        const input = { ...inputOf(world, []), orders: undefined, isLeaseLive };
        for (const action of plan(input)) assert.deepEqual([isLeaseLive, action.kind], [false, "stop"]);
      }),
    );
  });
});
