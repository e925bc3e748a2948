import { sql } from "kysely";
import type { MachineId, UserId } from "../../base/ids.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Reader, Tx } from "../../db/transaction.ts";

/** What a host runs on the idle devices of a machine. Its prices are shown as they were said; nobody is charged. */
export type DefaultJob = {
  readonly machineId: MachineId;
  readonly image: string;
  readonly args: readonly string[];
  readonly priceDeviceNanosPerHour: Nanos;
  readonly priceInetUpNanosPerGb: Nanos;
  readonly priceInetDownNanosPerGb: Nanos;
};

export async function putDefaultJob(tx: Tx, job: DefaultJob): Promise<void> {
  const columns = {
    image: job.image,
    args: JSON.stringify(job.args),
    price_device_nanos_per_hour: job.priceDeviceNanosPerHour,
    price_inet_up_nanos_per_gb: job.priceInetUpNanosPerGb,
    price_inet_down_nanos_per_gb: job.priceInetDownNanosPerGb,
    created_at: tx.now,
  };
  await tx.db
    .insertInto("default_jobs")
    .values({ machine_id: job.machineId, ...columns })
    .onConflict((oc) => oc.column("machine_id").doUpdateSet(columns))
    .execute();
}

/** False when the machine had none. */
export async function deleteDefaultJob(tx: Tx, machineId: MachineId): Promise<boolean> {
  const result = await tx.db.deleteFrom("default_jobs").where("machine_id", "=", machineId).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

export async function listDefaultJobs(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, DefaultJob>> {
  const rows = await db
    .selectFrom("default_jobs")
    .selectAll()
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.machine_id,
      {
        machineId: row.machine_id,
        image: row.image,
        args: row.args as readonly string[],
        priceDeviceNanosPerHour: nanos(row.price_device_nanos_per_hour),
        priceInetUpNanosPerGb: nanos(row.price_inet_up_nanos_per_gb),
        priceInetDownNanosPerGb: nanos(row.price_inet_down_nanos_per_gb),
      },
    ]),
  );
}

/** Machines with a default job, beginning after the given one in id order. */
export async function listMachinesWithJob(db: Reader, after: number, limit: number): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("default_jobs")
    .select("machine_id")
    .where(sql<boolean>`machine_id > ${after}`)
    .orderBy("machine_id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.machine_id);
}

/** What a renter says of a machine. */
export type Report = { readonly problem: string; readonly message: string; readonly createdAt: Date };

/** Notes a report; the same renter's report of the same problem is renewed. */
export async function putReport(
  tx: Tx,
  { machineId, userId, problem, message }: { machineId: MachineId; userId: UserId; problem: string; message: string },
): Promise<void> {
  await tx.db
    .insertInto("machine_reports")
    .values({ machine_id: machineId, user_id: userId, problem, message, created_at: tx.now })
    .onConflict((oc) => oc.columns(["machine_id", "user_id", "problem"]).doUpdateSet({ message, created_at: tx.now }))
    .execute();
}

/** How many other problems of a machine this renter has reported. */
export async function countOtherReports(
  db: Reader,
  { machineId, userId, problem }: { machineId: MachineId; userId: UserId; problem: string },
): Promise<number> {
  const row = await db
    .selectFrom("machine_reports")
    .select(sql<number>`count(*)::integer`.as("count"))
    .where("machine_id", "=", machineId)
    .where("user_id", "=", userId)
    .where("problem", "!=", problem)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** The newest reports on a machine, newest first. */
export async function listReports(db: Reader, machineId: MachineId, limit: number): Promise<readonly Report[]> {
  const rows = await db
    .selectFrom("machine_reports")
    .select(["problem", "message", "created_at"])
    .where("machine_id", "=", machineId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ problem: row.problem, message: row.message, createdAt: row.created_at }));
}

/** How many reports there are on each of these machines; those without any are missing. */
export async function countReports(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, number>> {
  const rows = await db
    .selectFrom("machine_reports")
    .select(["machine_id", sql<number>`count(*)::integer`.as("count")])
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .groupBy("machine_id")
    .execute();
  return new Map(rows.map((row) => [row.machine_id, row.count]));
}
