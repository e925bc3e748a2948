import { sql } from "kysely";
import type { IpAccessId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** Addresses kept per user; one user may have any number of IPv6 addresses. */
export const IP_ADDRESSES_MAX = 1_000;

/** Requests of one user from one address, combined. */
export type IpAccesses = {
  readonly userId: UserId;
  readonly ipAddress: string;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly requestCount: number;
};

export type IpRecord = {
  readonly id: IpAccessId;
  readonly userId: UserId;
  readonly ipAddress: string;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
};

/**
 * Adds a batch to the stored history in one statement. Known addresses are updated first and only new ones inserted,
 * because an insert that turns into an update would use up an id each time. Rows are locked in one order, so that two
 * processes cannot wait for each other; rows of users that do not exist are left out.
 */
export async function upsertIpAccesses(db: Reader, batch: readonly IpAccesses[]): Promise<void> {
  if (batch.length === 0) return;
  const newcomers = await writeAccesses(db, batch);
  if (newcomers.length > 0) await dropOldAddresses(db, newcomers);
}

/** Returns the users for whom an address is new. */
async function writeAccesses(db: Reader, batch: readonly IpAccesses[]): Promise<readonly UserId[]> {
  const userIds = batch.map(({ userId }) => userId);
  const addresses = batch.map(({ ipAddress }) => ipAddress);
  const firstSeen = batch.map(({ firstSeenAt }) => firstSeenAt);
  const lastSeen = batch.map(({ lastSeenAt }) => lastSeenAt);
  const counts = batch.map(({ requestCount }) => requestCount);
  const { rows } = await sql<{ readonly user_id: UserId }>`
    with seen as (
      select s.* from unnest(
        ${userIds}::integer[], ${addresses}::text[], ${firstSeen}::timestamptz[], ${lastSeen}::timestamptz[],
        ${counts}::bigint[]
      ) as s (user_id, ip_address, first_seen_at, last_seen_at, request_count)
      join users on users.id = s.user_id
    ), locked as (
      select a.id, s.last_seen_at, s.request_count
      from ip_accesses a join seen s using (user_id, ip_address)
      order by a.user_id, a.ip_address
      for update of a
    ), updated as (
      update ip_accesses a
      set last_seen_at = greatest(a.last_seen_at, l.last_seen_at), request_count = a.request_count + l.request_count
      from locked l where a.id = l.id
      returning a.user_id, a.ip_address
    )
    insert into ip_accesses (user_id, ip_address, first_seen_at, last_seen_at, request_count)
    select user_id, ip_address, first_seen_at, last_seen_at, request_count from seen
    where (user_id, ip_address) not in (select user_id, ip_address from updated)
    order by user_id, ip_address
    on conflict (user_id, ip_address) do update set
      last_seen_at = greatest(ip_accesses.last_seen_at, excluded.last_seen_at),
      request_count = ip_accesses.request_count + excluded.request_count
    returning user_id
  `.execute(db);
  return [...new Set(rows.map(({ user_id: userId }) => userId))];
}

/** Deletes the addresses of these users beyond those used last. Rows that another process has locked are left to it. */
async function dropOldAddresses(db: Reader, userIds: readonly UserId[]): Promise<void> {
  await sql`
    with ranked as (
      select id, row_number() over (partition by user_id order by last_seen_at desc, id desc) as place
      from ip_accesses where user_id = any(${userIds}::integer[])
    ), old as (
      select a.id from ip_accesses a join ranked using (id) where ranked.place > ${IP_ADDRESSES_MAX}::integer
      for update of a skip locked
    )
    delete from ip_accesses a using old where a.id = old.id
  `.execute(db);
}

/** The `limit` addresses used last, newest first. */
export async function listIpAccesses(db: Reader, userId: UserId, limit: number): Promise<readonly IpRecord[]> {
  const rows = await db
    .selectFrom("ip_accesses")
    .select(["id", "ip_address", "first_seen_at", "last_seen_at"])
    .where("user_id", "=", userId)
    .orderBy("last_seen_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    userId,
    ipAddress: row.ip_address,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
  }));
}
