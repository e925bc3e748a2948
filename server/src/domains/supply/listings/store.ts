import { sql } from "kysely";
import type { MachineId, UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** A host's job for the idle devices of a machine. Its prices are displayed as sent; nobody is charged. */
export type DefaultJob = {
  readonly machineId: MachineId;
  readonly image: string;
  readonly args: readonly string[];
  readonly priceDeviceNanosPerHour: Nanos;
  readonly priceInetUpNanosPerGb: Nanos;
  readonly priceInetDownNanosPerGb: Nanos;
};

export async function putDefaultJob(tx: Tx, job: DefaultJob, encryption: Encryption): Promise<void> {
  const columns = {
    image: job.image,
    args: JSON.stringify(encryptArguments(job, encryption)),
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

/** Deletes the job of a machine; false when it had none. */
export async function deleteDefaultJob(tx: Tx, machineId: MachineId): Promise<boolean> {
  const result = await tx.db.deleteFrom("default_jobs").where("machine_id", "=", machineId).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Jobs of these machines; one whose arguments can no longer be decrypted is left out. */
export async function listDefaultJobs(
  db: Reader,
  machineIds: readonly MachineId[],
  encryption: Encryption,
): Promise<ReadonlyMap<MachineId, DefaultJob>> {
  const rows = await db
    .selectFrom("default_jobs")
    .selectAll()
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .execute();
  const jobs = new Map<MachineId, DefaultJob>();
  for (const row of rows) {
    const args = decryptArguments({ machineId: row.machine_id, stored: row.args }, encryption);
    if (args === undefined) continue;
    jobs.set(row.machine_id, {
      machineId: row.machine_id,
      image: row.image,
      args,
      priceDeviceNanosPerHour: nanos(row.price_device_nanos_per_hour),
      priceInetUpNanosPerGb: nanos(row.price_inet_up_nanos_per_gb),
      priceInetDownNanosPerGb: nanos(row.price_inet_down_nanos_per_gb),
    });
  }
  return jobs;
}

/** Arguments may hold a host's secrets, such as the address of a wallet: they are stored as one encrypted text. */
function encryptArguments({ machineId, args }: Pick<DefaultJob, "machineId" | "args">, encryption: Encryption): string {
  return encryption.encrypt(JSON.stringify(args), argumentsContext(machineId));
}

/**
 * The arguments of a job, stored in clear by versions that did not encrypt them; undefined when they can no longer be
 * decrypted.
 */
function decryptArguments(
  { machineId, stored }: { readonly machineId: MachineId; readonly stored: unknown },
  encryption: Encryption,
): readonly string[] | undefined {
  if (typeof stored !== "string") return stored as readonly string[];
  const text = encryption.decrypt(stored, argumentsContext(machineId));
  return text === undefined ? undefined : (JSON.parse(text) as readonly string[]);
}

function argumentsContext(machineId: MachineId): string {
  return `default job arguments ${machineId}`;
}

/** Encrypts arguments that an earlier version stored in clear, of a few jobs; returns how many. */
export async function encryptEarlierJobs(tx: Tx, encryption: Encryption, limit: number): Promise<number> {
  const { rows } = await sql<{ readonly machine_id: MachineId; readonly args: readonly string[] }>`
    select machine_id, args from default_jobs where jsonb_typeof(args) = 'array'
    order by machine_id limit ${limit} for update skip locked
  `.execute(tx.db);
  for (const { machine_id: machineId, args } of rows) {
    const encrypted = JSON.stringify(encryptArguments({ machineId, args }, encryption));
    await tx.db.updateTable("default_jobs").set({ args: encrypted }).where("machine_id", "=", machineId).execute();
  }
  return rows.length;
}

/** Machines with a default job, in id order after the given one. */
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

/** A renter's report about a machine. */
export type Report = { readonly problem: string; readonly message: string; readonly createdAt: Date };

/** Stores a report; the same renter's report of the same problem is renewed. */
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

/** Number of other problems of a machine that this renter has reported. */
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

/** Number of reports on each of these machines; machines without reports are missing. */
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

/** Number of reports on all machines since a moment. */
export async function countReportsSince(db: Reader, since: Date): Promise<number> {
  const row = await db
    .selectFrom("machine_reports")
    .select(sql<number>`count(*)::integer`.as("count"))
    .where("created_at", ">=", since)
    .executeTakeFirstOrThrow();
  return row.count;
}
