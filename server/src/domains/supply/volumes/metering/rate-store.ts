import { sql } from "kysely";
import type { UserId, VolumeId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { CapScope } from "../../../money/ledger/index.ts";

/** Hourly cost of the volumes of each of these users; users without volumes are left out. */
export async function listVolumeCosts(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Nanos>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await sql<{ user_id: UserId; storage: string }>`
    select v.user_id, ceil(sum(v.price_nanos_per_gb_month::numeric * v.size_bytes / 1000000000 / 720))::text as storage
    from volumes v
    where v.user_id = any(${[...new Set(userIds)]}::integer[]) and v.deleted_at is null and v.deleting_at is null
    group by v.user_id
  `.execute(db);
  return new Map(rows.map((row) => [row.user_id, nanos(BigInt(row.storage))]));
}

/** Volumes of a user, ended ones included, whose spending counts within a scope. */
export async function listVolumeIdsOfScope(db: Reader, userId: UserId, scope: CapScope): Promise<readonly VolumeId[]> {
  const { rows } = await sql<{ id: VolumeId }>`
    select v.id from volumes v
    where v.user_id = ${userId}::integer and ${scope}::text = any (v.cap_scopes)
    order by v.id
  `.execute(db);
  return rows.map((row) => row.id);
}

export type StoredVolume = { readonly id: VolumeId; readonly nanosPerHour: Nanos };

/** Volumes of a user that are charged and count within a scope, in id order. */
export async function listStoredVolumes(db: Reader, userId: UserId, scope: CapScope): Promise<readonly StoredVolume[]> {
  const { rows } = await sql<{ id: VolumeId; storage: string }>`
    select v.id, ceil(v.price_nanos_per_gb_month::numeric * v.size_bytes / 1000000000 / 720)::text as storage
    from volumes v
    where v.user_id = ${userId}::integer and v.deleted_at is null and v.deleting_at is null
      and v.metered_from_at is not null and v.price_nanos_per_gb_month > 0
      and (${scope}::text = any (v.cap_scopes) or ${scope}::text = 'account:' || v.user_id)
    order by v.id
  `.execute(db);
  return rows.map((row) => ({ id: row.id, nanosPerHour: nanos(BigInt(row.storage)) }));
}

/** Users who have volumes, in pages by id. */
export async function listVolumeOwners(db: Reader, afterId: number, limit: number): Promise<readonly UserId[]> {
  const { rows } = await sql<{ id: UserId }>`
    select distinct v.user_id as id
    from volumes v
    where v.user_id > ${afterId}::integer and v.deleted_at is null and v.deleting_at is null
    order by 1
    limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => row.id);
}
