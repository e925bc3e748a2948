import type { DesiredInstance } from "../../protocol/index.ts";
import type { Clock } from "./clock.ts";
import { buildContainerSpec, type SpecContext } from "./container-spec.ts";
import {
  fail,
  succeed,
  type Container,
  type ContainerSpec,
  type Engine,
  type PullProgress,
  type Result,
} from "./engine.ts";
import { LABEL_GPUS, markedName, pendingName, settledName, type OwnContainer } from "./identity.ts";
import type { Activity } from "./observe.ts";
import { choosePorts, releasePorts, type PortProbe, type PortRange } from "./ports.ts";
import { describePull } from "./pull-progress.ts";

export type JobContext = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly spec: SpecContext;
  readonly port_range: PortRange;
  readonly isPortFree: PortProbe;
  readonly random: () => number;
  /** Whether a container of this host was made with the port. */
  readonly isPortTaken: (key: string) => boolean;
  readonly reservedPorts: Set<string>;
  /** Takes note of a container as it is now. */
  readonly adopt: (container: Container) => void;
};

/** Says what the job is at, for the reports sent while it lasts. */
export type Show = (state: Activity["state"], text: string) => void;

/** Pulls what is missing and makes the container, without starting it. */
export async function createContainer(
  context: JobContext,
  order: DesiredInstance,
  show: Show,
  signal: AbortSignal,
): Promise<Result<void>> {
  const image = await provideImage(context, order, show, signal);
  if (!image.ok) return image;
  if (signal.aborted) return fail("cancelled", "no longer wanted");
  show(order.run === "stopped" ? "pulling" : "starting", `creating from ${order.image}`);
  const ports = await choosePorts({
    requests: order.ports,
    range: context.port_range,
    isTaken: context.isPortTaken,
    reserved: context.reservedPorts,
    random: context.random,
    isFree: context.isPortFree,
  });
  if (!ports) {
    const { first, last } = context.port_range;
    return fail("refused", `no free external port is left between ${first} and ${last}`);
  }
  try {
    const created = await createUnderFreeName(context, buildContainerSpec(order, ports, context.spec));
    if (!created.ok) return created;
    const inspected = await context.engine.inspect(created.value);
    if (!inspected.ok) return inspected;
    context.adopt(inspected.value);
    return succeed(undefined);
  } finally {
    // By now the container itself shows its ports.
    releasePorts(ports, context.reservedPorts);
  }
}

/**
 * Starts a container in the order's generation. The name is changed first, to one that tells a later agent whether the
 * start took place, and settled afterwards.
 */
export async function startContainer(
  context: JobContext,
  order: DesiredInstance,
  own: OwnContainer,
): Promise<Result<void>> {
  const { engine } = context;
  const { container } = own;
  const mismatch = findGpuMismatch(order, own, context.spec.real_gpu_uuids);
  if (mismatch) return mismatch;
  const settled = settledName(order.instance_id, order.generation);
  const last_started_at_ms = container.started_at_ms;
  if (own.generation !== order.generation) {
    const pending =
      last_started_at_ms === null ? settled : pendingName(order.instance_id, order.generation, last_started_at_ms);
    const renamed = await renameContainer(context, container, pending);
    if (!renamed.ok) return renamed;
  }
  const started = await engine.start(container.id);
  if (!started.ok) {
    // Never started, it holds nothing of the renter: the next attempt makes a new one, with other ports.
    if (last_started_at_ms === null && started.failure.kind !== "unreachable") await engine.remove(container.id);
    return started;
  }
  return last_started_at_ms === null ? started : renameContainer(context, container, settled);
}

/** Renames, to the name with the host's mark when the plain one is somebody else's. */
export async function renameContainer(
  context: Pick<JobContext, "engine" | "spec">,
  container: Container,
  name: string,
): Promise<Result<void>> {
  const inspected = await context.engine.inspect(container.id);
  if (!inspected.ok) return inspected;
  if (inspected.value.name === name) return succeed(undefined);
  const renamed = await context.engine.rename(container.id, name);
  if (renamed.ok || renamed.failure.kind !== "conflict") return renamed;
  const marked = markedName(name, context.spec.host_key);
  return inspected.value.name === marked ? succeed(undefined) : context.engine.rename(container.id, marked);
}

async function createUnderFreeName(context: JobContext, spec: ContainerSpec): Promise<Result<string>> {
  const created = await context.engine.create(spec);
  if (created.ok || created.failure.kind !== "conflict") return created;
  return context.engine.create({ ...spec, name: markedName(spec.name, context.spec.host_key) });
}

async function provideImage(
  context: JobContext,
  order: DesiredInstance,
  show: Show,
  signal: AbortSignal,
): Promise<Result<void>> {
  // With credentials the registry is always asked: a private image in the cache is not for everybody.
  if (order.registry_auth === null) {
    const present = await context.engine.hasImage(order.image);
    if (!present.ok) return present;
    if (present.value) return succeed(undefined);
  }
  const started_ms = context.clock.monotonicMs();
  const onProgress = (progress: PullProgress) =>
    show("pulling", describePull(order.image, progress, context.clock.monotonicMs() - started_ms));
  onProgress({ received_bytes: 0, total_bytes: 0 });
  return context.engine.pull({ image: order.image, auth: order.registry_auth, signal, onProgress });
}

/**
 * The devices of a container are fixed when it is made. Started with those of an older lease it could use GPUs that
 * are somebody else's by now, so it is not started at all.
 */
function findGpuMismatch(
  order: DesiredInstance,
  own: OwnContainer,
  real: ReadonlySet<string>,
): { readonly ok: false; readonly failure: { readonly kind: "refused"; readonly message: string } } | undefined {
  const made = (own.container.labels[LABEL_GPUS] ?? "").split(",").filter((uuid) => real.has(uuid));
  const wanted = order.gpu_uuids.filter((uuid) => real.has(uuid));
  if (made.length === wanted.length && wanted.every((uuid) => made.includes(uuid))) return undefined;
  const message = `the container was made with other GPUs (${made.join(", ")}) than this run has (${wanted.join(", ")})`;
  return { ok: false, failure: { kind: "refused", message } };
}
