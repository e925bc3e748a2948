import type { DesiredInstance, DesiredVolume } from "../../../../protocol/index.ts";
import type { MachineId } from "../../base/ids.ts";
import type { Sealer } from "../../base/seal.ts";
import type { Reader } from "../../db/transaction.ts";
import { listInstanceSshKeys, listSecrets } from "../accounts/index.ts";
import { listMachines, type Machine } from "../hosts/index.ts";
import { listLiveLeases, shareOf } from "../market/index.ts";
import { listDesiredVolumes, listMounts } from "../volumes/index.ts";
import type { Instance } from "./instance.ts";
import type { Phase } from "./lifecycle.ts";
import { jupyterTokenOf } from "./jupyter.ts";
import { defaultEnv, mergeEnv, platformEnv, type Variables } from "./platform-env.ts";
import { openLogin } from "./registry-login.ts";
import { listInstancesOn } from "./store.ts";
import { mayWrite } from "./writers.ts";

/** What a host is asked for in each phase; undefined where it has nothing to do with the instance any more. */
const RUN_IN_PHASE = {
  scheduled: "stopped",
  starting: "running",
  running: "running",
  stopping: "stopped",
  stopped: "stopped",
  ending: "absent",
  ended: undefined,
} as const satisfies Record<Phase, DesiredInstance["run"] | undefined>;

/** Makes the key that a container is given for its own instance. The same each time, so that none is stored in clear. */
export type InstanceKeySecret = (instanceId: Instance["id"]) => string;

/** What a machine is told, all of it each time. */
export type DesiredSet = {
  readonly instances: readonly DesiredInstance[];
  readonly volumes: readonly DesiredVolume[];
};

/** The full desired set of one machine. A network volume is part of it while an instance there may write to it. */
export async function loadDesired(
  db: Reader,
  machineId: MachineId,
  instanceKeySecret: InstanceKeySecret,
  sealer: Sealer,
): Promise<DesiredSet> {
  const [machines, instances, leases] = await Promise.all([
    listMachines(db, [machineId]),
    listInstancesOn(db, [machineId]),
    listLiveLeases(db, [machineId]),
  ]);
  const machine = machines.get(machineId);
  if (machine === undefined) return { instances: [], volumes: [] };
  const ids = instances.map((instance) => instance.id);
  const writerIds = instances.filter((instance) => mayWrite(instance.phase)).map((instance) => instance.id);
  const [mounts, volumes, sshKeys, secrets] = await Promise.all([
    listMounts(db, ids),
    listDesiredVolumes(db, machineId, writerIds),
    listInstanceSshKeys(db, ids),
    listSecrets(db, [...new Set(instances.map((instance) => instance.userId))], sealer),
  ]);
  const uuids = new Map(machine.devices.map((device) => [device.id, device]));
  const orders = instances.flatMap((instance) => {
    const run = RUN_IN_PHASE[instance.phase];
    // Nothing was ever started: there is nothing to make yet, since its devices are not known.
    if (run === undefined || (run === "stopped" && instance.generation === 0)) return [];
    const gpuUuids = leases
      .filter((lease) => lease.instanceId === instance.id)
      .flatMap(({ deviceId }) => {
        const device = uuids.get(deviceId);
        return device?.kind === "gpu" ? [device.uuid] : [];
      });
    const surroundings = {
      run,
      machine,
      gpuUuids,
      mounts: mounts.get(instance.id) ?? [],
      publicKeys: (sshKeys.get(instance.id) ?? []).map((key) => key.publicKey),
      secrets: (secrets.get(instance.userId) ?? []).map(({ name, value }) => [name, value] as const),
      instanceKey: instanceKeySecret(instance.id),
      registryAuth: openLogin(instance.launch, instance.id, sealer),
    };
    return [toDesired(instance, surroundings)];
  });
  return { instances: orders, volumes };
}

type Surroundings = {
  readonly run: DesiredInstance["run"];
  readonly machine: Machine;
  readonly gpuUuids: readonly string[];
  readonly mounts: readonly DesiredInstance["mounts"][number][];
  /** Whom the instance lets in. */
  readonly publicKeys: readonly string[];
  /** The renter's variables of all own containers, as they are now: a container has those of its last start. */
  readonly secrets: Variables;
  readonly instanceKey: string;
  readonly registryAuth: DesiredInstance["registry_auth"];
};

function toDesired(instance: Instance, surroundings: Surroundings): DesiredInstance {
  const { run, machine, gpuUuids, mounts, publicKeys, secrets, instanceKey, registryAuth } = surroundings;
  const { launch } = instance;
  const share = shareOf(machine, instance.deviceCount);
  const jupyterToken = jupyterTokenOf(launch.env, instanceKey);
  const command = commandOf(launch, jupyterToken);
  const platform = platformEnv(instance, instanceKey, command, publicKeys);
  const env = mergeEnv(defaultEnv(jupyterToken, command), secrets, launch.env, platform);
  return {
    instance_id: instance.id,
    generation: instance.generation,
    revision: instance.revision,
    run,
    image: launch.image,
    registry_auth: registryAuth,
    command,
    env: env.map(([name, value]) => [name, value]),
    ports: [...launch.ports],
    hostname: launch.hostname,
    user: launch.user,
    ssh: launch.command.mode === "shell" ? { authorized_keys: [...publicKeys] } : null,
    gpu_uuids: [...gpuUuids],
    cpu_millis: Math.round(machine.facts.cpu_cores * share * 1000),
    memory_bytes: Math.round(machine.facts.memory_bytes * share),
    disk_bytes: Number(instance.diskBytes),
    mounts: [...mounts],
  };
}

function commandOf({ command, jupyter }: Instance["launch"], token: string): DesiredInstance["command"] {
  if (command.mode === "entrypoint") return command;
  return { ...command, jupyter: jupyter && { token, ...jupyter } };
}
