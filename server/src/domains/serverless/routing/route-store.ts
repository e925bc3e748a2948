import { sql } from "kysely";
import type { EndpointGroupId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { measuredPerf } from "../autoscaling/rules/worker-perf.ts";
import type { Parameters } from "../endpoints/rules/parameters.ts";
import type { RoutedSecond } from "./load-counter.ts";
import { NUMBERS_PER_BLOCK } from "./request-numbers.ts";
import type { RoutableWorker } from "./routed-request.ts";

/** The fields of an endpoint that routing reads. */
export type RoutedEndpoint = Pick<Parameters, "name" | "state" | "targetUtil" | "maxQueueTimeS"> & {
  readonly id: EndpointGroupId;
  readonly userId: UserId;
  /** Authorises the route of this endpoint and nothing else. */
  readonly apiKey: string;
};

/** The assumed performance of an unmeasured worker: so low that it gets one request after the other. */
const PERF_UNKNOWN = 1e-3;

/** A live endpoint with its workers that are not being removed. */
export type RoutedFleet = { readonly endpoint: RoutedEndpoint; readonly workers: readonly RoutableWorker[] };

/** The live endpoints among these; one query reads them all. */
export async function listRoutedFleets(
  db: Reader,
  ids: readonly EndpointGroupId[],
): Promise<ReadonlyMap<EndpointGroupId, RoutedFleet>> {
  const rows = await selectEndpoints(db)
    .where("id", "=", sql<EndpointGroupId>`any(${[...ids]}::integer[])`)
    .execute();
  const workers = await listRoutableWorkers(db, ids);
  return new Map(rows.map((row) => [row.id, { endpoint: toEndpoint(row), workers: workers.get(row.id) ?? [] }]));
}

export async function findRoutedEndpointByKey(db: Reader, apiKey: string): Promise<RoutedEndpoint | undefined> {
  const row = await selectEndpoints(db).where("api_key", "=", apiKey).executeTakeFirst();
  return row && toEndpoint(row);
}

async function listRoutableWorkers(
  db: Reader,
  ids: readonly EndpointGroupId[],
): Promise<ReadonlyMap<EndpointGroupId, readonly RoutableWorker[]>> {
  const rows = await db
    .selectFrom("endpoint_workers as worker")
    .leftJoin("worker_groups as group", "group.id", "worker.worker_group_id")
    .select([
      "worker.endpoint_group_id as endpoint_id",
      "worker.instance_id as id",
      "worker.url",
      "worker.claimed_perf",
      "worker.observed_perf",
      "worker.reported_at",
      "worker.current_load",
      "worker.working_count",
      sql<boolean>`worker.ready_at is not null and worker.ready_at >= coalesce(worker.started_at, worker.ready_at)
        and worker.failed_at is null and worker.url <> ''`.as("is_ready"),
      sql<boolean>`worker.draining_at is not null`.as("is_draining"),
      sql<boolean>`coalesce("group".is_updating and worker.generation < "group".generation, false)`.as("is_outdated"),
    ])
    .where("worker.endpoint_group_id", "=", sql<EndpointGroupId>`any(${[...ids]}::integer[])`)
    .where("worker.state", "=", "active")
    .orderBy("worker.instance_id")
    .execute();
  const workers = new Map<EndpointGroupId, RoutableWorker[]>(ids.map((id) => [id, []]));
  for (const row of rows) {
    const { claimed_perf: claimed, observed_perf: observed, reported_at: reportedAt } = row;
    workers.get(row.endpoint_id)?.push({
      id: row.id,
      url: row.url,
      perf: measuredPerf({ claimedPerf: claimed ?? undefined, observedPerf: observed ?? undefined }) ?? PERF_UNKNOWN,
      isReady: row.is_ready,
      isDraining: row.is_draining,
      isOutdated: row.is_outdated,
      report:
        reportedAt === null
          ? undefined
          : { atMs: reportedAt.getTime(), load: row.current_load, count: row.working_count },
    });
  }
  return workers;
}

/** Takes the next `count` request numbers and returns the first. Undefined when the endpoint is gone. */
export async function takeRequestNumbers(tx: Tx, id: EndpointGroupId, count: number): Promise<number | undefined> {
  const row = await tx.db
    .updateTable("endpoint_groups")
    .set({ next_request_idx: sql<bigint>`next_request_idx + ${count}` })
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .returning("next_request_idx")
    .executeTakeFirst();
  return row && Number(row.next_request_idx) - count;
}

/** The first request number that no server has taken. */
export async function readNextRequestIdx(db: Reader, id: EndpointGroupId): Promise<number> {
  const row = await db.selectFrom("endpoint_groups").select("next_request_idx").where("id", "=", id).executeTakeFirst();
  return Number(row?.next_request_idx ?? 1);
}

export type EndpointSeconds = {
  readonly endpointGroupId: EndpointGroupId;
  readonly samples: readonly RoutedSecond[];
};

/** Adds traffic to the counts of other servers for the same seconds. Traffic of deleted endpoints is left out. */
export async function addLoad(tx: Tx, counted: readonly EndpointSeconds[]): Promise<void> {
  const rows = counted.flatMap(({ endpointGroupId, samples }) =>
    samples.map((sample) => ({
      endpoint_group_id: endpointGroupId,
      second_at: new Date(sample.secondMs),
      request_count: sample.requestCount,
      load: sample.load,
      waited_count: sample.waitedCount,
      wait_ms: sample.waitMs,
      wait_ms_max: sample.waitMsMax,
    })),
  );
  await sql`
    insert into endpoint_load as known
      (endpoint_group_id, second_at, request_count, load, waited_count, wait_ms, wait_ms_max)
    select added.endpoint_group_id, second_at, request_count, load, waited_count, wait_ms, wait_ms_max
    from json_populate_recordset(null::endpoint_load, ${JSON.stringify(rows)}::json) added
    join endpoint_groups on endpoint_groups.id = added.endpoint_group_id
    -- One order everywhere: servers that add to the same seconds wait for each other and cannot deadlock.
    order by 1, 2
    on conflict (endpoint_group_id, second_at) do update set
      request_count = known.request_count + excluded.request_count,
      load = known.load + excluded.load,
      waited_count = known.waited_count + excluded.waited_count,
      wait_ms = known.wait_ms + excluded.wait_ms,
      wait_ms_max = greatest(known.wait_ms_max, excluded.wait_ms_max)
  `.execute(tx.db);
}

/** Deletes traffic from before then; returns the number of seconds deleted. */
export async function deleteLoadBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from endpoint_load where ctid in (
      select ctid from endpoint_load where second_at < ${before}::timestamptz limit ${limit}
    )
  `.execute(tx.db);
  return Number(numAffectedRows ?? 0);
}

export type StoredSigningKey = { readonly encryptedPrivateKey: string; readonly publicKeyPem: string };

export async function findSigningKey(db: Reader): Promise<StoredSigningKey | undefined> {
  const row = await db
    .selectFrom("route_signing_keys")
    .select(["sealed_private_key", "public_key_pem"])
    .executeTakeFirst();
  return row && { encryptedPrivateKey: row.sealed_private_key, publicKeyPem: row.public_key_pem };
}

/** Stores the key unless one exists: all servers use the key of the first. */
export async function insertSigningKey(tx: Tx, { encryptedPrivateKey, publicKeyPem }: StoredSigningKey): Promise<void> {
  await tx.db
    .insertInto("route_signing_keys")
    .values({ sealed_private_key: encryptedPrivateKey, public_key_pem: publicKeyPem, created_at: tx.now })
    .onConflict((oc) => oc.doNothing())
    .execute();
}

function selectEndpoints(db: Reader) {
  return db
    .selectFrom("endpoint_groups")
    .select(["id", "user_id", "api_key", "name", "state", "target_util", "max_queue_time_s"])
    .where("deleted_at", "is", null);
}

function toEndpoint(row: Awaited<ReturnType<ReturnType<typeof selectEndpoints>["executeTakeFirstOrThrow"]>>) {
  return {
    id: row.id,
    userId: row.user_id,
    apiKey: row.api_key,
    name: row.name,
    state: row.state,
    targetUtil: row.target_util,
    maxQueueTimeS: row.max_queue_time_s ?? undefined,
  };
}

/** Takes the next block of request numbers of an endpoint, and returns its first. */
export function takeBlock(tx: Tx, id: EndpointGroupId): Promise<number | undefined> {
  return takeRequestNumbers(tx, id, NUMBERS_PER_BLOCK);
}
