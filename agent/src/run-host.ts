import { openAddressDoor } from "./link/address-door.ts";
import type { Certificate } from "./certificates/certificate.ts";
import { keepCertificates } from "./certificates/certificate-keeper.ts";
import type { Clock } from "./base/clock.ts";
import type { Disks } from "./disks/index.ts";
import { fail, type Engine, type Mount } from "./engine/engine.ts";
import { watchGpus, type GpuAccess, type GpuWatch } from "./gpu/index.ts";
import { Host } from "./instances/host.ts";
import type { Inventory } from "./machine/inventory.ts";
import type { Log } from "./base/log.ts";
import type { Network } from "./network/network.ts";
import type { Notes, NotesStore } from "./instances/notes.ts";
import type { PortProbe, PortRange } from "./instances/ports.ts";
import type { ProofStore } from "./link/proof.ts";
import type { ServerChoice } from "./link/servers.ts";
import { readMachineUse } from "./measurements/machine-use.ts";
import { Measurer } from "./measurements/measurer.ts";
import { Session } from "./link/session.ts";
import type { SessionUpdates } from "./update/session-updates.ts";
import type { RefuseRegistry } from "./images/registries.ts";
import { simulatedGpus, SimulatedMachine } from "./simulated/use.ts";
import { SimulatedShells } from "./simulated/shell/server.ts";
import type { SshService } from "./ssh/service.ts";
import { AgentLines } from "./tasks/agent-lines.ts";
import { CLOUD_GATE } from "./tasks/clouds/gate.ts";
import { TaskRunner } from "./tasks/runner.ts";
import type { Sandbox } from "./tasks/sandbox.ts";
import { awaitVolume } from "./tasks/volume-wait.ts";
import { dialTransfer } from "./streams/transfer-connection.ts";
import { createTunnels, type Tunnels } from "./streams/tunnel.ts";

export type HostInput = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly servers: ServerChoice;
  readonly hostKey: string;
  /** The digest of the hardware; simulated machines have none. */
  readonly fingerprint?: string;
  readonly bootId: string;
  /** The boot of the kernel, which outlives a machine that is a system container, and so do faults of its driver. */
  readonly kernelBootId?: string;
  readonly engine: Engine;
  readonly disks: Disks;
  readonly network: Network;
  /** The SSH server; undefined on simulated hosts, whose instances nobody can enter. */
  readonly ssh: SshService | undefined;
  readonly commonMounts: readonly Mount[];
  /** The sandbox for work on files; undefined on simulated hosts, whose instances have none. */
  readonly sandbox: Sandbox | undefined;
  /** True when the toolbox has the program for copies with cloud storage; simulated hosts pretend to have it. */
  readonly copiesToClouds?: boolean;
  readonly inventory: Inventory;
  /** Looks at the machine again, when its GPUs have changed. */
  readonly retakeInventory?: () => Promise<Inventory>;
  readonly gpuAccess: GpuAccess;
  /** Resolves to true while the host is running out of room for images. */
  readonly isDiskLow: () => Promise<boolean>;
  readonly certificateFor?: (instanceId: number) => Promise<Certificate>;
  /** The next certificate for the key that an instance has. */
  readonly renewCertificate?: (instanceId: number, keyPem: string) => Promise<string>;
  /** A folder on the disk of its instances, whose use is measured; undefined on simulated hosts. */
  readonly measuredFolder?: string;
  readonly publicIpaddr: string;
  readonly bindAddress: string;
  readonly portRange: PortRange;
  readonly isPortFree: PortProbe;
  readonly refuseRegistry: RefuseRegistry;
  /** Images of the host's owner that renters may use. */
  readonly localImages: readonly string[];
  readonly notesStore: NotesStore;
  readonly proofStore?: ProofStore;
  /** Newer versions of the agent; absent where its host does not want them. */
  readonly updates?: SessionUpdates | undefined;
  /** How long to wait before the first connection. */
  readonly delayMs: number;
};

export type RunningHost = {
  readonly host: Host;
  readonly session: Session;
  /** Ends the host's work; containers keep running. A host without containers removes its network. */
  close(): Promise<void>;
};

const STOP_GRACE_MS = 10_000;
const LEASE_GRACE_MS = 2_000;

/** The parts of one host, as they know each other; all of them exist before any of them acts. */
type Assembly = {
  readonly input: HostInput;
  readonly log: Log;
  readonly lines: AgentLines;
  readonly notes: Notes | undefined;
  inventory: Inventory;
  readonly host: () => Host;
  readonly session: () => Session;
  readonly tasks: () => TaskRunner;
};

/** Puts one host together and lets it run: its containers are looked at first, then it connects. */
export function startHost(input: HostInput): RunningHost {
  const lines = new AgentLines(input.clock);
  const assembly: Assembly = {
    input,
    lines,
    log: lines.listen(input.log),
    notes: input.notesStore.load(),
    inventory: input.inventory,
    host: () => host,
    session: () => session,
    tasks: () => tasks,
  };
  const host = makeHost(assembly);
  const tasks = makeTasks(assembly);
  const tunnels = makeTunnels(assembly);
  const watch = makeWatch(assembly);
  const measurer = makeMeasurer(assembly, watch);
  const stopRenewing = startRenewing(assembly);
  const session = new Session(
    {
      ...input,
      log: assembly.log,
      describe: () => describe(assembly),
      host,
      health: () => [...watch.health()],
      measure: () => measurer.take(),
      openTunnel: (request) => tunnels.open(request),
      ...(input.engine.kind === "docker" ? { openAddressDoor: () => openAddressDoor(input) } : {}),
      onTask: (task) => tasks.run(task),
      onCancelTask: (taskId) => tasks.cancel(taskId),
      onConnected: () => tasks.resend(),
    },
    assembly.notes,
  );
  void host.begin().then(() => session.begin(input.delayMs));
  return {
    host,
    session,
    async close() {
      session.close();
      stopRenewing();
      watch.close();
      tasks.close();
      tunnels.close();
      host.close();
      input.ssh?.close();
      await input.network.close();
      await input.disks.close();
      if (host.isEmpty) await input.network.remove();
    },
  };
}

function makeHost(assembly: Assembly): Host {
  const { input, log, notes, session, tasks } = assembly;
  const { clock, engine, disks, network, ssh, bootId, random, isPortFree, isDiskLow, certificateFor, refuseRegistry } =
    input;
  return new Host({
    ...{ clock, engine, disks, network, ssh, bootId, random, log, notes, isPortFree, isDiskLow, refuseRegistry },
    settings: {
      spec: {
        hostKey: input.hostKey,
        publicIpaddr: input.publicIpaddr,
        bindAddress: input.bindAddress,
        cpuCores: input.inventory.machine.cpuCores,
        get realGpuUuids() {
          return new Set(assembly.inventory.gpus.filter((gpu) => !gpu.isDeclared).map((gpu) => gpu.uuid));
        },
      },
      portRange: input.portRange,
      stopGraceMs: STOP_GRACE_MS,
      leaseGraceMs: LEASE_GRACE_MS,
      commonMounts: input.commonMounts,
      localImages: input.localImages,
    },
    onChange: (urgency) => session().changed(urgency),
    vacate: (instanceId) => tasks().vacate(instanceId),
    ...(certificateFor ? { certificateFor } : {}),
  });
}

function startRenewing({ input, log, host }: Assembly): () => void {
  const { clock, disks, renewCertificate } = input;
  if (!renewCertificate) return () => {};
  const isRunning = (instanceId: number) => host().containerOf(instanceId)?.phase === "running";
  return keepCertificates({ clock, log, disks, isRunning, renewCertificate });
}

function makeTasks({ input, log, lines, host, session }: Assembly): TaskRunner {
  const { clock, engine, sandbox, disks, random, servers } = input;
  return new TaskRunner({
    ...{ clock, engine, log, sandbox, random },
    dialTransfer: (transferId, side) =>
      dialTransfer({ serverUrl: servers.urls.socketUrl, token: servers.bearer, transferId, side }),
    send: (message) => session().send(message),
    findInstance: (instanceId) => host().find(instanceId),
    cloudGate: CLOUD_GATE,
    addTraffic: (instanceId, traffic) => host().addTraffic(instanceId, traffic),
    volumeDirectory: (volumeId) => disks.volumeDirectory(volumeId),
    awaitPlace: async ({ kind, id }, signal) => {
      const isThere = () => disks.volumeDirectory(id) !== undefined;
      if (kind === "volume" && sandbox) await awaitVolume({ clock, isThere }, signal);
    },
    guardImage: (imageId) => host().guardImage(imageId),
    refuseRegistry: input.refuseRegistry,
    agentLines: (instanceId) => lines.of(instanceId),
  });
}

function makeTunnels({ input, log, host }: Assembly): Tunnels {
  const { clock, engine, servers, ssh } = input;
  const isRunning = (instanceId: number) => host().containerOf(instanceId)?.phase === "running";
  return createTunnels({
    ...{ clock, log, ssh },
    ...(engine.kind === "simulated" ? { shells: new SimulatedShells({ clock, log, isRunning }) } : {}),
    serverUrl: () => servers.urls.socketUrl,
    token: () => servers.bearer,
    followLog: async (instanceId, wish, signal) => {
      const container = host().containerOf(instanceId);
      return container === undefined
        ? fail("not_found", "the instance has no container")
        : engine.followLogs(container.id, { ...wish, signal });
    },
    addressOf: (instanceId) => host().containerOf(instanceId)?.network?.ipAddress,
  });
}

function makeWatch(assembly: Assembly): GpuWatch {
  const { input, log, session } = assembly;
  const retake = async () => {
    if (!input.retakeInventory) return;
    assembly.inventory = await input.retakeInventory();
    session().renew();
  };
  return watchGpus({
    ...input.gpuAccess,
    clock: input.clock,
    log,
    bootId: input.kernelBootId ?? input.bootId,
    gpus: () => assembly.inventory.gpus,
    onChange: () => session().changed("state"),
    onInventoryChange: () => void retake(),
  });
}

function makeMeasurer(assembly: Assembly, watch: GpuWatch): Measurer {
  const { clock, measuredFolder: folder } = assembly.input;
  const gpus = () => assembly.inventory.gpus;
  const simulated = new SimulatedMachine();
  return new Measurer({
    ...{ clock, gpus },
    readInstances: () => assembly.host().measure(),
    readMachine: async (instances) =>
      folder === undefined ? simulated.read(instances, clock.monotonicMs()) : readMachineUse(folder),
    readGpus: (instances) =>
      folder === undefined ? simulatedGpus(gpus(), instances, clock.now().getTime()) : watch.health(),
  });
}

async function describe({ input, inventory }: Assembly) {
  const { engine, hostKey } = input;
  const version = await engine.version();
  return {
    hostKey,
    fingerprint: input.fingerprint ?? hostKey,
    engine: { kind: engine.kind, version: version.ok ? version.value.slice(0, 64) : "" },
    machine: { ...inventory.machine, followsLogs: true, opensPorts: true },
    gpus: [...inventory.gpus],
    makesBackups: true,
    copiesToClouds: input.copiesToClouds ?? engine.kind === "simulated",
    ...(engine.kind === "docker" ? { measuresLine: true } : {}),
  };
}
