import type { DesiredInstance } from "../../../../protocol/index.ts";
import type { MachineId } from "../../base/ids.ts";
import type { Reader } from "../../db/transaction.ts";
import { listMachines, type Machine } from "../hosts/index.ts";
import { listLiveLeases, shareOf } from "../market/index.ts";
import { listMounts } from "../volumes/index.ts";
import type { Instance } from "./instance.ts";
import type { Phase } from "./lifecycle.ts";
import { platformEnv } from "./platform-env.ts";
import { listInstancesOn } from "./store.ts";

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

/** The full desired set of one machine. */
export async function loadDesired(
  db: Reader,
  machineId: MachineId,
  instanceKeySecret: InstanceKeySecret,
): Promise<readonly DesiredInstance[]> {
  const [machines, instances, leases] = await Promise.all([
    listMachines(db, [machineId]),
    listInstancesOn(db, [machineId]),
    listLiveLeases(db, [machineId]),
  ]);
  const machine = machines.get(machineId);
  if (machine === undefined) return [];
  const mounts = await listMounts(
    db,
    instances.map((instance) => instance.id),
  );
  const uuids = new Map(machine.devices.map((device) => [device.id, device]));
  return instances.flatMap((instance) => {
    const run = RUN_IN_PHASE[instance.phase];
    // Nothing was ever started: there is nothing to make yet, since its devices are not known.
    if (run === undefined || (run === "stopped" && instance.generation === 0)) return [];
    const gpuUuids = leases
      .filter((lease) => lease.instanceId === instance.id)
      .flatMap(({ deviceId }) => {
        const device = uuids.get(deviceId);
        return device?.kind === "gpu" ? [device.uuid] : [];
      });
    return [toDesired(instance, { run, machine, gpuUuids, instanceKeySecret, mounts: mounts.get(instance.id) ?? [] })];
  });
}

type Surroundings = {
  readonly run: DesiredInstance["run"];
  readonly machine: Machine;
  readonly gpuUuids: readonly string[];
  readonly mounts: readonly DesiredInstance["mounts"][number][];
  readonly instanceKeySecret: InstanceKeySecret;
};

function toDesired(instance: Instance, surroundings: Surroundings): DesiredInstance {
  const { run, machine, gpuUuids, mounts, instanceKeySecret } = surroundings;
  const { launch } = instance;
  const share = shareOf(machine, instance.deviceCount);
  const platform = platformEnv(instance, instanceKeySecret(instance.id));
  const reserved = new Set(platform.map(([name]) => name));
  const own = launch.env.filter(([name]) => !reserved.has(name));
  return {
    instance_id: instance.id,
    generation: instance.generation,
    run,
    image: launch.image,
    registry_auth: launch.registry_auth,
    command: launch.command,
    env: [...own, ...platform].map(([name, value]) => [name, value]),
    ports: [...launch.ports],
    hostname: launch.hostname,
    gpu_uuids: [...gpuUuids],
    cpu_millis: Math.round(machine.facts.cpu_cores * share * 1000),
    memory_bytes: Math.round(machine.facts.memory_bytes * share),
    disk_bytes: Number(instance.diskBytes),
    mounts: [...mounts],
  };
}
