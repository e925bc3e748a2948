// Queries with which the audit of the books compares the audit log with its facts.
import { sql } from "kysely";
import { asId, type ApiKeyId, type UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { auditEventText, type AuditRecord } from "./store.ts";

/**
 * The database writes the event of a credit transfer itself (migration 0231), so the event has no fact of its own: the
 * transfer's fact covers it.
 */
const OF_TRANSFER = "api.billing.transfer_credit";

/** Events from `from` on; none of them has a smaller id than `nextId`. */
export type EventRange = { readonly nextId: bigint; readonly from: Date | undefined };

type Bucket = { readonly bucket: bigint; readonly count: number; readonly fingerprint: string };

/** Events with facts of their own, by buckets of 4096 ids. */
export async function listEventBuckets(db: Reader, range: EventRange): Promise<readonly Bucket[]> {
  const { rows } = await sql<Bucket>`
    select e.id >> 12 as bucket, count(*)::integer as count,
      sum(hashint8extended(e.id, 0)::numeric)::text as fingerprint
    from audit_events e
    where e.action <> ${OF_TRANSFER} and ${within(range)}
    group by 1
    order by 1
  `.execute(db);
  return rows;
}

export async function listEventIds(db: Reader, range: EventRange, bucket: bigint): Promise<readonly bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select e.id from audit_events e
    where e.id >= ${bucket}::bigint << 12 and e.id < (${bucket}::bigint + 1) << 12
      and e.action <> ${OF_TRANSFER} and ${within(range)}
    order by e.id
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** The texts of these events that the digests in their facts cover. */
export async function listEventTexts(db: Reader, ids: readonly bigint[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom("audit_events")
    .select(["id", "user_id", "api_key_id", "ip_address", "action", "arguments", "created_at"])
    .where("id", "=", sql<bigint>`any(${[...ids]}::bigint[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      String(row.id),
      auditEventText({
        userId: asId<UserId>(row.user_id),
        apiKeyId: row.api_key_id === null ? undefined : asId<ApiKeyId>(row.api_key_id),
        ipAddress: row.ip_address,
        action: row.action,
        args: row.arguments as AuditRecord["args"],
        createdAt: row.created_at,
      }),
    ]),
  );
}

/** Events of credit transfers, by buckets of 4096 transfer ids. */
export async function listToldTransferBuckets(db: Reader, range: EventRange): Promise<readonly Bucket[]> {
  const { rows } = await sql<Bucket>`
    select (e.arguments ->> 'transfer_id')::bigint >> 12 as bucket, count(*)::integer as count,
      sum(hashint8extended((e.arguments ->> 'transfer_id')::bigint, 0)::numeric)::text as fingerprint
    from audit_events e
    where e.action = ${OF_TRANSFER} and e.arguments ->> 'transfer_id' ~ '^[0-9]{1,18}$' and ${within(range)}
    group by 1
    order by 1
  `.execute(db);
  return rows;
}

export async function listToldTransferIds(db: Reader, range: EventRange, bucket: bigint): Promise<readonly bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select (e.arguments ->> 'transfer_id')::bigint as id from audit_events e
    where e.action = ${OF_TRANSFER} and e.arguments ->> 'transfer_id' ~ '^[0-9]{1,18}$'
      and (e.arguments ->> 'transfer_id')::bigint >> 12 = ${bucket}::bigint and ${within(range)}
    order by 1
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** An event of a credit transfer. */
export type ToldTransfer = {
  readonly id: bigint;
  readonly userId: number;
  readonly apiKeyId: number | undefined;
  readonly ipAddress: string;
  readonly transferId: string;
  readonly createdAt: Date;
};

export async function listToldTransfers(
  db: Reader,
  range: EventRange,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<readonly ToldTransfer[]> {
  const { rows } = await sql<{
    readonly id: bigint;
    readonly user_id: number;
    readonly api_key_id: number | null;
    readonly ip_address: string;
    readonly transfer_id: string | null;
    readonly created_at: Date;
  }>`
    select e.id, e.user_id, e.api_key_id, e.ip_address, e.arguments ->> 'transfer_id' as transfer_id, e.created_at
    from audit_events e
    where e.action = ${OF_TRANSFER} and e.id > ${after}::bigint and ${within(range)}
    order by e.id
    limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    apiKeyId: row.api_key_id ?? undefined,
    ipAddress: row.ip_address,
    transferId: row.transfer_id ?? "",
    createdAt: row.created_at,
  }));
}

/** The smallest id of an event at this time or later; one more than the largest id when there is none. */
export async function findNextEventId(db: Reader, from: Date, atLeast: bigint): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    select coalesce(
      (select min(id) from audit_events where id >= ${atLeast}::bigint and created_at >= ${from}::timestamptz),
      (select max(id) + 1 from audit_events),
      1
    )::bigint as id
  `.execute(db);
  return rows[0]?.id ?? 1n;
}

function within({ nextId, from }: EventRange) {
  return sql<boolean>`e.id >= ${nextId}::bigint
    and e.created_at >= coalesce(${from ?? null}::timestamptz, '-infinity')`;
}
