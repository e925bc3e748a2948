import { sql } from "kysely";
import type { EndpointGroupId, InstanceId, UserId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { Parameters } from "./parameters.ts";

export type EndpointGroup = Parameters & {
  readonly id: EndpointGroupId;
  readonly userId: UserId;
  /** Opens this endpoint's route and nothing else. */
  readonly apiKey: string;
  readonly createdAt: Date;
};

/** A worker whose instance is to be destroyed. */
export type RemovableWorker = {
  readonly instanceId: InstanceId;
  readonly endpointGroupId: EndpointGroupId;
  readonly userId: UserId;
  readonly attemptCount: number;
};

export async function insertEndpointGroup(
  tx: Tx,
  { userId, apiKey, parameters }: { userId: UserId; apiKey: string; parameters: Parameters },
): Promise<EndpointGroupId> {
  const row = await tx.db
    .insertInto("endpoint_groups")
    .values({ user_id: userId, api_key: apiKey, ...toColumns(parameters), created_at: tx.now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function updateEndpointGroup(tx: Tx, id: EndpointGroupId, parameters: Parameters): Promise<void> {
  await tx.db.updateTable("endpoint_groups").set(toColumns(parameters)).where("id", "=", id).execute();
}

export async function listEndpointGroups(db: Reader, userId: UserId): Promise<readonly EndpointGroup[]> {
  const rows = await selectGroups(db).where("user_id", "=", userId).orderBy("id").execute();
  return rows.map(toGroup);
}

/** A live group of this user. */
export async function findEndpointGroup(
  db: Reader,
  id: EndpointGroupId,
  userId: UserId,
): Promise<EndpointGroup | undefined> {
  const row = await selectGroups(db).where("id", "=", id).where("user_id", "=", userId).executeTakeFirst();
  return row && toGroup(row);
}

export async function hasEndpointGroup(db: Reader, userId: UserId, id: EndpointGroupId): Promise<boolean> {
  return (await findEndpointGroup(db, id, userId)) !== undefined;
}

/** Locks a live group of this user: its parameters and its set of workers change under this lock. */
export async function findEndpointGroupForUpdate(
  tx: Tx,
  id: EndpointGroupId,
  userId: UserId,
): Promise<EndpointGroup | undefined> {
  const row = await selectGroups(tx.db)
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
  return row && toGroup(row);
}

/** Locks a live group, whoever owns it. */
export async function lockEndpointGroup(tx: Tx, id: EndpointGroupId): Promise<EndpointGroup | undefined> {
  const row = await selectGroups(tx.db).where("id", "=", id).forUpdate().executeTakeFirst();
  return row && toGroup(row);
}

export async function markEndpointGroupDeleted(tx: Tx, id: EndpointGroupId): Promise<void> {
  await tx.db.updateTable("endpoint_groups").set({ deleted_at: tx.now }).where("id", "=", id).execute();
}

/** Forgets deleted groups that have no worker left; returns how many. */
export async function deleteEmptyEndpointGroups(tx: Tx): Promise<number> {
  const result = await tx.db
    .deleteFrom("endpoint_groups")
    .where("deleted_at", "is not", null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("endpoint_workers")
            .select("instance_id")
            .whereRef("endpoint_workers.endpoint_group_id", "=", "endpoint_groups.id"),
        ),
      ),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

export async function insertWorker(tx: Tx, groupId: EndpointGroupId, instanceId: InstanceId): Promise<void> {
  await tx.db
    .insertInto("endpoint_workers")
    .values({ instance_id: instanceId, endpoint_group_id: groupId, state: "active", created_at: tx.now })
    .execute();
  await tx.db
    .insertInto("endpoint_worker_names")
    .values({ instance_id: instanceId, endpoint_group_id: groupId })
    .execute();
}

/** Which endpoints these instances work for, or did; those that never did are left out. */
export async function listEndpointsOf(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, number>> {
  const rows = await db
    .selectFrom("endpoint_worker_names")
    .select(["instance_id", "endpoint_group_id"])
    .where("instance_id", "=", sql<InstanceId>`any(${[...instanceIds]}::integer[])`)
    .execute();
  return new Map(rows.map((row) => [row.instance_id, row.endpoint_group_id]));
}

/** How many workers a group has, those being removed included. */
export async function countWorkers(db: Reader, groupId: EndpointGroupId): Promise<number> {
  const row = await db
    .selectFrom("endpoint_workers")
    .select(sql<number>`count(*)::integer`.as("worker_count"))
    .where("endpoint_group_id", "=", groupId)
    .executeTakeFirstOrThrow();
  return row.worker_count;
}

/** Locks all workers of a group, in id order. */
export async function listWorkersForUpdate(tx: Tx, groupId: EndpointGroupId): Promise<readonly RemovableWorker[]> {
  const rows = await selectWorkers(tx)
    .where("endpoint_workers.endpoint_group_id", "=", groupId)
    .orderBy("endpoint_workers.instance_id")
    .forUpdate("endpoint_workers")
    .execute();
  return rows.map(toWorker);
}

/** Workers whose removal failed before and is due again, the most overdue first; not locked. */
export async function listDueWorkers(db: Reader, now: Date, limit: number): Promise<readonly InstanceId[]> {
  const rows = await db
    .selectFrom("endpoint_workers")
    .select("instance_id")
    .where("state", "=", "removing")
    .where("next_removal_at", "<=", now)
    .orderBy("next_removal_at")
    .orderBy("instance_id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.instance_id);
}

/** Locks a worker if its removal is still due; undefined also while another process is at it. */
export async function claimDueWorker(tx: Tx, instanceId: InstanceId): Promise<RemovableWorker | undefined> {
  const row = await selectWorkers(tx)
    .where("endpoint_workers.instance_id", "=", instanceId)
    .where("endpoint_workers.state", "=", "removing")
    .where("endpoint_workers.next_removal_at", "<=", tx.now)
    .forUpdate("endpoint_workers")
    .skipLocked()
    .executeTakeFirst();
  return row && toWorker(row);
}

export async function deleteWorker(tx: Tx, instanceId: InstanceId): Promise<void> {
  await tx.db.deleteFrom("endpoint_workers").where("instance_id", "=", instanceId).execute();
}

/** Notes that a worker could not be removed, why, and when it is tried again. */
export async function markRemovalFailed(
  tx: Tx,
  instanceId: InstanceId,
  { attemptCount, failure, nextAt }: { attemptCount: number; failure: string; nextAt: Date },
): Promise<void> {
  await tx.db
    .updateTable("endpoint_workers")
    .set({
      state: "removing",
      removal_attempt_count: attemptCount,
      removal_failure: failure,
      next_removal_at: nextAt,
    })
    .where("instance_id", "=", instanceId)
    .execute();
}

/** Runs `work` so that its failure undoes what it wrote itself and leaves the rest of the transaction usable. */
export async function inSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await sql`savepoint worker_removal`.execute(tx.db);
  try {
    const result = await work();
    await sql`release savepoint worker_removal`.execute(tx.db);
    return result;
  } catch (error) {
    await sql`rollback to savepoint worker_removal`.execute(tx.db);
    throw error;
  }
}

function selectWorkers(tx: Tx) {
  return tx.db
    .selectFrom("endpoint_workers")
    .innerJoin("endpoint_groups", "endpoint_groups.id", "endpoint_workers.endpoint_group_id")
    .select([
      "endpoint_workers.instance_id",
      "endpoint_workers.endpoint_group_id",
      "endpoint_groups.user_id",
      "endpoint_workers.removal_attempt_count",
    ]);
}

type WorkerRow = Awaited<ReturnType<ReturnType<typeof selectWorkers>["executeTakeFirstOrThrow"]>>;

function toWorker(row: WorkerRow): RemovableWorker {
  return {
    instanceId: row.instance_id,
    endpointGroupId: row.endpoint_group_id,
    userId: row.user_id,
    attemptCount: row.removal_attempt_count,
  };
}

function selectGroups(db: Reader) {
  return db
    .selectFrom("endpoint_groups")
    .select([
      "id",
      "user_id",
      "api_key",
      "name",
      "state",
      "min_load",
      "min_cold_load",
      "target_util",
      "cold_mult",
      "cold_workers",
      "max_workers",
      "max_queue_time_s",
      "target_queue_time_s",
      "inactivity_timeout_s",
      "created_at",
    ])
    .where("deleted_at", "is", null);
}

type GroupRow = Awaited<ReturnType<ReturnType<typeof selectGroups>["executeTakeFirstOrThrow"]>>;

function toGroup(row: GroupRow): EndpointGroup {
  return {
    id: row.id,
    userId: row.user_id,
    apiKey: row.api_key,
    name: row.name,
    state: row.state,
    minLoad: row.min_load,
    minColdLoad: row.min_cold_load,
    targetUtil: row.target_util,
    coldMult: row.cold_mult,
    coldWorkers: row.cold_workers,
    maxWorkers: row.max_workers,
    maxQueueTimeS: row.max_queue_time_s ?? undefined,
    targetQueueTimeS: row.target_queue_time_s ?? undefined,
    inactivityTimeoutS: row.inactivity_timeout_s ?? undefined,
    createdAt: row.created_at,
  };
}

function toColumns(parameters: Parameters) {
  return {
    name: parameters.name,
    state: parameters.state,
    min_load: parameters.minLoad,
    min_cold_load: parameters.minColdLoad,
    target_util: parameters.targetUtil,
    cold_mult: parameters.coldMult,
    cold_workers: parameters.coldWorkers,
    max_workers: parameters.maxWorkers,
    max_queue_time_s: parameters.maxQueueTimeS ?? null,
    target_queue_time_s: parameters.targetQueueTimeS ?? null,
    inactivity_timeout_s: parameters.inactivityTimeoutS ?? null,
  };
}
