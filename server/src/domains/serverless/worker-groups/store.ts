import type { ApiKeyId, EndpointGroupId, UserId, WorkerGroupId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Recipe, SearchQuery, WorkerGroup, WorkerGroupParameters } from "./worker-group.ts";
import type { WorkerPrice } from "../workers/worker-price.ts";

type NewWorkerGroup = WorkerGroupParameters &
  Recipe &
  WorkerPrice & { readonly endpointGroupId: EndpointGroupId; readonly userId: UserId; readonly apiKeyId: ApiKeyId };

export async function insertWorkerGroup(tx: Tx, group: NewWorkerGroup): Promise<WorkerGroupId> {
  const row = await tx.db
    .insertInto("worker_groups")
    .values({
      endpoint_group_id: group.endpointGroupId,
      user_id: group.userId,
      api_key_id: group.apiKeyId,
      ...toColumns(group),
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Stores the settings of a group; `isOther` if the recipe changed, so that the workers have to be updated. */
export async function updateWorkerGroup(
  tx: Tx,
  id: WorkerGroupId,
  { group, isOther }: { readonly group: WorkerGroupParameters & Recipe & WorkerPrice; readonly isOther: boolean },
): Promise<void> {
  await tx.db
    .updateTable("worker_groups")
    .set((eb) => ({
      ...toColumns(group),
      ...(isOther ? { generation: eb("generation", "+", 1), is_updating: true } : {}),
    }))
    .where("id", "=", id)
    .execute();
}

/**
 * A live group of this user, under the lock of its endpoint. The group's own row is locked last, after the workers: a
 * worker that reports a failure has its row locked when the group counts it.
 */
export async function findWorkerGroupForUpdate(
  tx: Tx,
  id: WorkerGroupId,
  userId: UserId,
): Promise<WorkerGroup | undefined> {
  const locked = await selectWorkerGroups(tx.db)
    .where("worker_groups.id", "=", id)
    .where("worker_groups.user_id", "=", userId)
    .forNoKeyUpdate("endpoint_groups")
    .executeTakeFirst();
  // The group is read again, as it may have changed while the lock was awaited.
  return locked && findWorkerGroup(tx.db, id, userId);
}

/**
 * Raises the generation of a group whose recipe text now means something else: its workers have to be updated.
 * Returns the new generation.
 */
export async function raiseGeneration(tx: Tx, id: WorkerGroupId): Promise<number> {
  const row = await tx.db
    .updateTable("worker_groups")
    .set((eb) => ({ generation: eb("generation", "+", 1), is_updating: true }))
    .where("id", "=", id)
    .returning("generation")
    .executeTakeFirstOrThrow();
  return row.generation;
}

export async function setUpdating(tx: Tx, id: WorkerGroupId, isUpdating: boolean): Promise<void> {
  await tx.db.updateTable("worker_groups").set({ is_updating: isUpdating }).where("id", "=", id).execute();
}

/** Sets the number of workers that failed in a row, and the time before which nothing is rented. */
export async function setFailures(
  tx: Tx,
  id: WorkerGroupId,
  { failureCount, resumesAt }: { readonly failureCount: number; readonly resumesAt: Date | undefined },
): Promise<void> {
  await tx.db
    .updateTable("worker_groups")
    .set({ failure_count: failureCount, resumes_at: resumesAt ?? null })
    .where("id", "=", id)
    .execute();
}

/** Sets the maximum that follows from the market, for a group without one. */
export async function setMaximum(tx: Tx, id: WorkerGroupId, maxNanosPerHour: Nanos): Promise<void> {
  await tx.db.updateTable("worker_groups").set({ max_nanos_per_hour: maxNanosPerHour }).where("id", "=", id).execute();
}

/** Sets the time since which the group waits for a lower price; undefined ends the wait. */
export async function setPriceWait(tx: Tx, id: WorkerGroupId, since: Date | undefined): Promise<void> {
  await tx.db
    .updateTable("worker_groups")
    .set({ waits_for_price_since_at: since ?? null })
    .where("id", "=", id)
    .execute();
}

export async function markWorkerGroupDeleted(tx: Tx, id: WorkerGroupId): Promise<void> {
  await tx.db.updateTable("worker_groups").set({ deleted_at: tx.now }).where("id", "=", id).execute();
}

/** The live groups of an endpoint, oldest first. */
export async function listWorkerGroups(db: Reader, endpointId: EndpointGroupId): Promise<readonly WorkerGroup[]> {
  const rows = await selectWorkerGroups(db)
    .where("worker_groups.endpoint_group_id", "=", endpointId)
    .orderBy("worker_groups.id")
    .execute();
  return rows.map(toWorkerGroup);
}

export async function listWorkerGroupsOf(db: Reader, userId: UserId): Promise<readonly WorkerGroup[]> {
  const rows = await selectWorkerGroups(db)
    .where("worker_groups.user_id", "=", userId)
    .orderBy("worker_groups.id")
    .execute();
  return rows.map(toWorkerGroup);
}

/** A live group of this user. */
export async function findWorkerGroup(db: Reader, id: WorkerGroupId, userId: UserId): Promise<WorkerGroup | undefined> {
  const row = await selectWorkerGroups(db)
    .where("worker_groups.id", "=", id)
    .where("worker_groups.user_id", "=", userId)
    .executeTakeFirst();
  return row && toWorkerGroup(row);
}

function selectWorkerGroups(db: Reader) {
  return db
    .selectFrom("worker_groups")
    .innerJoin("endpoint_groups", "endpoint_groups.id", "worker_groups.endpoint_group_id")
    .select([
      "worker_groups.id",
      "worker_groups.endpoint_group_id",
      "endpoint_groups.name as endpoint_name",
      "endpoint_groups.api_key as endpoint_key",
      "worker_groups.user_id",
      "worker_groups.api_key_id",
      "worker_groups.template_id",
      "worker_groups.template_hash",
      "worker_groups.search_params",
      "worker_groups.search_query",
      "worker_groups.launch_args",
      "worker_groups.sealed_login",
      "worker_groups.gpu_ram_gb",
      "worker_groups.test_workers",
      "worker_groups.cold_workers",
      "worker_groups.max_workers",
      "worker_groups.min_load",
      "worker_groups.min_cold_load",
      "worker_groups.target_util",
      "worker_groups.cold_mult",
      "worker_groups.generation",
      "worker_groups.is_updating",
      "worker_groups.failure_count",
      "worker_groups.resumes_at",
      "worker_groups.max_nanos_per_hour",
      "worker_groups.is_max_by_owner",
      "worker_groups.waits_for_price_since_at",
      "worker_groups.created_at",
    ])
    .where("worker_groups.deleted_at", "is", null)
    .where("endpoint_groups.deleted_at", "is", null);
}

type WorkerGroupRow = Awaited<ReturnType<ReturnType<typeof selectWorkerGroups>["executeTakeFirstOrThrow"]>>;

function toWorkerGroup(row: WorkerGroupRow): WorkerGroup {
  return {
    id: row.id,
    endpointGroupId: row.endpoint_group_id,
    endpointName: row.endpoint_name,
    endpointKey: row.endpoint_key,
    userId: row.user_id,
    apiKeyId: row.api_key_id,
    templateId: row.template_id ?? undefined,
    templateHash: row.template_hash,
    searchParams: row.search_params,
    searchQuery: row.search_query as SearchQuery,
    encryptedArgs: row.launch_args,
    encryptedLogin: row.sealed_login,
    gpuRamGb: row.gpu_ram_gb,
    testWorkers: row.test_workers,
    coldWorkers: row.cold_workers,
    maxWorkers: row.max_workers,
    minLoad: row.min_load,
    minColdLoad: row.min_cold_load,
    targetUtil: row.target_util,
    coldMult: row.cold_mult,
    generation: row.generation,
    isUpdating: row.is_updating,
    failureCount: row.failure_count,
    resumesAt: row.resumes_at ?? undefined,
    maxNanosPerHour: row.max_nanos_per_hour === null ? undefined : nanos(row.max_nanos_per_hour),
    isMaxByOwner: row.is_max_by_owner,
    waitsForPriceSince: row.waits_for_price_since_at ?? undefined,
    createdAt: row.created_at,
  };
}

function toColumns(group: WorkerGroupParameters & Recipe & WorkerPrice) {
  return {
    template_id: group.templateId ?? null,
    template_hash: group.templateHash,
    search_params: group.searchParams,
    search_query: JSON.stringify(group.searchQuery),
    launch_args: group.encryptedArgs,
    sealed_login: group.encryptedLogin,
    gpu_ram_gb: group.gpuRamGb,
    test_workers: group.testWorkers,
    cold_workers: group.coldWorkers,
    max_workers: group.maxWorkers,
    min_load: group.minLoad,
    min_cold_load: group.minColdLoad,
    target_util: group.targetUtil,
    cold_mult: group.coldMult,
    max_nanos_per_hour: group.maxNanosPerHour ?? null,
    is_max_by_owner: group.isMaxByOwner,
  };
}
