import type { DesiredInstance, DesiredVolume, PortRequest } from "../../../../../../protocol/index.ts";
import type { DeviceId, MachineId } from "../../../../base/ids.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listInstanceSshKeys, listSecrets } from "../../../people/accounts/for-instances.ts";
import { listMachines, type Machine } from "../../../supply/hosts/index.ts";
import { listLiveGpuGrants } from "../../../supply/market/index.ts";
import { shareOf } from "../../../supply/market/for-instances.ts";
import { listDesiredVolumes, listMounts } from "../../../supply/volumes/for-instances.ts";
import type { Instance } from "../instance.ts";
import type { Phase } from "./rules/lifecycle.ts";
import { jupyterTokenOf } from "../access/rules/jupyter.ts";
import { defaultEnv, mergeEnv, platformEnv, type Variables } from "../settings/rules/platform-env.ts";
import { openInstance, type OpenedInstance } from "../settings/encrypted-settings.ts";
import { listInstancesOn } from "../store.ts";
import { mayWrite } from "./writers.ts";

/** The order to the host in each phase; undefined when the host has nothing more to do for the instance. */
const RUN_IN_PHASE = {
  scheduled: "stopped",
  starting: "running",
  running: "running",
  yielding: "running",
  stopping: "stopped",
  stopped: "stopped",
  ending: "absent",
  ended: undefined,
} as const satisfies Record<Phase, DesiredInstance["run"] | undefined>;

const SSH_PORT: PortRequest = { container_port: 22, protocol: "tcp" };

/** Makes the key that a container gets for its own instance. It is the same each time, so it is not stored in clear. */
export type InstanceKeySecret = (instanceId: Instance["id"]) => string;

/** The whole order to a machine, sent complete each time. */
export type DesiredSet = {
  readonly instances: readonly DesiredInstance[];
  readonly volumes: readonly DesiredVolume[];
};

/** The full desired set of one machine. */
export async function loadDesired(
  db: Reader,
  machineId: MachineId,
  instanceKeySecret: InstanceKeySecret,
  encryption: Encryption,
  now: Date,
): Promise<DesiredSet> {
  return (await loadDesiredSets(db, [machineId], instanceKeySecret, encryption, now)).get(machineId) ?? NOTHING;
}

const NOTHING: DesiredSet = { instances: [], volumes: [] };

/** The full desired sets of machines. A network volume is part of one while an instance there may write to it. */
export async function loadDesiredSets(
  db: Reader,
  machineIds: readonly MachineId[],
  instanceKeySecret: InstanceKeySecret,
  encryption: Encryption,
  now: Date,
): Promise<ReadonlyMap<MachineId, DesiredSet>> {
  const instances = await listInstancesOn(db, machineIds);
  const writers = instances.filter((instance) => mayWrite(instance.phase));
  const volumes = await listDesiredVolumes(db, machineIds, writers);
  const orders = await loadOrders(db, instances, instanceKeySecret, encryption, now);
  return new Map(machineIds.map((id) => [id, { instances: orders.get(id) ?? [], volumes: volumes.get(id) ?? [] }]));
}

async function loadOrders(
  db: Reader,
  instances: readonly Instance[],
  instanceKeySecret: InstanceKeySecret,
  encryption: Encryption,
  now: Date,
): Promise<ReadonlyMap<MachineId, readonly DesiredInstance[]>> {
  // Most machines of a large market are idle: nothing more is read for them.
  if (instances.length === 0) return new Map();
  const ids = instances.map((instance) => instance.id);
  const machineIds = [...new Set(instances.map((instance) => instance.machineId))];
  const [machines, grants, mounts, sshKeys, secrets] = await Promise.all([
    listMachines(db, machineIds),
    listLiveGpuGrants(db, machineIds),
    listMounts(db, ids),
    listInstanceSshKeys(db, ids),
    listSecrets(db, [...new Set(instances.map((instance) => instance.userId))], encryption),
  ]);
  const grantsOf = Map.groupBy(grants, (grant) => grant.instanceId);
  const orders = new Map<MachineId, DesiredInstance[]>();
  for (const instance of instances) {
    const run = RUN_IN_PHASE[instance.phase];
    const machine = machines.get(instance.machineId);
    // The instance was never started: its devices are not known, so there is nothing to create yet.
    if (machine === undefined || run === undefined || (run === "stopped" && instance.generation === 0)) continue;
    const surroundings = {
      run,
      machine,
      gpuUuids: gpuUuidsOf(machine, grantsOf.get(instance.id) ?? []),
      mounts: mounts.get(instance.id) ?? [],
      publicKeys: (sshKeys.get(instance.id) ?? []).map((key) => key.publicKey),
      secrets: (secrets.get(instance.userId) ?? []).map(({ name, value }) => [name, value] as const),
      instanceKey: instanceKeySecret(instance.id),
      now,
    };
    const own = orders.get(instance.machineId) ?? [];
    own.push(toDesired(openInstance(instance, encryption), surroundings));
    orders.set(instance.machineId, own);
  }
  return orders;
}

function gpuUuidsOf({ devices }: Machine, grants: readonly { readonly deviceId: DeviceId }[]): readonly string[] {
  const held = new Set(grants.map((grant) => grant.deviceId));
  return devices.flatMap(({ id, kind, uuid }) => (kind === "gpu" && held.has(id) ? [uuid] : []));
}

type Surroundings = {
  readonly run: DesiredInstance["run"];
  readonly machine: Machine;
  readonly gpuUuids: readonly string[];
  readonly mounts: readonly DesiredInstance["mounts"][number][];
  /** The SSH keys that may log in. */
  readonly publicKeys: readonly string[];
  /** The renter's account variables as they are now: a container has those of its last start. */
  readonly secrets: Variables;
  readonly instanceKey: string;
  /** The time at which the order is made. */
  readonly now: Date;
};

function toDesired(instance: OpenedInstance, surroundings: Surroundings): DesiredInstance {
  const { run, machine, gpuUuids, mounts, publicKeys, secrets, instanceKey } = surroundings;
  const { launch } = instance;
  const share = shareOf(machine, instance.deviceCount);
  const jupyterToken = jupyterTokenOf(launch.env, instanceKey);
  const command = commandOf(launch, jupyterToken);
  const platform = platformEnv(instance, instanceKey, command, publicKeys);
  const access = { authorized_keys: [...publicKeys] };
  const env = mergeEnv(defaultEnv(jupyterToken, command), secrets, launch.env, platform);
  return {
    instance_id: instance.id,
    generation: instance.generation,
    revision: instance.revision,
    run,
    ...noticeOf(instance, surroundings.now),
    ...checkpointOf(launch),
    image: launch.image,
    registry_auth: launch.registry_auth,
    command,
    env: env.map(([name, value]) => [name, value]),
    ports: portsOn(machine, launch),
    hostname: launch.hostname,
    user: launch.user,
    ...(launch.command.mode === "shell" ? { ssh: access } : { ssh: null, copies: access }),
    gpu_uuids: [...gpuUuids],
    cpu_millis: Math.round(machine.facts.cpu_cores * share * 1000),
    memory_bytes: Math.round(machine.facts.memory_bytes * share),
    disk_bytes: Number(instance.diskBytes),
    mounts: [...mounts],
  };
}

/**
 * The ports to map. A simulated host has no proxy before it, so that it always maps the port of the SSH server: clients of
 * a renter expect an address of every instance.
 */
function portsOn({ engineKind }: Machine, { ports, command }: OpenedInstance["launch"]): PortRequest[] {
  const isMapped = ports.some((port) => port.container_port === SSH_PORT.container_port && port.protocol === "tcp");
  if (engineKind !== "simulated" || command.mode !== "shell" || isMapped) return [...ports];
  return [...ports, SSH_PORT];
}

/** The eviction notice of an instance that has to leave; an empty object for any other. */
function noticeOf({ phase, phaseCause, deadlineAt }: OpenedInstance, now: Date): Pick<DesiredInstance, "notice"> {
  if (phase !== "yielding" || deadlineAt === undefined) return {};
  const reason = phaseCause === "on_demand" ? "on_demand" : "outbid";
  const remaining_ms = Math.max(0, deadlineAt.getTime() - now.getTime());
  return { notice: { reason, remaining_ms, message: NOTICES[reason] } };
}

const NOTICES = {
  outbid:
    "A higher bid takes these devices. The data is kept, and the instance resumes by itself when its bid wins again.",
  on_demand:
    "An on-demand rental takes these devices. The data is kept, and the instance resumes by itself when they are free.",
} as const;

const CHECKPOINT_VARIABLE = "CHECKPOINT_COMMAND";

/** The renter's command for an instance that has to leave; an empty object when none was given. */
function checkpointOf({ env }: OpenedInstance["launch"]): Pick<DesiredInstance, "checkpoint_command"> {
  const command = env.findLast(([name]) => name === CHECKPOINT_VARIABLE)?.[1];
  return command === undefined || command === "" ? {} : { checkpoint_command: command };
}

function commandOf({ command, jupyter }: OpenedInstance["launch"], token: string): DesiredInstance["command"] {
  if (command.mode === "entrypoint") return command;
  return { ...command, jupyter: jupyter && { token, ...jupyter } };
}
