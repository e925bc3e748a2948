import { sql, type Selectable } from "kysely";
import { asId, type InstanceId, type StandingRequestId, type UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { StandingRequestsTable } from "../../../db/tables.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Wish } from "../instances/index.ts";
import { parseCapScope } from "../../money/ledger/index.ts";
import type { EncryptedLaunch } from "../templates/index.ts";
import type { Query, StandingRequest, Status } from "./rules/standing-request.ts";

/** Channel on which every process learns which requests were made or closed: an id, or an empty text for many. */
export const STANDING_REQUESTS_CHANNEL = "standing_requests_changed";

type VolumeInfo = Wish["volumeInfo"];

export type NewStandingRequest = {
  readonly id: StandingRequestId;
  readonly userId: UserId;
  readonly query: Query;
  readonly totalMaxNanosPerHour: Nanos | undefined;
  readonly bidNanosPerHour: Nanos | undefined;
  readonly launch: EncryptedLaunch;
  readonly templateHashId: string | undefined;
  readonly volumeInfo: VolumeInfo;
  readonly capScopes: Wish["capScopes"];
  readonly expiresAt: Date;
};

/** Takes the id of a request that is about to be inserted: its settings are encrypted for that id. */
export async function reserveId(tx: Tx): Promise<StandingRequestId> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('standing_requests', 'id'))::integer as id
  `.execute(tx.db);
  return asId<StandingRequestId>(rows[0]?.id ?? 0);
}

/**
 * Counts the user's open requests. The lock lasts until the end of the transaction, so no other request of the user is
 * made meanwhile.
 */
export async function countOpenOf(tx: Tx, userId: UserId): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('standing_requests'), ${userId}::integer)`.execute(tx.db);
  const row = await tx.db
    .selectFrom("standing_requests")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("status", "=", "open")
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export async function insertStandingRequest(tx: Tx, request: NewStandingRequest): Promise<void> {
  await tx.db
    .insertInto("standing_requests")
    .values({
      id: request.id,
      user_id: request.userId,
      query: JSON.stringify(request.query),
      total_max_nanos_per_hour: request.totalMaxNanosPerHour ?? null,
      bid_nanos_per_hour: request.bidNanosPerHour ?? null,
      launch: JSON.stringify(request.launch),
      template_hash_id: request.templateHashId ?? null,
      volume_info: request.volumeInfo === undefined ? null : JSON.stringify(request.volumeInfo),
      cap_scopes: [...request.capScopes],
      created_at: tx.now,
      expires_at: request.expiresAt,
    })
    .execute();
  await notify(tx, String(request.id));
}

/** Newest first. */
export async function listStandingRequestsOf(db: Reader, userId: UserId, limit: number) {
  const rows = await db
    .selectFrom("standing_requests")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toStandingRequest);
}

export async function findStandingRequest(
  db: Reader,
  userId: UserId,
  id: StandingRequestId,
): Promise<StandingRequest | undefined> {
  const row = await db
    .selectFrom("standing_requests")
    .selectAll()
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row && toStandingRequest(row);
}

/** Finds and locks a user's request. Only the holder of this lock may close the request. */
export async function lockStandingRequestOf(tx: Tx, userId: UserId, id: StandingRequestId) {
  const row = await tx.db
    .selectFrom("standing_requests")
    .selectAll()
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
  return row && toStandingRequest(row);
}

/** Locks a request that is still open; undefined when it is closed, or its time is over. */
export async function lockOpen(tx: Tx, id: StandingRequestId): Promise<StandingRequest | undefined> {
  const row = await tx.db
    .selectFrom("standing_requests")
    .selectAll()
    .where("id", "=", id)
    .where("status", "=", "open")
    .where("expires_at", ">", tx.now)
    .forUpdate()
    .executeTakeFirst();
  return row && toStandingRequest(row);
}

/** The place in the queue of each of these requests that is open; the oldest has place 1. */
export async function positionsOf(
  db: Reader,
  ids: readonly StandingRequestId[],
): Promise<ReadonlyMap<StandingRequestId, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: StandingRequestId; position: number }>`
    select id, position from (
      select id, row_number() over (order by id)::integer as position from standing_requests where status = 'open'
    ) as line where id = any(${ids}::integer[])
  `.execute(db);
  return new Map(rows.map(({ id, position }) => [id, position]));
}

/** All open requests, or those of these ids that are open, oldest first. */
export async function listOpen(db: Reader, now: Date, ids?: readonly StandingRequestId[]) {
  const rows = await db
    .selectFrom("standing_requests")
    .selectAll()
    .where("status", "=", "open")
    .where("expires_at", ">", now)
    .where(ids === undefined ? sql<boolean>`true` : sql<boolean>`id = any(${ids}::integer[])`)
    .orderBy("id")
    .execute();
  return rows.map(toStandingRequest);
}

/** The launch settings of a request. They are large and seldom needed, so they are read only for a claim. */
export async function findLaunch(db: Reader, id: StandingRequestId) {
  const row = await db
    .selectFrom("standing_requests")
    .select(["launch", "template_hash_id", "volume_info", "cap_scopes"])
    .where("id", "=", id)
    .executeTakeFirst();
  return (
    row && {
      launch: row.launch as EncryptedLaunch,
      templateHashId: row.template_hash_id ?? undefined,
      volumeInfo: (row.volume_info ?? undefined) as VolumeInfo,
      capScopes: row.cap_scopes.map(parseCapScope),
    }
  );
}

type Closing = {
  readonly id: StandingRequestId;
  readonly status: Exclude<Status, "open">;
  readonly reason?: string;
  readonly instanceId?: InstanceId;
};

/** Closes a request. The caller holds its row lock and found it open. */
export async function closeStandingRequest(tx: Tx, { id, status, reason = "", instanceId }: Closing): Promise<void> {
  await tx.db
    .updateTable("standing_requests")
    .set({ status, reason, instance_id: instanceId ?? null, closed_at: tx.now })
    .where("id", "=", id)
    .where("status", "=", "open")
    .execute();
  await notify(tx, String(id));
}

/** Notes why an attempt rented nothing. The request stays open. */
export async function noteAttempt(tx: Tx, id: StandingRequestId, reason: string): Promise<void> {
  await tx.db
    .updateTable("standing_requests")
    .set({ reason, attempted_at: tx.now })
    .where("id", "=", id)
    .where("status", "=", "open")
    .execute();
}

/** Closes requests whose time is over; a row that another process is about to claim is left to the next run. */
export async function expireDue(tx: Tx, limit: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update standing_requests set status = 'expired', closed_at = ${tx.now}::timestamptz
    where id in (
      select id from standing_requests where status = 'open' and expires_at <= ${tx.now}::timestamptz
      order by expires_at limit ${limit} for update skip locked
    )
    returning id
  `.execute(tx.db);
  for (const { id } of rows) await notify(tx, String(id));
  return rows.length;
}

/** Deletes requests that were closed before this time. */
export async function deleteClosed(tx: Tx, before: Date, limit: number): Promise<number> {
  const result = await sql`
    delete from standing_requests where id in (
      select id from standing_requests where closed_at < ${before}::timestamptz order by closed_at limit ${limit}
      for update skip locked
    )
  `.execute(tx.db);
  return Number(result.numAffectedRows ?? 0n);
}

async function notify(tx: Tx, payload: string): Promise<void> {
  await sql`select pg_notify(${STANDING_REQUESTS_CHANNEL}, ${payload})`.execute(tx.db);
}

function toStandingRequest(row: Selectable<StandingRequestsTable>): StandingRequest {
  const launch = row.launch as EncryptedLaunch;
  const { total_max_nanos_per_hour: totalMax, bid_nanos_per_hour: bid } = row;
  return {
    id: row.id,
    userId: row.user_id,
    query: row.query as Query,
    totalMaxNanosPerHour: totalMax === null ? undefined : nanos(totalMax),
    bidNanosPerHour: bid === null ? undefined : nanos(bid),
    diskGb: launch.disk_gb,
    label: launch.label ?? undefined,
    image: launch.image,
    templateHashId: row.template_hash_id ?? undefined,
    status: row.status,
    reason: row.reason,
    attemptedAt: row.attempted_at ?? undefined,
    instanceId: row.instance_id ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    closedAt: row.closed_at ?? undefined,
  };
}
