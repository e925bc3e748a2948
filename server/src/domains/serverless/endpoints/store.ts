import { sql } from "kysely";
import type { EndpointGroupId, InstanceId, UserId, WorkerGroupId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Parameters } from "./rules/parameters.ts";

/** Tells every server that an endpoint, its workers or what they report has changed; the payload lists endpoints by id. */
export const ENDPOINTS_CHANNEL = "endpoints";

/** Tells other servers which requests a worker has finished that one of them gave away (`finished-elsewhere.ts`). */
export const FINISHED_CHANNEL = "endpoint_requests_finished";

/** Asks other servers to route by the present state of an endpoint, and brings their answers (`agreement.ts`). */
export const AGREEMENT_CHANNEL = "endpoint_agreement";

export type EndpointGroup = Parameters & {
  readonly id: EndpointGroupId;
  readonly userId: UserId;
  /** Authorises this endpoint's route and nothing else. */
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

/** Once the transaction is committed, every server reads these endpoints and their workers again. */
export async function notifyEndpoints(tx: Tx, ids: readonly EndpointGroupId[]): Promise<void> {
  // A payload has at most 8,000 bytes.
  for (let start = 0; start < ids.length; start += 500) {
    const payload = ids.slice(start, start + 500).join(",");
    await sql`select pg_notify(${ENDPOINTS_CHANNEL}, ${payload})`.execute(tx.db);
  }
}

export async function notifyFinished(tx: Tx, payloads: readonly string[]): Promise<void> {
  for (const payload of payloads) await sql`select pg_notify(${FINISHED_CHANNEL}, ${payload})`.execute(tx.db);
}

export async function notifyAgreement(tx: Tx, payload: string): Promise<void> {
  await sql`select pg_notify(${AGREEMENT_CHANNEL}, ${payload})`.execute(tx.db);
}

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

export async function countEndpointGroups(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom("endpoint_groups")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
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

/** The id of the oldest live group of this user with this name. */
export async function findEndpointIdByName(
  db: Reader,
  userId: UserId,
  name: string,
): Promise<EndpointGroupId | undefined> {
  const row = await selectGroups(db)
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

export async function hasEndpointGroup(db: Reader, userId: UserId, id: EndpointGroupId): Promise<boolean> {
  return (await findEndpointGroup(db, id, userId)) !== undefined;
}

/**
 * Locks a live group of this user: its parameters and its set of workers change under this lock. The lock is not on
 * its key, so a row that only refers to the group, such as an event of a worker, does not wait for a transaction that
 * may be waiting for that worker.
 */
export async function findEndpointGroupForUpdate(
  tx: Tx,
  id: EndpointGroupId,
  userId: UserId,
): Promise<EndpointGroup | undefined> {
  const row = await selectGroups(tx.db)
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row && toGroup(row);
}

/** Locks a live group of any user. */
export async function lockEndpointGroup(tx: Tx, id: EndpointGroupId): Promise<EndpointGroup | undefined> {
  const row = await selectGroups(tx.db).where("id", "=", id).forNoKeyUpdate().executeTakeFirst();
  return row && toGroup(row);
}

/** A locked group, with the time at which any server last stored a decision. */
export type ClaimedGroup = EndpointGroup & { readonly decidedAt: Date | undefined };

/**
 * Locks a live group for one server at a time: `busy` while another transaction has it, and `gone` once it was
 * deleted.
 */
export async function claimEndpointGroup(tx: Tx, id: EndpointGroupId): Promise<ClaimedGroup | "busy" | "gone"> {
  const row = await selectGroups(tx.db)
    .select("decided_at")
    .where("id", "=", id)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (row !== undefined) return { ...toGroup(row), decidedAt: row.decided_at ?? undefined };
  return (await selectGroups(tx.db).where("id", "=", id).executeTakeFirst()) === undefined ? "gone" : "busy";
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

/** The endpoint that an instance works for, or worked for. */
export type Workplace = {
  readonly endpointId: number;
  /** Empty when the endpoint's row is deleted. */
  readonly endpointName: string;
  /** Workers from before there were worker groups have none. */
  readonly workerGroupId: number | undefined;
};

/** The endpoints that these instances work for, or worked for; other instances are left out. */
export async function listWorkplaces(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, Workplace>> {
  const rows = await db
    .selectFrom("endpoint_worker_names as worker")
    .leftJoin("endpoint_groups as endpoint", "endpoint.id", "worker.endpoint_group_id")
    .select(["worker.instance_id", "worker.endpoint_group_id", "worker.worker_group_id", "endpoint.name"])
    .where("worker.instance_id", "=", sql<InstanceId>`any(${[...instanceIds]}::integer[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.instance_id,
      {
        endpointId: row.endpoint_group_id,
        endpointName: row.name ?? "",
        workerGroupId: row.worker_group_id ?? undefined,
      },
    ]),
  );
}

/** The number of workers of a group, those being removed included. */
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

/** Locks the workers of one worker group; its endpoint is locked. */
export async function listWorkersOfGroupForUpdate(tx: Tx, groupId: WorkerGroupId): Promise<readonly RemovableWorker[]> {
  const rows = await selectWorkers(tx)
    .where("endpoint_workers.worker_group_id", "=", groupId)
    .orderBy("endpoint_workers.instance_id")
    .forUpdate("endpoint_workers")
    .execute();
  return rows.map(toWorker);
}

/** The number of workers of a group from an earlier recipe than it has now; those being removed are left out. */
export async function countOutdatedWorkers(
  db: Reader,
  { id, generation }: { readonly id: WorkerGroupId; readonly generation: number },
): Promise<number> {
  const row = await db
    .selectFrom("endpoint_workers")
    .select(sql<number>`count(*)::integer`.as("worker_count"))
    .where("worker_group_id", "=", id)
    .where("generation", "<", generation)
    .where("state", "=", "active")
    .executeTakeFirstOrThrow();
  return row.worker_count;
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

/** Locks a worker if its removal is still due; undefined also while another process has locked it. */
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

/** Records that a worker could not be removed, why, and when it is tried again. */
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
