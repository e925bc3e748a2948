import { conflict, type AppError } from "../../../../base/errors.ts";
import type { MachineId, UserId } from "../../../../base/ids.ts";

type Rented = { readonly userId: UserId; readonly endAt: Date };

/** Refuses to delete a machine on which another user rents, or has a volume. */
export function refuseMachineDeletion(
  { id, hostId }: { readonly id: MachineId; readonly hostId: UserId },
  {
    rentals,
    hasVolumes,
    now,
  }: { readonly rentals: readonly Rented[]; readonly hasVolumes: boolean; readonly now: Date },
): AppError | undefined {
  const others = rentals.filter((rental) => rental.userId !== hostId && rental.endAt > now);
  if (others.length > 0) {
    const count = others.length === 1 ? "one contract" : `${others.length} contracts`;
    return conflict("machine_in_use", `Clients still use machine ${id}: ${count}. Unlist it and wait until they end.`);
  }
  return hasVolumes ? conflict("machine_in_use", `Clients still have volumes on machine ${id}.`) : undefined;
}
