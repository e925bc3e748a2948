import { sql } from "kysely";
import { toJsonRows } from "../../../../db/insert-rows.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { FloorChange, Watch } from "./rules/replay.ts";

/** The lowest bid for this many devices of one machine that runs; undefined when no new bid runs. */
export type MachineFloor = {
  readonly machineId: MachineId;
  readonly deviceCount: number;
  readonly floorNanos: bigint | undefined;
};

/** The lowest of them over all machines of a model. */
export type ModelFloor = Omit<MachineFloor, "machineId"> & { readonly gpuName: string };

const MACHINES = { table: "bid_floors", key: "machine_id" } as const;
const MODELS = { table: "model_bid_floors", key: "gpu_name" } as const;
type Kind = typeof MACHINES | typeof MODELS;

/** Stores these floors where they differ from the last that are stored; returns how many do. */
export function insertMachineFloors(tx: Tx, floors: readonly MachineFloor[]): Promise<number> {
  const rows = floors.map(({ machineId, ...floor }) => ({ machine_id: machineId, ...columnsOf(tx, floor) }));
  return insertFloors(tx, MACHINES, rows);
}

/** Stores these floors where they differ from the last that are stored; returns how many do. */
export function insertModelFloors(tx: Tx, floors: readonly ModelFloor[]): Promise<number> {
  const rows = floors.map(({ gpuName, ...floor }) => ({ gpu_name: gpuName, ...columnsOf(tx, floor) }));
  return insertFloors(tx, MODELS, rows);
}

function columnsOf(tx: Tx, { deviceCount, floorNanos }: Omit<MachineFloor, "machineId">) {
  return { device_count: deviceCount, at: tx.now, floor_nanos: floorNanos ?? null };
}

async function insertFloors(
  tx: Tx,
  { table, key }: Kind,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const { numAffectedRows } = await sql`
    insert into ${sql.table(table)} (${sql.ref(key)}, device_count, at, floor_nanos)
    select given.${sql.ref(key)}, given.device_count, given.at, given.floor_nanos
    from json_populate_recordset(null::${sql.table(table)}, ${toJsonRows(rows)}::json) as given
    left join lateral (
      select earlier.floor_nanos, true as is_known from ${sql.table(table)} as earlier
      where earlier.${sql.ref(key)} = given.${sql.ref(key)} and earlier.device_count = given.device_count
      order by earlier.at desc limit 1
    ) as last on true
    where last.is_known is null or last.floor_nanos is distinct from given.floor_nanos
    on conflict do nothing
  `.execute(tx.db);
  return Number(numAffectedRows ?? 0n);
}

/** Numbers of devices of machines for which a bid would have run by the last change that is stored. */
export async function listOpenMachineFloors(db: Reader): Promise<readonly MachineFloor[]> {
  const rows = await listOpen<{ machine_id: MachineId; device_count: number }>(db, MACHINES);
  return rows.map((row) => ({ machineId: row.machine_id, deviceCount: row.device_count, floorNanos: undefined }));
}

/** Numbers of devices of models for which a bid would have run by the last change that is stored. */
export async function listOpenModelFloors(db: Reader): Promise<readonly ModelFloor[]> {
  const rows = await listOpen<{ gpu_name: string; device_count: number }>(db, MODELS);
  return rows.map((row) => ({ gpuName: row.gpu_name, deviceCount: row.device_count, floorNanos: undefined }));
}

async function listOpen<Row>(db: Reader, { table, key }: Kind): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    select ${sql.ref(key)}, device_count from (
      select distinct on (${sql.ref(key)}, device_count) ${sql.ref(key)}, device_count, floor_nanos
      from ${sql.table(table)} order by ${sql.ref(key)}, device_count, at desc
    ) as last where floor_nanos is not null
  `.execute(db);
  return rows;
}

/** Prolongs the last watch up to now, or begins one when it ended before `since`. */
export async function keepWatching(tx: Tx, since: Date): Promise<void> {
  const { numUpdatedRows } = await tx.db
    .updateTable("bid_floor_watches")
    .set({ ended_at: sql<Date>`greatest(ended_at, ${tx.now}::timestamptz)` })
    .where("ended_at", ">=", since)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await tx.db
    .insertInto("bid_floor_watches")
    .values({ started_at: tx.now, ended_at: tx.now })
    .onConflict((oc) => oc.doNothing())
    .execute();
}

type Span = { readonly from: Date; readonly until: Date };

/** Watches that touch this span, the earliest first. */
export async function listWatches(db: Reader, { from, until }: Span): Promise<readonly Watch[]> {
  const rows = await db
    .selectFrom("bid_floor_watches")
    .select(["started_at", "ended_at"])
    .where("ended_at", ">", from)
    .where("started_at", "<", until)
    .orderBy("started_at")
    .execute();
  return rows.map((row) => ({ fromMs: row.started_at.getTime(), untilMs: row.ended_at.getTime() }));
}

/** Floors of one machine, or of one model, for this many devices, with the last one before the span, by time. */
export async function listFloors(
  db: Reader,
  asked: { readonly of: MachineId | string; readonly deviceCount: number } & Span,
): Promise<readonly FloorChange[]> {
  const { table, key } = typeof asked.of === "string" ? MODELS : MACHINES;
  const isAsked = sql`${sql.ref(key)} = ${asked.of} and device_count = ${asked.deviceCount}`;
  const { rows } = await sql<{ at: Date; floor: bigint | null }>`
    select at, floor_nanos as floor from ${sql.table(table)}
    where ${isAsked} and at < ${asked.until}::timestamptz and at >= coalesce((
      select max(at) from ${sql.table(table)} where ${isAsked} and at <= ${asked.from}::timestamptz
    ), ${asked.from}::timestamptz)
    order by at
  `.execute(db);
  return rows.map(({ at, floor }) => ({ atMs: at.getTime(), floorNanos: floor ?? undefined }));
}

/** Deletes what nobody asks about any more; the last floor before `before` stays, since it holds from then on. */
export async function deleteEarlierFloors(tx: Tx, before: Date, limit: number): Promise<number> {
  let deleted = 0n;
  for (const { table, key } of [MACHINES, MODELS]) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid in (
        select old.ctid from ${sql.table(table)} as old where old.at < ${before}::timestamptz and exists (
          select from ${sql.table(table)} as later
          where later.${sql.ref(key)} = old.${sql.ref(key)} and later.device_count = old.device_count
            and later.at > old.at and later.at <= ${before}::timestamptz
        ) limit ${limit}
      )
    `.execute(tx.db);
    deleted += numAffectedRows ?? 0n;
  }
  await tx.db.deleteFrom("bid_floor_watches").where("ended_at", "<", before).execute();
  return Number(deleted);
}
