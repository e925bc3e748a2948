import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { DesiredInstance } from "../../../protocol/index.ts";
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
  clock_ms: number;
  created: number;
};

const instanceId = fc.integer({ min: 1, max: 4 });
const generation = fc.integer({ min: 0, max: 4 });
const run = fc.constantFrom<DesiredInstance["run"]>("running", "stopped", "absent");
const digit = fc.integer({ min: 0, max: 1 });
const orders = fc.uniqueArray(
  fc
    .record({ instance_id: instanceId, generation, run, revision: digit, gpus: digit })
    .map(({ gpus, ...fields }) => order(fields.instance_id, { ...fields, gpu_uuids: gpus === 0 ? [] : ["GPU-1"] })),
  { selector: (one) => one.instance_id, maxLength: 4 },
);

/** A container in any situation in which a crash, an operator or the engine may leave it. */
const container = fc
  .record({
    id: fc.uuid(),
    instance_id: instanceId,
    generation,
    started_at_ms: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
    pending_after_ms: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
    isRunning: fc.boolean(),
    revision: digit,
    recipe: digit,
  })
  .map((fields): Container => {
    const { id, instance_id, started_at_ms, pending_after_ms } = fields;
    const isRunning = fields.isRunning && started_at_ms !== null;
    const name =
      pending_after_ms === null
        ? settledName(instance_id, fields.generation)
        : pendingName(instance_id, fields.generation, pending_after_ms);
    return {
      id,
      name,
      labels: {
        [LABEL_INSTANCE]: String(instance_id),
        [LABEL_RECIPE]: String(fields.recipe),
        [LABEL_REVISION]: String(fields.revision),
      },
      phase: isRunning ? "running" : started_at_ms === null ? "created" : "exited",
      exit_code: isRunning || started_at_ms === null ? null : 0,
      started_at_ms,
      finished_at_ms: isRunning || started_at_ms === null ? null : started_at_ms,
      ports: [],
      network: null,
      layer_directory: null,
    };
  });
const containers = fc.uniqueArray(container, { selector: (one) => one.id, maxLength: 6 });
const halts = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 });

const disks = fc.uniqueArray(instanceId);
const situation = fc.record({ orders, containers, halts, disks }).map((fields) => {
  const world: World = {
    containers: new Map(fields.containers.map((one) => [one.id, one])),
    halted: new Set(fields.containers.filter((_, index) => fields.halts[index] === true).map((one) => one.id)),
    disks: new Set([...fields.disks, ...fields.containers.map((one) => readIdentity(one)?.instance_id ?? 0)]),
    clock_ms: 100,
    created: 0,
  };
  return { orders: fields.orders, world };
});

function inputOf(world: World, desired: readonly DesiredInstance[], is_lease_live = true): PlanInput {
  const own = [...world.containers.values()].map(readIdentity).filter((one) => one !== undefined);
  const recipeOf = (one: DesiredInstance) => String(one.gpu_uuids.length);
  const { disks, halted } = world;
  return { orders: desired, containers: own, disks, recipeOf, floors: new Map(), halted, is_lease_live };
}

/** What the engine and the jobs make of one action, in the smallest possible model. */
function apply(world: World, action: Action): void {
  world.clock_ms += 1;
  if (action.kind === "create") {
    world.created += 1;
    const { instance_id, generation: made } = action.order;
    const id = `made-${world.created}`;
    const labels = {
      [LABEL_INSTANCE]: String(instance_id),
      [LABEL_RECIPE]: String(action.order.gpu_uuids.length),
      [LABEL_REVISION]: String(action.order.revision),
    };
    world.disks.add(instance_id);
    const times = { exit_code: null, started_at_ms: null, finished_at_ms: null };
    world.containers.set(id, {
      id,
      name: settledName(instance_id, made),
      labels,
      phase: "created",
      ...times,
      ports: [],
      network: null,
      layer_directory: null,
    });
    return;
  }
  if (action.kind === "erase") {
    world.disks.delete(action.instance_id);
    return;
  }
  const { container: one } = action.own;
  const change = (fields: Partial<Container>) => world.containers.set(one.id, { ...one, ...fields });
  if (action.kind === "remove") {
    world.containers.delete(one.id);
    if (!action.keeps_disk) world.disks.delete(action.own.instance_id);
  } else if (action.kind === "rename") change({ name: action.name });
  else if (action.kind === "stop") {
    world.halted.add(one.id);
    change({ phase: "exited", exit_code: 143, finished_at_ms: world.clock_ms });
  } else {
    world.halted.delete(one.id);
    const name = settledName(action.order.instance_id, action.order.generation);
    change({ name, phase: "running", exit_code: null, started_at_ms: world.clock_ms, finished_at_ms: null });
  }
}

function converge(world: World, desired: readonly DesiredInstance[], is_lease_live = true): Action[] {
  const done: Action[] = [];
  for (let round = 0; round < 10; round += 1) {
    const actions = plan(inputOf(world, desired, is_lease_live));
    if (actions.length === 0) return done;
    for (const action of actions) apply(world, action);
    done.push(...actions);
  }
  throw new Error("the plan does not converge");
}

function ownOf(world: World, instance_id: number): OwnContainer[] {
  return [...world.containers.values()]
    .flatMap((one) => readIdentity(one) ?? [])
    .filter((own) => own.instance_id === instance_id);
}

describe("the plan, over any situation", () => {
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
            one.run === "absent" && ownOf(world, one.instance_id).every((own) => own.generation <= one.generation),
        );
        converge(world, desired);
        for (const one of gone) assert.ok(!world.disks.has(one.instance_id));
        for (const id of world.disks) assert.ok(desired.some((one) => one.instance_id === id));
      }),
    );
  });

  it("never gives up a disk that a run of the same revision was written on", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        const kept = desired.filter(
          (one) => one.run !== "absent" && ownOf(world, one.instance_id).every((own) => own.revision >= one.revision),
        );
        const done = converge(world, desired);
        for (const action of done) {
          const isGone = action.kind === "erase" || (action.kind === "remove" && !action.keeps_disk);
          if (isGone) assert.ok(!kept.some((one) => one.instance_id === instanceOf(action)));
        }
      }),
    );
  });

  it("leaves one container at most for an instance, and none for one that is not desired", () => {
    fc.assert(
      fc.property(situation, ({ orders: desired, world }) => {
        converge(world, desired);
        for (let id = 1; id <= 4; id += 1) {
          assert.ok(ownOf(world, id).length <= (desired.some((one) => one.instance_id === id) ? 1 : 0));
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
          const all = ownOf(world, one.instance_id);
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
          ownOf(world, one.instance_id).every((own) => own.generation < one.generation),
        );
        converge(world, desired);
        for (const one of fresh) {
          const [own] = ownOf(world, one.instance_id);
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
          const one_order = desired.find((candidate) => candidate.instance_id === own?.instance_id);
          return (
            own?.has_begun &&
            one.phase === "exited" &&
            !world.halted.has(one.id) &&
            one_order?.generation === own.generation
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
        const done = converge(world, desired, false);
        assert.ok(!done.some((action) => action.kind === "start" || action.kind === "create"));
        assert.ok([...world.containers.values()].every((one) => one.phase !== "running"));
      }),
    );
  });

  it("before the server has said anything it does nothing but stop what has no lease", () => {
    fc.assert(
      fc.property(situation, fc.boolean(), ({ world }, is_lease_live) => {
        const input = { ...inputOf(world, []), orders: undefined, is_lease_live };
        for (const action of plan(input)) assert.deepEqual([is_lease_live, action.kind], [false, "stop"]);
      }),
    );
  });
});
