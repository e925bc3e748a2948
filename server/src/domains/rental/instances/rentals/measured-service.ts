import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { describeMachines } from "../../../supply/hosts/index.ts";
import { shareOf } from "../../../supply/market/for-instances.ts";
import type { Instance } from "../instance.ts";
import { noSuchInstance } from "../rules/refusals.ts";
import { findInstanceOf } from "../service.ts";
import { listInstancesOf } from "../store.ts";

/** The facts of an instance that its measurements need. */
export type Measured = {
  readonly id: InstanceId;
  readonly machineId: MachineId;
  readonly label: string;
  /** Processors of its share of the machine; a use of all of them counts as 1. */
  readonly cpuCores: number;
};

/** The caller's instance, also one that has ended; throws `not_found` for any other. */
export async function findMeasured(db: Reader, userId: UserId, instanceId: number): Promise<Measured> {
  const instance = await findInstanceOf(db, userId, instanceId);
  const [measured] = instance === undefined ? [] : await measuredOf(db, [instance]);
  if (measured === undefined) throw noSuchInstance(instanceId);
  return measured;
}

/** Instances of a user that are not over, newest first. */
export async function listMeasured(db: Reader, userId: UserId): Promise<readonly Measured[]> {
  const instances = await listInstancesOf(db, userId);
  return measuredOf(
    db,
    instances.filter(({ phase }) => phase !== "ended").toSorted((a, b) => b.id - a.id),
  );
}

async function measuredOf(db: Reader, instances: readonly Instance[]): Promise<readonly Measured[]> {
  const machines = await describeMachines(db, [...new Set(instances.map(({ machineId }) => machineId))]);
  return instances.flatMap(({ id, machineId, label, deviceCount }) => {
    const machine = machines.get(machineId);
    if (machine === undefined) return [];
    const cpuCores = Math.max(1, machine.facts.cpu_cores * shareOf(machine, deviceCount));
    return [{ id, machineId, label: label ?? "", cpuCores }];
  });
}
