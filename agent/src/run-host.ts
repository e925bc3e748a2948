import { openAddressDoor } from "./link/address-door.ts";
import type { Certificate } from "./certificates/certificate.ts";
import { keepCertificates } from "./certificates/certificate-keeper.ts";
import type { Clock } from "./base/clock.ts";
import type { Disks } from "./disks/index.ts";
import type { Engine, Mount } from "./engine/engine.ts";
import { watchGpus, type GpuAccess, type GpuWatch } from "./gpu/index.ts";
import { Host } from "./instances/host.ts";
import type { Inventory } from "./machine/inventory.ts";
import type { Log } from "./base/log.ts";
import type { Network } from "./network/network.ts";
import type { Notes, NotesStore } from "./instances/notes.ts";
import type { PortProbe, PortRange } from "./instances/ports.ts";
import type { ProofStore } from "./link/proof.ts";
import type { ServerChoice } from "./link/servers.ts";
import { Session } from "./link/session.ts";
import type { RefuseRegistry } from "./images/registries.ts";
import type { SshService } from "./ssh/service.ts";
import { AgentLines } from "./tasks/agent-lines.ts";
import { TaskRunner } from "./tasks/runner.ts";
import type { Sandbox } from "./tasks/sandbox.ts";
import { awaitVolume } from "./tasks/volume-wait.ts";
import { dialTransfer } from "./streams/transfer-line.ts";
import { createTunnels, type Tunnels } from "./streams/tunnel.ts";

export type HostInput = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly servers: ServerChoice;
  readonly host_key: string;
  /** Of the hardware; what only pretends to be a machine has none. */
  readonly fingerprint?: string;
  readonly boot_id: string;
  /** Not the same where the machine is a system container: its driver's faults outlive it. */
  readonly kernel_boot_id?: string;
  readonly engine: Engine;
  readonly disks: Disks;
  readonly network: Network;
  /** Undefined on hosts whose instances nobody can enter: simulated ones. */
  readonly ssh: SshService | undefined;
  readonly common_mounts: readonly Mount[];
  /** Undefined on simulated hosts, whose instances have no files. */
  readonly sandbox: Sandbox | undefined;
  readonly inventory: Inventory;
  /** Looks at the machine again, when its GPUs have changed. */
  readonly retakeInventory?: () => Promise<Inventory>;
  readonly gpu_access: GpuAccess;
  /** Whether the host is running out of room for images. */
  readonly isDiskLow: () => Promise<boolean>;
  readonly certificateFor?: (instance_id: number) => Promise<Certificate>;
  /** The next certificate for the key that an instance has. */
  readonly renewCertificate?: (instance_id: number, key_pem: string) => Promise<string>;
  readonly public_ipaddr: string;
  readonly bind_address: string;
  readonly port_range: PortRange;
  readonly isPortFree: PortProbe;
  readonly refuseRegistry: RefuseRegistry;
  /** Images of the host's owner that renters may use. */
  readonly local_images: readonly string[];
  readonly notes_store: NotesStore;
  readonly proof_store?: ProofStore;
  /** How long to wait before the first connection. */
  readonly delay_ms: number;
};

export type RunningHost = {
  readonly host: Host;
  readonly session: Session;
  /** Containers keep running; a host without any leaves nothing of itself on the machine. */
  close(): Promise<void>;
};

const STOP_GRACE_MS = 10_000;
const LEASE_GRACE_MS = 2_000;

/** What the parts of one host know of each other; each is there before anything happens. */
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
    notes: input.notes_store.load(),
    inventory: input.inventory,
    host: () => host,
    session: () => session,
    tasks: () => tasks,
  };
  const host = makeHost(assembly);
  const tasks = makeTasks(assembly);
  const tunnels = makeTunnels(assembly);
  const watch = makeWatch(assembly);
  const stopRenewing = startRenewing(assembly);
  const session = new Session(
    {
      ...input,
      log: assembly.log,
      describe: () => describe(assembly),
      host,
      health: () => [...watch.health()],
      openTunnel: (request) => tunnels.open(request),
      ...(input.engine.kind === "docker" ? { openAddressDoor: () => openAddressDoor(input) } : {}),
      onTask: (task) => tasks.run(task),
      onCancelTask: (task_id) => tasks.cancel(task_id),
      onConnected: () => tasks.resend(),
    },
    assembly.notes,
  );
  void host.begin().then(() => session.begin(input.delay_ms));
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
  const { clock, engine, disks, network, ssh, boot_id, random, isPortFree, isDiskLow, certificateFor, refuseRegistry } =
    input;
  return new Host({
    ...{ clock, engine, disks, network, ssh, boot_id, random, log, notes, isPortFree, isDiskLow, refuseRegistry },
    settings: {
      spec: {
        host_key: input.host_key,
        public_ipaddr: input.public_ipaddr,
        bind_address: input.bind_address,
        cpu_cores: input.inventory.machine.cpu_cores,
        get real_gpu_uuids() {
          return new Set(assembly.inventory.gpus.filter((gpu) => !gpu.is_declared).map((gpu) => gpu.uuid));
        },
      },
      port_range: input.port_range,
      stop_grace_ms: STOP_GRACE_MS,
      lease_grace_ms: LEASE_GRACE_MS,
      common_mounts: input.common_mounts,
      local_images: input.local_images,
    },
    onChange: (urgency) => session().changed(urgency),
    vacate: (instance_id) => tasks().vacate(instance_id),
    ...(certificateFor ? { certificateFor } : {}),
  });
}

function startRenewing({ input, log, host }: Assembly): () => void {
  const { clock, disks, renewCertificate } = input;
  if (!renewCertificate) return () => {};
  const isRunning = (instance_id: number) => host().containerOf(instance_id)?.phase === "running";
  return keepCertificates({ clock, log, disks, isRunning, renewCertificate });
}

function makeTasks({ input, log, lines, host, session }: Assembly): TaskRunner {
  const { clock, engine, sandbox, disks, random, servers } = input;
  return new TaskRunner({
    ...{ clock, engine, log, sandbox, random },
    dialTransfer: (transfer_id, side) =>
      dialTransfer({ server_url: servers.urls.socket_url, token: servers.bearer, transfer_id, side }),
    send: (message) => session().send(message),
    findInstance: (instance_id) => host().find(instance_id),
    volumeDirectory: (volume_id) => disks.volumeDirectory(volume_id),
    awaitPlace: async ({ kind, id }, signal) => {
      const isThere = () => disks.volumeDirectory(id) !== undefined;
      if (kind === "volume" && sandbox) await awaitVolume({ clock, isThere }, signal);
    },
    guardImage: (image_id) => host().guardImage(image_id),
    refuseRegistry: input.refuseRegistry,
    agentLines: (instance_id) => lines.of(instance_id),
  });
}

function makeTunnels({ input, log, host }: Assembly): Tunnels {
  const { clock, servers, ssh } = input;
  return createTunnels({
    ...{ clock, log, ssh },
    server_url: () => servers.urls.socket_url,
    token: () => servers.bearer,
    addressOf: (instance_id) => host().containerOf(instance_id)?.network?.ip_address,
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
    ...input.gpu_access,
    clock: input.clock,
    log,
    boot_id: input.kernel_boot_id ?? input.boot_id,
    gpus: () => assembly.inventory.gpus,
    onChange: () => session().changed("state"),
    onInventoryChange: () => void retake(),
  });
}

async function describe({ input, inventory }: Assembly) {
  const { engine, host_key } = input;
  const version = await engine.version();
  return {
    host_key,
    fingerprint: input.fingerprint ?? host_key,
    engine: { kind: engine.kind, version: version.ok ? version.value.slice(0, 64) : "" },
    machine: inventory.machine,
    gpus: [...inventory.gpus],
    ...(engine.kind === "docker" ? { measures_line: true } : {}),
  };
}
