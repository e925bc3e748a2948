import type { DesiredInstance } from "../wire/messages.ts";
import type { Clock } from "../base/clock.ts";
import { buildContainerSpec, type Provision, type SpecContext } from "./container-spec.ts";
import type { Certificate } from "../certificates/certificate.ts";
import { CERTIFICATE_FILE, KEY_FILE } from "../certificates/certificate-keeper.ts";
import type { Disks, OpenDisk } from "../disks/index.ts";
import { blame, blameHost } from "../engine/fault.ts";
import {
  fail,
  succeed,
  type Container,
  type ContainerSpec,
  type Engine,
  type ImageFacts,
  type Mount,
  type Result,
} from "../engine/engine.ts";
import { markedName, pendingName, settledName, type OwnContainer } from "./identity.ts";
import type { ImageCache } from "../images/image-cache.ts";
import { provideImage } from "../images/images.ts";
import type { Activity } from "./observe.ts";
import type { RefuseRegistry } from "../images/registries.ts";
import { choosePorts, releasePorts, type PortProbe, type PortRange } from "./ports.ts";

export type JobContext = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly disks: Disks;
  readonly spec: SpecContext;
  readonly portRange: PortRange;
  readonly isPortFree: PortProbe;
  readonly random: () => number;
  /** Folders that every container sees beside its own files: the toolbox. */
  readonly commonMounts: readonly Mount[];
  /** The network that keeps containers apart, with its rules in place; null is the engine's own. */
  readonly provideNetwork: () => Promise<Result<string | null>>;
  /** The address at which programs on the network reach the server; undefined when they cannot. */
  readonly relayUrl: () => string | undefined;
  /** Waits until the volumes that are desired now were looked at. */
  readonly volumesSettled: () => Promise<void>;
  /** The image below the disk of an instance whose container is gone; undefined for a new disk. */
  readonly imageBelow: (instanceId: number) => string | undefined;
  readonly guardedImages: Set<string>;
  readonly imageCache: Pick<ImageCache, "note" | "has">;
  /** Images of the host's owner that renters may use. */
  readonly localImages: readonly string[];
  readonly refuseRegistry: RefuseRegistry;
  /** Resolves to true while the host is running out of room for images. */
  readonly isDiskLow: () => Promise<boolean>;
  readonly certificateFor: ((instanceId: number) => Promise<Certificate>) | undefined;
  /** True when a container of this host was made with the port. */
  readonly isPortTaken: (key: string) => boolean;
  readonly reservedPorts: Set<string>;
  /** Takes note of a container as it is now. */
  readonly adopt: (container: Container) => void;
  /** The book has changed: its notes are to be stored, and the server told. */
  readonly onChange: (urgency: "state" | "progress") => void;
};

/** Shows the present step of a job, for the reports sent while it lasts. */
export type Show = (state: Activity["state"], text: string, pull?: Activity["pull"]) => void;

/** Ports of a container at most, as many as a renter may ask for; ports that the image adds beyond it are left out. */
const MAX_PORTS = 64;

/** Pulls what is missing and makes the container on its disk, without starting it. */
export async function createContainer(
  context: JobContext,
  order: DesiredInstance,
  show: Show,
  signal: AbortSignal,
): Promise<Result<void>> {
  // Neither waits for the image, nor the image for them.
  const opening = context.disks.open(order.instanceId, order.diskBytes);
  const joining = context.provideNetwork();
  const chosen = await chooseImage(context, order, show, signal);
  const [disk, network] = await Promise.all([opening, joining]);
  if (!chosen.ok) return chosen;
  if (!disk.ok) return disk;
  if (!network.ok) return blameHost(network);
  if (signal.aborted) return fail("cancelled", "no longer wanted");
  show(order.run === "stopped" ? "pulling" : "starting", `creating from ${order.image}`);
  const { facts } = chosen.value;
  const provision = await provide(context, order, { ...chosen.value, disk: disk.value, network: network.value });
  if (!provision.ok) return provision;
  const ports = await choosePorts({
    requests: requestedPorts(order, facts),
    range: context.portRange,
    isTaken: context.isPortTaken,
    reserved: context.reservedPorts,
    random: context.random,
    isFree: context.isPortFree,
  });
  if (!ports) {
    const { first, last } = context.portRange;
    return fail("refused", `no free external port is left between ${first} and ${last}`, "host");
  }
  try {
    const spec = buildContainerSpec(order, ports, context.spec, provision.value);
    const created = await createUnderFreeName(context, spec);
    return created.ok ? await settleIn(context, order, created.value) : blame(created);
  } finally {
    // By now the container itself shows its ports.
    releasePorts(ports, context.reservedPorts);
  }
}

type Chosen = { readonly image: string; readonly facts: ImageFacts };

/** The order's image; for a disk that was written on an image already, exactly that one while it is still here. */
async function chooseImage(
  context: JobContext,
  order: DesiredInstance,
  show: Show,
  signal: AbortSignal,
): Promise<Result<Chosen>> {
  const below = context.imageBelow(order.instanceId);
  if (below !== undefined) {
    const found = await context.engine.findImage(below);
    if (!found.ok) return found;
    if (found.value !== undefined) return succeed({ image: below, facts: found.value });
  }
  const facts = await provideImage(context, order, (text, pull) => show("pulling", text, pull), signal);
  return facts.ok ? succeed({ image: order.image, facts: facts.value }) : facts;
}

/** Everything of the host that the container is made with. */
async function provide(
  context: JobContext,
  order: DesiredInstance,
  base: Chosen & { readonly disk: OpenDisk; readonly network: string | null },
): Promise<Result<Provision>> {
  const { image, facts, disk, network } = base;
  const volumes = await mountsOf(context, order);
  if (!volumes.ok) return volumes;
  const taken = new Set(order.mounts.map((mount) => mount.mountPath));
  // Sorted by path, so that the same image finds the same folders again.
  const targets = facts.volumes.filter((target) => !taken.has(target)).toSorted();
  const imageVolumes = await Promise.all(
    targets.map(async (target, index) => ({ target, directory: await disk.volumeDirectory(index) })),
  );
  const mounts = [...context.commonMounts, ...volumes.value, ...(await certificateMounts(context, order, disk))];
  const relayUrl = context.relayUrl();
  return succeed({ image, imageId: facts.id, network, relayUrl, mounts, imageVolumes });
}

/**
 * Mounts of the certificate with which a notebook server serves HTTPS. A full disk keeps the certificate of the earlier
 * container.
 */
async function certificateMounts(
  context: JobContext,
  { instanceId, command }: DesiredInstance,
  disk: OpenDisk,
): Promise<readonly Mount[]> {
  if (command.mode !== "shell" || command.jupyter === null || !context.certificateFor) return [];
  const { certificatePem, keyPem } = await context.certificateFor(instanceId);
  const certificate = await disk.writeFile(CERTIFICATE_FILE, certificatePem);
  const key = await disk.writeFile(KEY_FILE, keyPem);
  return [
    { source: certificate, target: "/etc/instance.crt", isReadOnly: false },
    { source: key, target: "/etc/instance.key", isReadOnly: false },
  ];
}

async function mountsOf(context: JobContext, order: DesiredInstance): Promise<Result<readonly Mount[]>> {
  if (order.mounts.length === 0) return succeed([]);
  await context.volumesSettled();
  const mounts: Mount[] = [];
  for (const { volumeId, mountPath } of order.mounts) {
    const source = context.disks.volumeDirectory(volumeId);
    if (source === undefined) return fail("refused", `volume ${volumeId} is not ready on this host yet`);
    mounts.push({ source, target: mountPath, isReadOnly: false });
  }
  return succeed(mounts);
}

/** The ports of the order, then those that the image says it listens on. */
function requestedPorts(order: DesiredInstance, facts: ImageFacts): DesiredInstance["ports"] {
  const asked = new Set(order.ports.map((port) => `${port.containerPort}/${port.protocol}`));
  const exposed = facts.exposedPorts.filter((port) => !asked.has(`${port.containerPort}/${port.protocol}`));
  return [...order.ports, ...exposed].slice(0, Math.max(MAX_PORTS, order.ports.length));
}

/** Puts the new container's layer on the disk; one that cannot be put there is not kept. */
async function settleIn(context: JobContext, order: DesiredInstance, id: string): Promise<Result<void>> {
  const inspected = await context.engine.inspect(id);
  if (!inspected.ok) return inspected;
  const attached = await attachDisk(context, order, inspected.value);
  if (!attached.ok) {
    await context.engine.remove(id);
    return attached;
  }
  context.adopt(inspected.value);
  return succeed(undefined);
}

/**
 * Opens the disk of an instance and puts the container's layer on it, also after a reboot of the host, when nothing is
 * mounted.
 */
export async function attachDisk(
  context: Pick<JobContext, "disks" | "engine">,
  order: DesiredInstance,
  container: Container,
): Promise<Result<void>> {
  const { disks, engine } = context;
  const disk = await disks.open(order.instanceId, order.diskBytes);
  if (!disk.ok) return disk;
  if (container.layerDirectory !== null) return disks.attachLayer(order.instanceId, container.layerDirectory);
  if (engine.kind === "simulated") return succeed(undefined);
  return fail(
    "refused",
    "this host's Docker cannot hold a container to its disk size: its storage driver must be overlay2",
    "host",
  );
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
  const network = await context.provideNetwork();
  if (!network.ok) return blameHost(network);
  const volumes = await mountsOf(context, order);
  if (!volumes.ok) return volumes;
  const attached = await attachDisk(context, order, container);
  if (!attached.ok) return attached;
  const settled = settledName(order.instanceId, order.generation);
  const lastStartedAtMs = container.startedAtMs;
  if (own.generation !== order.generation) {
    const pending =
      lastStartedAtMs === null ? settled : pendingName(order.instanceId, order.generation, lastStartedAtMs);
    const renamed = await renameContainer(context, container, pending);
    if (!renamed.ok) return renamed;
  }
  const started = await engine.start(container.id);
  if (!started.ok) {
    // Never started, it holds nothing of the renter: the next attempt makes a new one, with other ports.
    if (lastStartedAtMs === null && started.failure.kind !== "unreachable") {
      await removeContainer(context, own, { keepsDisk: true });
    }
    return blame(started);
  }
  return lastStartedAtMs === null ? started : renameContainer(context, container, settled);
}

/** Removes a container with everything it wrote, or without: then the next one of the instance goes on from there. */
export async function removeContainer(
  context: Pick<JobContext, "engine" | "disks" | "adopt" | "onChange">,
  own: OwnContainer,
  { keepsDisk }: { readonly keepsDisk: boolean },
): Promise<Result<void>> {
  const { engine, disks } = context;
  const { container, instanceId } = own;
  // Its process holds the layer, which has to be let go before the engine deletes what it finds there.
  const stopped = await engine.stop(container.id, 0);
  if (!stopped.ok && stopped.failure.kind !== "not_found") return stopped;
  // How long it ran, to its very end, can be asked and kept only as long as the engine still has it.
  const ended = await engine.inspect(container.id);
  if (ended.ok) {
    context.adopt(ended.value);
    context.onChange("state");
  }
  if (container.layerDirectory !== null) {
    const detached = await disks.detachLayer(instanceId, container.layerDirectory);
    if (!detached.ok) return detached;
  }
  const removed = await engine.remove(container.id);
  if (!removed.ok || keepsDisk) return removed;
  return disks.remove(instanceId);
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
  const marked = markedName(name, context.spec.hostKey);
  return inspected.value.name === marked ? succeed(undefined) : context.engine.rename(container.id, marked);
}

async function createUnderFreeName(context: JobContext, spec: ContainerSpec): Promise<Result<string>> {
  const created = await context.engine.create(spec);
  if (created.ok || created.failure.kind !== "conflict") return created;
  return context.engine.create({ ...spec, name: markedName(spec.name, context.spec.hostKey) });
}
