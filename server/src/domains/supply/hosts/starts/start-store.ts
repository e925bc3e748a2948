import { sql } from "kysely";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import { insertRows } from "../../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Breaker, Failure } from "./rules/breaker.ts";
import { dayOf } from "../presence/rules/reliability.ts";

/** The start of one run of an instance on one machine. */
export type Start = {
  readonly machineId: MachineId;
  readonly instanceId: InstanceId;
  readonly generation: number;
};
export type TriedStart = Start & { readonly renterId: UserId };

/**
 * Counts successful starts; a failure that was noted for an earlier attempt of the same run is deleted, and so is the
 * machine's streak of failures. A start of the host's own job shows that starts work, and counts for nothing else. The
 * caller holds the machines' locks, and reports each run once.
 */
export async function recordBegunStarts(tx: Tx, starts: readonly TriedStart[]): Promise<void> {
  if (starts.length === 0) return;
  await sql`
    with begun as (
      select told.*, renter_id <> host_id as is_renters from unnest(
        ${starts.map((start) => start.machineId)}::integer[], ${starts.map((start) => start.instanceId)}::integer[],
        ${starts.map((start) => start.generation)}::integer[], ${starts.map((start) => start.renterId)}::integer[]
      ) as told (machine_id, instance_id, generation, renter_id) join machines on machines.id = told.machine_id
    ), taken_back as (
      delete from failed_starts using begun
      where failed_starts.instance_id = begun.instance_id and failed_starts.generation = begun.generation
    ), machine as (
      select machine_id, count(*) filter (where is_renters)::integer as count from begun group by machine_id
    ), cleared as (
      update machines set
        starts_fail_since_at = case when machine.count = 0 then starts_fail_since_at end,
        rest_count = case when machine.count = 0 then rest_count else 0 end,
        first_start_succeeded_at = coalesce(first_start_succeeded_at, ${tx.now}::timestamptz)
      from machine where machine.machine_id = machines.id and (first_start_succeeded_at is null
        or machine.count > 0 and (starts_fail_since_at is not null or rest_count > 0))
    )
    insert into machine_start_days (machine_id, day, succeeded_count)
    select machine_id, ${dayOf(tx.now)}::integer, count from machine where count > 0 order by machine_id
    on conflict (machine_id, day) do update
      set succeeded_count = machine_start_days.succeeded_count + excluded.succeeded_count
  `.execute(tx.db);
}

export type NotedFailure = Start & Failure & { readonly reason: string };

export async function insertFailedStarts(tx: Tx, failures: readonly NotedFailure[]): Promise<void> {
  await insertRows(
    tx,
    "failed_starts",
    failures.map((failure) => ({
      instance_id: failure.instanceId,
      generation: failure.generation,
      machine_id: failure.machineId,
      renter_id: failure.renterId,
      at: failure.at,
      reason: failure.reason,
      is_counted: failure.isCounted,
    })),
  );
}

/** Those of these starts that are already noted as failed. */
export async function listKnownFailures(db: Reader, starts: readonly Start[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ instance_id: InstanceId; generation: number }>`
    select instance_id, generation from failed_starts join unnest(
      ${starts.map((start) => start.instanceId)}::integer[], ${starts.map((start) => start.generation)}::integer[]
    ) as asked (instance_id, generation) using (instance_id, generation)
  `.execute(db);
  return new Set(rows.map((row) => startKey({ instanceId: row.instance_id, generation: row.generation })));
}

export function startKey({ instanceId, generation }: Pick<Start, "instanceId" | "generation">): string {
  return `${instanceId} ${generation}`;
}

/** The state of a machine's breaker with its recent failures. */
export type SuspectMachine = Breaker & {
  readonly hostId: UserId;
  /** When its agent connected; undefined while it is not connected. */
  readonly connectedSince: Date | undefined;
  readonly failures: readonly Failure[];
};

/** More failures than any rule looks at; a host that fails every start must not slow down its own reports. */
const FAILURES_MAX = 100;

/** These machines with their failures of the last hour and of the present streak. The caller holds their locks. */
export async function listSuspects(
  tx: Tx,
  machineIds: readonly MachineId[],
  sinceMs: number,
): Promise<ReadonlyMap<MachineId, SuspectMachine>> {
  const since = new Date(tx.now.getTime() - sinceMs);
  const rows = await tx.db
    .selectFrom("machines")
    .select([
      "id",
      "host_id",
      "starts_fail_since_at",
      "rests_until_at",
      "rest_count",
      "is_connected",
      "connected_at",
      "created_at",
    ])
    .where("id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .execute();
  const { rows: failures } = await sql<Failure & { readonly machineId: MachineId }>`
    select failed.machine_id as "machineId", failed.renter_id as "renterId", failed.at, failed.is_counted as "isCounted"
    from machines cross join lateral (
      select * from failed_starts
      where machine_id = machines.id and at >= least(machines.starts_fail_since_at, ${since}::timestamptz)
      order by at desc limit ${FAILURES_MAX}
    ) as failed
    where machines.id = any(${machineIds}::integer[])
    order by failed.at
  `.execute(tx.db);
  const byMachine = Map.groupBy(failures, (failure) => failure.machineId);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        hostId: row.host_id,
        failingSince: row.starts_fail_since_at ?? undefined,
        restsUntil: row.rests_until_at ?? undefined,
        restCount: row.rest_count,
        connectedSince: row.is_connected ? (row.connected_at ?? row.created_at) : undefined,
        failures: byMachine.get(row.id) ?? [],
      },
    ]),
  );
}

export async function setBreaker(tx: Tx, id: MachineId, breaker: Breaker): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({
      starts_fail_since_at: breaker.failingSince ?? null,
      rests_until_at: breaker.restsUntil ?? null,
      rest_count: breaker.restCount,
    })
    .where("id", "=", id)
    .execute();
}

/** Machines whose rest is over. */
export async function listRested(db: Reader, now: Date, limit: number): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("machines")
    .select("id")
    .where("rests_until_at", "<=", now)
    .orderBy("rests_until_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Ends rests that are over; returns their machines. The caller holds the row locks. */
export async function clearRests(tx: Tx, ids: readonly MachineId[]): Promise<readonly MachineId[]> {
  const rows = await tx.db
    .updateTable("machines")
    .set({ rests_until_at: null })
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .where("rests_until_at", "<=", tx.now)
    .returning("id")
    .execute();
  return rows.map((row) => row.id);
}

/** Reasons of machines that rest: the reason of the last failed start. Machines that do not rest are left out. */
export async function listRestReasons(
  db: Reader,
  machineIds: readonly MachineId[],
  now: Date,
): Promise<ReadonlyMap<MachineId, string>> {
  const { rows } = await sql<{ id: MachineId; reason: string }>`
    select machines.id, failed.reason from machines cross join lateral (
      select reason from failed_starts where machine_id = machines.id order by at desc limit 1
    ) as failed
    where machines.id = any(${machineIds}::integer[]) and machines.rests_until_at > ${now}::timestamptz
  `.execute(db);
  return new Map(
    rows.map(({ id, reason }) => [
      id,
      `It rests since its last starts failed by its own fault; the last one: ${reason}`,
    ]),
  );
}

/** Deletes presence days and failures before this time, up to `limit` rows of each; returns how many. */
export async function deleteOldFacts(tx: Tx, before: Date, limit: number): Promise<number> {
  const day = dayOf(before);
  const deletions = [
    sql`delete from machine_days where ctid = any(array(
      select ctid from machine_days where day < ${day}::integer limit ${limit}
    ))`,
    sql`delete from machine_start_days where ctid = any(array(
      select ctid from machine_start_days where day < ${day}::integer limit ${limit}
    ))`,
    sql`delete from failed_starts where ctid = any(array(
      select ctid from failed_starts where at < ${before}::timestamptz limit ${limit}
    ))`,
  ];
  let rows = 0;
  for (const deletion of deletions) rows += Number((await deletion.execute(tx.db)).numAffectedRows ?? 0n);
  return rows;
}
