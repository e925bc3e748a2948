import type { RawBuilder } from "kysely";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** An instance whose files may be on its host. */
export type InstanceToKeep = { readonly id: InstanceId; readonly machineId: MachineId; readonly userId: UserId };

/** Instances on a machine that were started once and are not being destroyed. */
export async function listInstancesToKeep(db: Reader, machineId: MachineId): Promise<readonly InstanceToKeep[]> {
  const rows = await selectToKeep(db).where("machine_id", "=", machineId).orderBy("id").execute();
  return rows.map(toInstance);
}

/** Instances of that kind whose rentals end in this time, or ended in it, the next end first. */
export async function listInstancesNearEnd(
  db: Reader,
  { from, to, unless, limit }: EndSearch,
): Promise<readonly InstanceToKeep[]> {
  const rows = await selectToKeep(db)
    .where("end_at", ">", from)
    .where("end_at", "<=", to)
    .where((eb) => eb.not(unless))
    .orderBy("end_at")
    .limit(limit)
    .execute();
  return rows.map(toInstance);
}

export type EndSearch = {
  readonly from: Date;
  readonly to: Date;
  /** SQL that is true for instances to leave out. */
  readonly unless: RawBuilder<boolean>;
  readonly limit: number;
};

function selectToKeep(db: Reader) {
  return db
    .selectFrom("instances")
    .select(["id", "machine_id", "user_id"])
    .where("ended_at", "is", null)
    .where("phase", "<>", "ending")
    .where("generation", ">", 0)
    .where("is_background", "=", false);
}

type Row = { readonly id: InstanceId; readonly machine_id: MachineId; readonly user_id: UserId };

function toInstance(row: Row): InstanceToKeep {
  return { id: row.id, machineId: row.machine_id, userId: row.user_id };
}
