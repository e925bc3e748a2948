import type { MachineId, UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { listHosted, listRestReasons } from "../hosts/for-listings.ts";
import { listDeviceProblems, listMachines } from "../hosts/index.ts";
import { describeTroubles } from "./rules/troubles.ts";

export type MachineError = { readonly machineId: MachineId; readonly description: string; readonly seenAt: Date };

/** A host's machines that are out of rotation, each with the reason, in id order. */
export async function listMachineErrors(db: Reader, hostId: UserId, now: Date): Promise<readonly MachineError[]> {
  const ids = (await listHosted(db, { hostId })).map(({ id }) => id);
  if (ids.length === 0) return [];
  const [machines, problems, reasons] = [
    await listMachines(db, ids),
    await listDeviceProblems(db, ids),
    await listRestReasons(db, ids, now),
  ];
  return ids.flatMap((machineId) => {
    const machine = machines.get(machineId);
    if (machine === undefined) return [];
    const ownProblems = machine.devices.flatMap((device) => problems.get(device.id) ?? []);
    const description = describeTroubles(reasons.get(machineId) ?? "", ownProblems);
    return description === undefined ? [] : [{ machineId, description, seenAt: machine.lastSeenAt }];
  });
}
