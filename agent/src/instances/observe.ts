import type { DesiredInstance, ObservedInstance } from "../../../protocol/index.ts";
import type { Fault } from "../engine/engine.ts";
import type { OwnContainer } from "./identity.ts";
import { FIRST_IDENTITY_PORT } from "./ports.ts";
import { modeWord } from "./launch.ts";
import type { Counters } from "../meters/meter.ts";
import { isStale, newestFirst } from "./plan.ts";

/** What the agent is doing to an instance at this moment. */
export type Activity = {
  readonly generation: number;
  readonly state: "pulling" | "starting" | "stopping";
  readonly text: string;
};
/** The last attempt of this generation did not succeed; another follows. */
export type Setback = { readonly generation: number; readonly message: string; readonly fault?: Fault };

export type ObserveInput = {
  readonly orders: readonly DesiredInstance[];
  /** Undefined until the engine has been asked once: nothing is then known to be absent. */
  readonly containers: readonly OwnContainer[] | undefined;
  /** Instances that have a disk here; undefined until the host has looked. */
  readonly disks: ReadonlySet<number> | undefined;
  readonly floors: ReadonlyMap<number, number>;
  readonly activities: ReadonlyMap<number, Activity>;
  readonly setbacks: ReadonlyMap<number, Setback>;
  /** Container id → why the agent stopped it. */
  readonly halted: ReadonlyMap<string, string>;
  readonly counters: (instance_id: number, generation: number) => Counters;
  readonly usage: (own: OwnContainer) => ObservedInstance["usage"];
  readonly sshHostKey: (instance_id: number) => string | null;
  /** Why the engine gives no answer now; null when it does. */
  readonly engine_problem: string | null;
};

const MESSAGE_LIMIT = 4096;

/** The observed set: one entry for each instance that is ordered or has a container here. */
export function observe(input: ObserveInput): ObservedInstance[] {
  const byInstance = Map.groupBy(input.containers ?? [], (own) => own.instance_id);
  const observed: ObservedInstance[] = [];
  for (const order of input.orders) {
    const own = newestFirst(byInstance.get(order.instance_id) ?? [])[0];
    byInstance.delete(order.instance_id);
    const entry = observeOne(order.instance_id, order, own, input);
    if (entry) observed.push(entry);
  }
  for (const [instance_id, orphans] of byInstance) {
    const entry = observeOne(instance_id, undefined, newestFirst(orphans)[0], input);
    if (entry) observed.push(entry);
  }
  return observed;
}

type View = { state: ObservedInstance["state"]; generation: number; text: string; fault?: Fault };

function observeOne(
  instance_id: number,
  order: DesiredInstance | undefined,
  own: OwnContainer | undefined,
  input: ObserveInput,
): ObservedInstance | undefined {
  const view = viewOf(instance_id, order, own, input);
  if (!view) return undefined;
  const isRunning = own?.container.phase === "running";
  const problem = input.engine_problem;
  const text = problem === null || view.state === "absent" ? view.text : `the container engine is silent: ${problem}`;
  return {
    instance_id,
    generation: view.generation,
    state: view.state,
    status_msg: text.slice(0, MESSAGE_LIMIT),
    ...(view.fault ? { fault: view.fault } : {}),
    ports: isRunning && view.state === "running" ? portsOf(own) : {},
    exit_code: isRunning || view.state === "absent" ? null : (own?.container.exit_code ?? null),
    ssh_host_key: order?.ssh ? input.sshHostKey(instance_id) : null,
    usage: isRunning && own ? input.usage(own) : null,
    counters: input.counters(instance_id, view.generation),
  };
}

function viewOf(
  instance_id: number,
  order: DesiredInstance | undefined,
  own: OwnContainer | undefined,
  input: ObserveInput,
): View | undefined {
  const stale = order !== undefined && isStale(order, own, input.floors.get(instance_id));
  const activity = input.activities.get(instance_id);
  if (order?.run === "stopped" && !stale && !own && input.containers !== undefined) {
    // Making a container starts nothing, so whatever becomes of the image or the container: nothing runs.
    return { state: "stopped", generation: order.generation, text: activity?.text ?? "stopped before it was made" };
  }
  if (activity) return { state: activity.state, generation: activity.generation, text: activity.text };
  const setback = input.setbacks.get(instance_id);
  // A process that runs is running, whatever else did not work out.
  if (setback && own?.container.phase !== "running") {
    const { generation, message: text, fault } = setback;
    return { state: "failed", generation, text, ...(fault ? { fault } : {}) };
  }
  if (own) return viewContainer(stale ? undefined : order, own, input, setback);
  if (!order) return undefined;
  if (input.containers === undefined || input.disks === undefined) {
    return { state: "failed", generation: order.generation, text: "the container engine has not answered yet" };
  }
  const floor = Math.max(order.generation, input.floors.get(instance_id) ?? 0);
  if (stale || order.run === "absent") {
    if (input.disks.has(instance_id)) return { state: "stopping", generation: floor, text: "removing its disk" };
    return { state: "absent", generation: floor, text: "nothing is left" };
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
  if (!own.has_begun) {
    // Made or kept for a run that has not begun; a container that ran in an older generation holds its disk.
    const isNew = container.started_at_ms === null;
    return { state: isNew ? "created" : "stopped", generation, text: isNew ? "created" : "stopped" };
  }
  if (halted !== undefined || order?.run === "stopped") {
    return { state: "stopped", generation, text: halted ?? "stopped" };
  }
  return { state: "exited", generation, text: describeExit(container.exit_code) };
}

/** What codes mean by the shells' convention, and what to do about it. */
const EXIT_ADVICE: Readonly<Record<number, string>> = {
  0: "it had nothing more to do; start it with a program that keeps running, or use an ssh launch mode",
  126: "the program could not be executed; check its permissions and the image's architecture",
  127: "the program was not found in the image; check the entrypoint and the arguments",
  137: "it was killed, by a signal or for lack of memory; rent more memory or look at its log",
};

function describeExit(exit_code: number | null): string {
  const ended = `the main process ended with code ${exit_code ?? "unknown"}`;
  const advice = exit_code === null ? undefined : EXIT_ADVICE[exit_code];
  return `${ended}: ${advice ?? "its log says why"}`;
}

/** `"8080/tcp": 33526`. An identity port stands under its own number, the same on both sides. */
function portsOf(own: OwnContainer): Record<string, number> {
  const ports: Record<string, number> = own.ssh_port === null ? {} : { "22/tcp": own.ssh_port };
  for (const port of own.container.ports) {
    if (port.container_port < FIRST_IDENTITY_PORT) ports[`${port.container_port}/${port.protocol}`] = port.host_port;
  }
  return ports;
}
