import { notFound } from "../../../base/errors.ts";
import type { MachineId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { postNotifications } from "../../notifications/index.ts";
import { listHosted, type HostedMachine } from "../hosts/for-listings.ts";
import { lockMachines, unlistMachine } from "../hosts/index.ts";
import { refreshOffers } from "../market/index.ts";
import { unlistSpaceOf } from "../volumes/for-listings.ts";
import { rentersOf } from "./upkeep-service.ts";

/** Takes a machine off the market by an administrator's order and tells its host why; rentals go on to their end. */
export async function takeOffMarket(tx: Tx, id: MachineId, reason: string): Promise<void> {
  const { hostId } = await lockAnyMachine(tx, id);
  await unlistMachine(tx, id);
  await unlistSpaceOf(tx, id);
  await refreshOffers(tx, [id]);
  await postNotifications(tx, [
    {
      userId: hostId,
      kind: "host:machine_unlisted",
      subject: `Machine ${id} is taken off the market`,
      message: `An administrator took machine ${id} off the market; what is rented there goes on. Reason: ${reason}`,
      key: `unlisted_by_operator:${id}:${tx.now.getTime()}`,
    },
  ]);
}

/** Asks everybody who rents on a machine to move until a time. Returns the number of renters. */
export async function tellRentersToMove(
  tx: Tx,
  id: MachineId,
  { untilAt, reason }: { readonly untilAt: Date; readonly reason: string },
): Promise<number> {
  const { hostId } = await lockAnyMachine(tx, id);
  const renters = [...(await rentersOf(tx.db, id, hostId))];
  const until = `${untilAt.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const told = {
    kind: "client:move_asked",
    subject: `Move from machine ${id} until ${until}`,
    message: `Copy what you need from your instances and volumes on machine ${id}, and rent elsewhere, until ${until}. Reason: ${reason}`,
    key: `move_asked:${id}:${tx.now.getTime()}`,
  } as const;
  await postNotifications(
    tx,
    renters.map((userId) => ({ ...told, userId })),
  );
  return renters.length;
}

async function lockAnyMachine(tx: Tx, id: MachineId): Promise<HostedMachine> {
  await lockMachines(tx, [id]);
  const [machine] = await listHosted(tx.db, { ids: [id] });
  if (machine === undefined) throw notFound("no_such_machine", `There is no machine ${id}.`);
  return machine;
}
