import type { DesiredInstance, ObservedInstance } from "../wire/messages.ts";
import type { Fault } from "../engine/engine.ts";
import type { OwnContainer } from "./identity.ts";
import { FIRST_IDENTITY_PORT } from "./ports.ts";
import { modeWord } from "./launch.ts";
import type { Counters } from "../meters/meter.ts";
import { isStale, newestFirst } from "./plan.ts";

/** The present step of the agent's work on an instance. */
export type Activity = {
  readonly generation: number;
  readonly state: "pulling" | "starting" | "stopping";
  readonly text: string;
  /** How far the pull of its image has come; absent while its size is not known, and beside other steps. */
  readonly pull?: NonNullable<ObservedInstance["pull"]>;
};
/** The last attempt of this generation did not succeed; another follows. */
export type Setback = { readonly generation: number; readonly message: string; readonly fault?: Fault };

export type ObserveInput = {
  readonly orders: readonly DesiredInstance[];
  /** The engine's full list; undefined until it has given one: until then no container is known to be absent. */
  readonly containers: readonly OwnContainer[] | undefined;
  /** Instances that have a disk here; undefined until the host has looked. */
  readonly disks: ReadonlySet<number> | undefined;
  readonly appliedGenerations: ReadonlyMap<number, number>;
  readonly activities: ReadonlyMap<number, Activity>;
  readonly setbacks: ReadonlyMap<number, Setback>;
  /** Container id → why the agent stopped it. */
  readonly halted: ReadonlyMap<string, string>;
  readonly counters: (instanceId: number, generation: number) => Counters;
  readonly usage: (own: OwnContainer) => ObservedInstance["usage"];
  readonly sshHostKey: (instanceId: number) => string | null;
  /** The reason why the engine gives no answer now; null when it does. */
  readonly engineProblem: string | null;
};

const MESSAGE_LIMIT = 4096;

/** The observed set: one entry for each instance that is ordered or has a container here. */
export function observe(input: ObserveInput): ObservedInstance[] {
  const byInstance = Map.groupBy(input.containers ?? [], (own) => own.instanceId);
  const observed: ObservedInstance[] = [];
  for (const order of input.orders) {
    const own = newestFirst(byInstance.get(order.instanceId) ?? [])[0];
    byInstance.delete(order.instanceId);
    const entry = observeOne(order.instanceId, order, own, input);
    if (entry) observed.push(entry);
  }
  for (const [instanceId, orphans] of byInstance) {
    const entry = observeOne(instanceId, undefined, newestFirst(orphans)[0], input);
    if (entry) observed.push(entry);
  }
  return observed;
}

type View = Pick<ObservedInstance, "state" | "generation" | "pull"> & { text: string; fault?: Fault };

function observeOne(
  instanceId: number,
  order: DesiredInstance | undefined,
  own: OwnContainer | undefined,
  input: ObserveInput,
): ObservedInstance | undefined {
  const view = viewOf(instanceId, order, own, input);
  if (!view) return undefined;
  const isRunning = own?.container.phase === "running";
  const problem = input.engineProblem;
  const text = problem === null || view.state === "absent" ? view.text : `the container engine is silent: ${problem}`;
  return {
    instanceId,
    generation: view.generation,
    state: view.state,
    statusMsg: text.slice(0, MESSAGE_LIMIT),
    ...(view.fault ? { fault: view.fault } : {}),
    ...(view.pull ? { pull: view.pull } : {}),
    ports: isRunning && view.state === "running" ? portsOf(own) : {},
    exitCode: isRunning || view.state === "absent" ? null : (own?.container.exitCode ?? null),
    sshHostKey: order?.ssh || order?.copies ? input.sshHostKey(instanceId) : null,
    usage: isRunning && own ? input.usage(own) : null,
    counters: input.counters(instanceId, view.generation),
  };
}

function viewOf(
  instanceId: number,
  order: DesiredInstance | undefined,
  own: OwnContainer | undefined,
  input: ObserveInput,
): View | undefined {
  const stale = order !== undefined && isStale(order, own, input.appliedGenerations.get(instanceId));
  const activity = input.activities.get(instanceId);
  if (order?.run === "stopped" && !stale && !own && input.containers !== undefined) {
    // Making a container starts no process, so the instance is stopped whether that succeeds or not.
    return { state: "stopped", generation: order.generation, text: activity?.text ?? "stopped before it was made" };
  }
  if (activity) return activity;
  const setback = input.setbacks.get(instanceId);
  // A process that runs is reported as running, also after a setback.
  if (setback && own?.container.phase !== "running") {
    const { generation, message: text, fault } = setback;
    return { state: "failed", generation, text, ...(fault ? { fault } : {}) };
  }
  if (own) return viewContainer(stale ? undefined : order, own, input, setback);
  if (!order) return undefined;
  if (input.containers === undefined || input.disks === undefined) {
    return { state: "failed", generation: order.generation, text: "the container engine has not answered yet" };
  }
  const applied = Math.max(order.generation, input.appliedGenerations.get(instanceId) ?? 0);
  if (stale || order.run === "absent") {
    if (input.disks.has(instanceId)) return { state: "stopping", generation: applied, text: "removing its disk" };
    return { state: "absent", generation: applied, text: "nothing is left" };
  }
  return { state: "starting", generation: order.generation, text: "waiting to be created" };
}

function viewContainer(
  order: DesiredInstance | undefined,
  own: OwnContainer,
  input: ObserveInput,
  setback: Setback | undefined,
): View {
  const { container, generation } = own;
  const halted = input.halted.get(container.id);
  if (container.phase === "running") {
    if (setback) return { state: "running", generation, text: setback.message };
    const text = order ? `success, running ${order.image}/${modeWord(order.command)}` : "running";
    return { state: "running", generation, text };
  }
  if (!own.hasBegun) {
    // Made or kept for a run that has not begun; a container that ran in an older generation holds its disk.
    const isNew = container.startedAtMs === null;
    return { state: isNew ? "created" : "stopped", generation, text: isNew ? "created" : "stopped" };
  }
  if (halted !== undefined || order?.run === "stopped") {
    return { state: "stopped", generation, text: halted ?? "stopped" };
  }
  return { state: "exited", generation, text: describeExit(container.exitCode) };
}

/** Exit codes by the shells' convention: their meaning, and the renter's next step. */
const EXIT_ADVICE: Readonly<Record<number, string>> = {
  0: "it had nothing more to do; start it with a program that keeps running, or use an ssh launch mode",
  126: "the program could not be executed; check its permissions and the image's architecture",
  127: "the program was not found in the image; check the entrypoint and the arguments",
  137: "it was killed, by a signal or for lack of memory; rent more memory or look at its log",
};

function describeExit(exitCode: number | null): string {
  const ended = `the main process ended with code ${exitCode ?? "unknown"}`;
  const advice = exitCode === null ? undefined : EXIT_ADVICE[exitCode];
  return `${ended}: ${advice ?? "its log says why"}`;
}

/** `"8080/tcp": 33526`. An identity port stands under its own number, the same on both sides. */
function portsOf(own: OwnContainer): Record<string, number> {
  const ports: Record<string, number> = own.sshPort === null ? {} : { "22/tcp": own.sshPort };
  for (const port of own.container.ports) {
    if (port.containerPort < FIRST_IDENTITY_PORT) ports[`${port.containerPort}/${port.protocol}`] = port.hostPort;
  }
  return ports;
}
