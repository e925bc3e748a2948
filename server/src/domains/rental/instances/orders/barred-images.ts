import type { AppError } from "../../../../base/errors.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { findAllowedMachines, findBarredImages, type AllowedMachines } from "../../../supply/hosts/for-instances.ts";

/**
 * Orders whose image is in a private network that the host of their machine does not open to renters, with the
 * refusals.
 */
export function findBarred<Order extends { readonly offerId: number; readonly launch: { readonly image: string } }>(
  tx: Tx,
  offers: ReadonlyMap<Order, { readonly offer: { readonly machineId: MachineId } }>,
): Promise<ReadonlyMap<Order, AppError>> {
  const wanted = [...offers].map(([order, { offer }]) => ({
    key: order,
    machineId: offer.machineId,
    image: order.launch.image,
    field: "image",
    // A caller that tries several offers goes on to the next.
    extra: { ask_id: order.offerId },
  }));
  return findBarredImages(tx.db, wanted);
}

export type MachinesFor = AllowedMachines;

/** The machines on which an image can be used; undefined, for all machines, when its registry is on the internet. */
export function findMachinesFor(db: Reader, image: string): Promise<MachinesFor | undefined> {
  return findAllowedMachines(db, image);
}
