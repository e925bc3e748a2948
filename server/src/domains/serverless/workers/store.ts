import { sql, type Selectable } from "kysely";
import type { EndpointGroupId, InstanceId, MachineId, WorkerGroupId } from "../../../base/ids.ts";
import { toJsonRows } from "../../../db/insert-rows.ts";
import type { EndpointWorkersTable } from "../../../db/tables.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { DrainTo } from "../autoscaling/rules/types.ts";

/** A worker as it is stored, beside its instance. Times are by our clock, not the worker's. */
export type Worker = {
  readonly instanceId: InstanceId;
  readonly endpointGroupId: EndpointGroupId;
  readonly workerGroupId: WorkerGroupId | undefined;
  readonly machineId: MachineId | undefined;
  /** The generation of its group's recipe. */
  readonly generation: number;
  readonly tokenSha256: Buffer | undefined;
  /** The URL at which it takes requests; empty until it reported one. */
  readonly url: string;
  readonly version: string;
  readonly createdAt: Date;
  /** The time of its last order to start; undefined while it is not meant to run. */
  readonly startedAt: Date | undefined;
  readonly readyAt: Date | undefined;
  /** The instance's generation in which it reported to be ready. */
  readonly readyGeneration: number | undefined;
  readonly reportedAt: Date | undefined;
  readonly claimedPerf: number | undefined;
  readonly observedPerf: number | undefined;
  readonly firstStartMs: number | undefined;
  readonly warmStartMs: number | undefined;
  readonly currentLoad: number;
  readonly workingCount: number;
  readonly diskUsageGb: number;
  readonly activeAt: Date | undefined;
  readonly draining: { readonly to: DrainTo; readonly at: Date } | undefined;
  readonly failure: string;
  readonly failedAt: Date | undefined;
};

/** The workers of an endpoint in id order, without those that are being removed. */
export async function listWorkers(db: Reader, endpointGroupId: EndpointGroupId): Promise<readonly Worker[]> {
  const rows = await db
    .selectFrom("endpoint_workers")
    .selectAll()
    .where("endpoint_group_id", "=", endpointGroupId)
    .where("state", "=", "active")
    .orderBy("instance_id")
    .execute();
  return rows.map(toWorker);
}

/** The workers among these instances. */
export async function listWorkersById(db: Reader, ids: readonly InstanceId[]): Promise<readonly Worker[]> {
  const rows = await db
    .selectFrom("endpoint_workers")
    .selectAll()
    .where("instance_id", "=", sql<InstanceId>`any(${[...ids]}::integer[])`)
    .where("state", "=", "active")
    .execute();
  return rows.map(toWorker);
}

/** Locks the workers among these instances in id order; those that are gone or being removed are left out. */
export async function lockWorkers(tx: Tx, ids: readonly InstanceId[]): Promise<readonly Worker[]> {
  const rows = await tx.db
    .selectFrom("endpoint_workers")
    .selectAll()
    .where("instance_id", "=", sql<InstanceId>`any(${[...ids]}::integer[])`)
    .where("state", "=", "active")
    .orderBy("instance_id")
    .forUpdate()
    .execute();
  return rows.map(toWorker);
}

/** Endpoints that may have something to decide, in id order. */
export async function listEndpointIds(db: Reader): Promise<readonly EndpointGroupId[]> {
  const rows = await db
    .selectFrom("endpoint_groups")
    .select("id")
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map((row) => row.id);
}

export type Hire = {
  readonly instanceId: InstanceId;
  readonly endpointGroupId: EndpointGroupId;
  readonly workerGroupId: WorkerGroupId;
  readonly machineId: MachineId;
  readonly generation: number;
  readonly tokenSha256: Buffer;
};

export async function insertHires(tx: Tx, hires: readonly Hire[]): Promise<void> {
  if (hires.length === 0) return;
  await tx.db
    .insertInto("endpoint_workers")
    .values(
      hires.map((hire) => ({
        instance_id: hire.instanceId,
        endpoint_group_id: hire.endpointGroupId,
        state: "active" as const,
        worker_group_id: hire.workerGroupId,
        machine_id: hire.machineId,
        generation: hire.generation,
        token_sha256: hire.tokenSha256,
        started_at: tx.now,
        created_at: tx.now,
      })),
    )
    .execute();
  await tx.db
    .insertInto("endpoint_worker_names")
    .values(
      hires.map((hire) => ({
        instance_id: hire.instanceId,
        endpoint_group_id: hire.endpointGroupId,
        worker_group_id: hire.workerGroupId,
      })),
    )
    .execute();
}

/** A worker's reports since the stored one, merged. */
export type Reported = {
  readonly instanceId: InstanceId;
  readonly currentLoad: number;
  readonly workingCount: number;
  readonly addedDiskGb: number;
  readonly isActive: boolean;
  readonly observedPerf: number | undefined;
};

/**
 * Stores reports without news. Answers for each if the worker is known to be ready; workers that are gone are left
 * out.
 */
export async function updateReported(
  tx: Tx,
  reported: readonly Reported[],
): Promise<ReadonlyMap<InstanceId, { readonly isReady: boolean }>> {
  if (reported.length === 0) return new Map();
  const rows = reported.map((one) => ({
    instance_id: one.instanceId,
    current_load: one.currentLoad,
    working_count: one.workingCount,
    disk_usage_gb: one.addedDiskGb,
    active_at: one.isActive ? tx.now : null,
    observed_perf: one.observedPerf ?? null,
  }));
  const { rows: updated } = await sql<{ instance_id: InstanceId; is_ready: boolean }>`
    with said as (select * from json_populate_recordset(null::endpoint_workers, ${toJsonRows(rows)}::json)),
    locked as (
      select instance_id from endpoint_workers
      where instance_id in (select instance_id from said) and state = 'active'
      order by instance_id for update
    )
    update endpoint_workers as worker set
      reported_at = ${tx.now}::timestamptz,
      current_load = said.current_load,
      working_count = said.working_count,
      disk_usage_gb = greatest(0, worker.disk_usage_gb + said.disk_usage_gb),
      active_at = coalesce(said.active_at, worker.active_at),
      observed_perf = coalesce(said.observed_perf, worker.observed_perf)
    from said, locked
    where worker.instance_id = said.instance_id and worker.instance_id = locked.instance_id
    returning worker.instance_id, worker.ready_at is not null as is_ready
  `.execute(tx.db);
  return new Map(updated.map((row) => [row.instance_id, { isReady: row.is_ready }]));
}

/** A worker after a report with news, and its activity since the stored report. */
export type Heard = { readonly worker: Worker; readonly addedDiskGb: number; readonly isActive: boolean };

/** Stores reports with news, of which a worker may have sent several; all of these workers are locked. */
export async function updateHeard(tx: Tx, heard: readonly Heard[]): Promise<void> {
  if (heard.length === 0) return;
  const groups = Map.groupBy(heard, ({ worker }) => worker.instanceId);
  const rows = [...groups.values()].flatMap((own) => {
    const last = own.at(-1);
    if (last === undefined) return [];
    const addedDiskGb = own.reduce((sum, one) => sum + one.addedDiskGb, 0);
    const activeAt = own.some(({ isActive }) => isActive) ? tx.now : null;
    const { instanceId } = last.worker;
    return { ...toColumns(last.worker), instance_id: instanceId, disk_usage_gb: addedDiskGb, active_at: activeAt };
  });
  await sql`
    with said as (select * from json_populate_recordset(null::endpoint_workers, ${toJsonRows(rows)}::json))
    update endpoint_workers as worker set
      url = said.url,
      version = said.version,
      started_at = said.started_at,
      ready_at = said.ready_at,
      ready_generation = said.ready_generation,
      reported_at = said.reported_at,
      claimed_perf = said.claimed_perf,
      observed_perf = said.observed_perf,
      first_start_ms = said.first_start_ms,
      warm_start_ms = said.warm_start_ms,
      current_load = said.current_load,
      working_count = said.working_count,
      disk_usage_gb = greatest(0, worker.disk_usage_gb + said.disk_usage_gb),
      active_at = coalesce(said.active_at, worker.active_at)
    from said
    where worker.instance_id = said.instance_id
  `.execute(tx.db);
}

/** Fields of a worker that may change; absent ones stay. */
export type WorkerChange = Partial<
  Pick<
    Worker,
    | "generation"
    | "url"
    | "version"
    | "startedAt"
    | "readyAt"
    | "readyGeneration"
    | "reportedAt"
    | "claimedPerf"
    | "observedPerf"
    | "firstStartMs"
    | "warmStartMs"
    | "currentLoad"
    | "workingCount"
    | "draining"
    | "failure"
    | "failedAt"
  >
>;

export async function updateWorker(tx: Tx, instanceId: InstanceId, change: WorkerChange): Promise<void> {
  const columns = toColumns(change);
  if (Object.keys(columns).length === 0) return;
  await tx.db.updateTable("endpoint_workers").set(columns).where("instance_id", "=", instanceId).execute();
}

/** Machines on which workers of these groups failed recently. */
export async function listAvoided(
  db: Reader,
  groupIds: readonly WorkerGroupId[],
  now: Date,
): Promise<ReadonlyMap<WorkerGroupId, ReadonlySet<MachineId>>> {
  const rows = await db
    .selectFrom("worker_group_avoidances")
    .select(["worker_group_id", "machine_id"])
    .where("worker_group_id", "=", sql<WorkerGroupId>`any(${[...groupIds]}::integer[])`)
    .where("until_at", ">", now)
    .execute();
  const groups = Map.groupBy(rows, (row) => row.worker_group_id);
  return new Map([...groups].map(([id, avoided]) => [id, new Set(avoided.map((row) => row.machine_id))]));
}

export async function avoidMachine(
  tx: Tx,
  {
    groupId,
    machineId,
    until,
  }: { readonly groupId: WorkerGroupId; readonly machineId: MachineId; readonly until: Date },
): Promise<void> {
  await tx.db
    .insertInto("worker_group_avoidances")
    .values({ worker_group_id: groupId, machine_id: machineId, until_at: until })
    .onConflict((conflict) => conflict.columns(["worker_group_id", "machine_id"]).doUpdateSet({ until_at: until }))
    .execute();
}

export async function deleteAvoidancesBefore(tx: Tx, before: Date): Promise<void> {
  await tx.db.deleteFrom("worker_group_avoidances").where("until_at", "<", before).execute();
}

export async function setDecidedAt(tx: Tx, endpointGroupId: EndpointGroupId): Promise<void> {
  await tx.db.updateTable("endpoint_groups").set({ decided_at: tx.now }).where("id", "=", endpointGroupId).execute();
}

function toColumns(change: WorkerChange) {
  const columns: Record<string, unknown> = {};
  for (const [name, column] of COLUMNS) if (name in change) columns[column] = change[name] ?? null;
  if ("draining" in change) {
    columns["draining_at"] = change.draining?.at ?? null;
    columns["draining_to"] = change.draining?.to ?? null;
  }
  return columns;
}

const COLUMNS = [
  ["generation", "generation"],
  ["url", "url"],
  ["version", "version"],
  ["startedAt", "started_at"],
  ["readyAt", "ready_at"],
  ["readyGeneration", "ready_generation"],
  ["reportedAt", "reported_at"],
  ["claimedPerf", "claimed_perf"],
  ["observedPerf", "observed_perf"],
  ["firstStartMs", "first_start_ms"],
  ["warmStartMs", "warm_start_ms"],
  ["currentLoad", "current_load"],
  ["workingCount", "working_count"],
  ["failure", "failure"],
  ["failedAt", "failed_at"],
] as const;

function toWorker(row: Selectable<EndpointWorkersTable>): Worker {
  const { draining_at: drainingAt, draining_to: drainingTo } = row;
  return {
    instanceId: row.instance_id,
    endpointGroupId: row.endpoint_group_id,
    workerGroupId: row.worker_group_id ?? undefined,
    machineId: row.machine_id ?? undefined,
    generation: row.generation,
    tokenSha256: row.token_sha256 ?? undefined,
    url: row.url,
    version: row.version,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    readyAt: row.ready_at ?? undefined,
    readyGeneration: row.ready_generation ?? undefined,
    reportedAt: row.reported_at ?? undefined,
    claimedPerf: row.claimed_perf ?? undefined,
    observedPerf: row.observed_perf ?? undefined,
    firstStartMs: toNumber(row.first_start_ms),
    warmStartMs: toNumber(row.warm_start_ms),
    currentLoad: row.current_load,
    workingCount: row.working_count,
    diskUsageGb: row.disk_usage_gb,
    activeAt: row.active_at ?? undefined,
    draining: drainingAt === null || drainingTo === null ? undefined : { to: drainingTo, at: drainingAt },
    failure: row.failure,
    failedAt: row.failed_at ?? undefined,
  };
}

function toNumber(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
