import type { DeviceId, MachineId, UserId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader } from "../../../db/transaction.ts";
import { listDeviceProblems, listMachines, listMaintenances, type Machine, type Maintenance } from "../hosts/index.ts";
import { listHosted, listRestReasons, type HostedMachine } from "../hosts/for-listings.ts";
import { listRentals, type Rental } from "../../rental/instances/index.ts";
import { sumEarningsOf, type EarningSum } from "../../money/ledger/index.ts";
import { listLiveGpuGrants } from "../market/index.ts";
import { listSpaceOf, listWithLocalVolumes, type SpaceOf } from "../volumes/for-listings.ts";
import { dayOf, type Days } from "./rules/earnings.ts";
import { countReports, listDefaultJobs, type DefaultJob } from "./store.ts";

/** A machine as its host sees it, with its rentals, earnings and reports. */
export type ShownMachine = {
  readonly hosted: HostedMachine;
  readonly machine: Machine;
  readonly rentals: readonly Rental[];
  /** The rentals that hold its devices. */
  readonly holders: ReadonlyMap<DeviceId, Rental>;
  readonly maintenances: readonly Maintenance[];
  readonly space: SpaceOf | undefined;
  readonly job: DefaultJob | undefined;
  /** True when somebody has a volume on its disk. */
  readonly hasVolumes: boolean;
  readonly reportCount: number;
  readonly problems: readonly string[];
  /** Empty while new rentals may start on it. */
  readonly restReason: string;
  /** Earnings of this month. */
  readonly earnings: readonly EarningSum[];
};

/** The machines of a host, or the named one, in id order. */
export async function showMachines(
  db: Reader,
  hostId: UserId,
  { now, only, encryption }: { readonly now: Date; readonly only?: MachineId; readonly encryption: Encryption },
): Promise<readonly ShownMachine[]> {
  const all = await listHosted(db, only === undefined ? { hostId } : { ids: [only] });
  const own = all.filter((machine) => machine.hostId === hostId);
  const ids = own.map((machine) => machine.id);
  if (ids.length === 0) return [];
  const machines = await listMachines(db, ids);
  const rentals = Map.groupBy(await listRentals(db, ids), (rental) => rental.machineId);
  const grants = Map.groupBy(await listLiveGpuGrants(db, ids), (grant) => grant.machineId);
  const maintenances = Map.groupBy(await listMaintenances(db, ids, now), (one) => one.machineId);
  const [spaces, jobs, reports] = [
    await listSpaceOf(db, ids),
    await listDefaultJobs(db, ids, encryption),
    await countReports(db, ids),
  ];
  const withVolumes = await listWithLocalVolumes(db, ids);
  const problems = await listDeviceProblems(db, ids);
  const reasons = await listRestReasons(db, ids, now);
  const month = monthOf(now);
  const earnings = await sumEarningsOf(db, hostId, only === undefined ? month : { ...month, machineId: only });
  const earningsOf = Map.groupBy(earnings, (sum) => sum.machineId);
  return own.flatMap((hosted) => {
    const { id } = hosted;
    const machine = machines.get(id);
    if (machine === undefined) return [];
    const rentalOf = new Map((rentals.get(id) ?? []).map((rental) => [rental.id, rental]));
    return {
      hosted,
      machine,
      rentals: rentals.get(id) ?? [],
      holders: new Map(
        (grants.get(id) ?? []).flatMap(({ deviceId, instanceId }) => {
          const rental = rentalOf.get(instanceId);
          return rental === undefined ? [] : [[deviceId, rental] as const];
        }),
      ),
      maintenances: maintenances.get(id) ?? [],
      space: spaces.get(id),
      job: jobs.get(id),
      hasVolumes: withVolumes.has(id),
      reportCount: reports.get(id) ?? 0,
      problems: machine.devices.flatMap((device) => problems.get(device.id) ?? []),
      restReason: reasons.get(id) ?? "",
      earnings: earningsOf.get(id) ?? [],
    };
  });
}

/** The days of the month (UTC) of `now`, up to today. */
function monthOf(now: Date): Days {
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  return { first: dayOf(first), last: dayOf(now) };
}
