import type { InstanceId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { describeMachines } from "../../../supply/hosts/index.ts";
import { listOperated } from "../../../supply/hosts/for-instances.ts";
import { listInstancesById } from "../store.ts";

/** The address of an instance, and the facts about its machine. */
export type Site = {
  readonly ipAddress: string;
  /** True when the operator answers for its host, whose word on the address is then believed. */
  readonly isOperated: boolean;
  /** The host's ports of the present container, as the host reported; undefined before the first report. */
  readonly hostPorts: ReadonlySet<number> | undefined;
  /** The DLPerf score of all its devices together; 0 when unknown. */
  readonly dlperf: number;
  readonly gpuName: string | undefined;
  /** The reliability of the machine, from 0 to 1. */
  readonly reliability: number;
};

const PPM = 1_000_000;

export async function listSites(db: Reader, ids: readonly InstanceId[]): Promise<ReadonlyMap<InstanceId, Site>> {
  const instances = await listInstancesById(db, ids);
  const machineIds = [...new Set(instances.map((instance) => instance.machineId))];
  const machines = await describeMachines(db, machineIds);
  const operated = await listOperated(db, machineIds);
  return new Map(
    instances.flatMap(({ id, machineId, generation, observed, deviceCount }) => {
      const machine = machines.get(machineId);
      if (machine === undefined) return [];
      const isUp = observed?.generation === generation && observed.state === "running";
      const site = {
        ipAddress: machine.facts.public_ipaddr,
        isOperated: operated.has(machineId),
        hostPorts: isUp ? new Set(Object.values(observed.ports)) : undefined,
        dlperf: (machine.gpu?.dlperf ?? 0) * deviceCount,
        gpuName: machine.gpu?.name,
        reliability: machine.reliabilityPpm / PPM,
      };
      return [[id, site]];
    }),
  );
}
