import { sql } from "kysely";
import type { MachineId, NetworkDiskId, UserId, VolumeId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { bigints } from "../../../../db/arrays.ts";
import { asHoldId, parseCapScope, type CapScope, type HoldId } from "../../../money/ledger/index.ts";

/** Stops charging for a volume until it is filled. */
export async function awaitFilling(tx: Tx, id: VolumeId): Promise<void> {
  const none = { metered_from_at: null, storage_charged_until_at: null, settle_at: null, unsettled_since_at: null };
  await tx.db.updateTable("volumes").set(none).where("id", "=", id).execute();
}

/** Starts charging for these volumes, which are filled now. */
export async function startMetering(tx: Tx, ids: readonly VolumeId[]): Promise<void> {
  await sql`
    update volumes set
      metered_from_at = ${tx.now}::timestamptz, storage_charged_until_at = ${tx.now}::timestamptz,
      settle_at = case when price_nanos_per_gb_month > 0 then ${tx.now}::timestamptz end
    where id = any(${ids}::integer[]) and metered_from_at is null and deleting_at is null
  `.execute(tx.db);
}

/** A stored volume that may have to be charged. */
export type ChargeableVolume = {
  readonly id: VolumeId;
  readonly userId: UserId;
  /** Cap scopes that its spending counts in, besides its account's. */
  readonly capScopes: readonly CapScope[];
  /** Either the machine on whose own disk it lies, or the network disk. */
  readonly machineId: MachineId | undefined;
  readonly networkDiskId: NetworkDiskId | undefined;
  readonly sizeBytes: bigint;
  readonly priceNanosPerGbMonth: Nanos;
  readonly chargedUntilAt: Date;
  /** When its owner deleted it: nothing is charged after that. */
  readonly deletingAt: Date | undefined;
  readonly holdId: HoldId | undefined;
};

type Row = {
  readonly id: VolumeId;
  readonly user_id: UserId;
  readonly cap_scopes: readonly string[];
  readonly machine_id: MachineId | null;
  readonly network_disk_id: NetworkDiskId | null;
  readonly size_bytes: bigint;
  readonly price_nanos_per_gb_month: bigint;
  readonly storage_charged_until_at: Date;
  readonly deleting_at: Date | null;
  readonly hold_id: bigint | null;
};

const COLUMNS = sql`
  id, user_id, cap_scopes, machine_id, network_disk_id, size_bytes, price_nanos_per_gb_month, storage_charged_until_at, deleting_at,
  hold_id
`;

/**
 * Locks volumes that are due to be settled, the longest waiting first; those that other transactions have locked are
 * skipped.
 */
export async function lockDueVolumes(tx: Tx, limit: number): Promise<readonly ChargeableVolume[]> {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from volumes
    where settle_at <= ${tx.now}::timestamptz and storage_charged_until_at is not null
    order by settle_at
    limit ${limit}::integer
    for update skip locked
  `.execute(tx.db);
  return rows.map(toChargeable);
}

/**
 * Postpones the volume that has been due the longest: it could not be settled, and others wait behind it. Its first due
 * time is kept.
 */
export async function postponeFirstDueVolume(tx: Tx, ms: number): Promise<void> {
  const [first] = await lockDueVolumes(tx, 1);
  if (first === undefined) return;
  await tx.db
    .updateTable("volumes")
    .set({
      settle_at: new Date(tx.now.getTime() + ms),
      unsettled_since_at: sql<Date>`coalesce(unsettled_since_at, settle_at)`,
    })
    .where("id", "=", first.id)
    .execute();
}

/**
 * Locks up to `limit` volumes of a user that count within a scope; those that other transactions have locked are
 * skipped.
 */
export async function lockVolumesWithin(
  tx: Tx,
  { userId, scope, limit }: { readonly userId: UserId; readonly scope: CapScope; readonly limit: number },
): Promise<readonly ChargeableVolume[]> {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from volumes
    where user_id = ${userId}::integer and settle_at is not null and storage_charged_until_at is not null
      and (${scope}::text = any (cap_scopes) or ${scope}::text = 'account:' || user_id)
    order by id
    limit ${limit}::integer
    for update skip locked
  `.execute(tx.db);
  return rows.map(toChargeable);
}

/** Volumes of a user that may have to be charged. */
export async function listChargeableVolumes(db: Reader, userId: UserId): Promise<readonly ChargeableVolume[]> {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from volumes
    where user_id = ${userId} and settle_at is not null and storage_charged_until_at is not null
    order by id
  `.execute(db);
  return rows.map(toChargeable);
}

/** Those of these users who have a volume that may have to be charged. */
export async function listVolumePayers(db: Reader, userIds: readonly UserId[]): Promise<readonly UserId[]> {
  if (userIds.length === 0) return [];
  const { rows } = await sql<{ user_id: UserId }>`
    select distinct user_id from volumes
    where user_id = any(${[...new Set(userIds)]}::integer[])
      and settle_at is not null and storage_charged_until_at is not null
  `.execute(db);
  return rows.map((row) => row.user_id);
}

/**
 * The time up to which a volume is settled, and when it is due next; undefined when nothing can become due any more.
 */
export type SettledVolume = {
  readonly id: VolumeId;
  readonly chargedUntilAt: Date;
  readonly settleAt: Date | undefined;
  readonly holdId: HoldId | undefined;
};

export async function markVolumesSettled(tx: Tx, settled: readonly SettledVolume[]): Promise<void> {
  if (settled.length === 0) return;
  await sql`
    update volumes set storage_charged_until_at = settled.charged_until, settle_at = settled.settle_at,
      hold_id = settled.hold_id, unsettled_since_at = null
    from unnest(
      ${settled.map(({ id }) => id)}::integer[], ${settled.map(({ chargedUntilAt }) => chargedUntilAt)}::timestamptz[],
      ${settled.map(({ settleAt }) => settleAt ?? null)}::timestamptz[],
      ${bigints(settled.map(({ holdId }) => holdId))}::bigint[]
    ) as settled (id, charged_until, settle_at, hold_id)
    where volumes.id = settled.id
  `.execute(tx.db);
}

function toChargeable(row: Row): ChargeableVolume {
  return {
    id: row.id,
    userId: row.user_id,
    capScopes: row.cap_scopes.map(parseCapScope),
    machineId: row.machine_id ?? undefined,
    networkDiskId: row.network_disk_id ?? undefined,
    sizeBytes: row.size_bytes,
    priceNanosPerGbMonth: nanos(row.price_nanos_per_gb_month),
    chargedUntilAt: row.storage_charged_until_at,
    deletingAt: row.deleting_at ?? undefined,
    holdId: row.hold_id === null ? undefined : asHoldId(row.hold_id),
  };
}

/** Holds of volumes, each with its volume. */
export async function listVolumeHolds(
  db: Reader,
): Promise<readonly { readonly id: VolumeId; readonly holdId: HoldId }[]> {
  const rows = await db.selectFrom("volumes").select(["id", "hold_id"]).where("hold_id", "is not", null).execute();
  return rows.flatMap(({ id, hold_id: holdId }) => (holdId === null ? [] : [{ id, holdId: asHoldId(holdId) }]));
}

export async function isVolumeHold(db: Reader, holdId: HoldId): Promise<boolean> {
  const row = await db.selectFrom("volumes").select("id").where("hold_id", "=", holdId).executeTakeFirst();
  return row !== undefined;
}

/** Takes the hold from a volume that will not be charged any more, and returns it. */
export async function takeUnusedHold(tx: Tx, id: VolumeId): Promise<HoldId | undefined> {
  const row = await tx.db
    .selectFrom("volumes")
    .select("hold_id")
    .where("id", "=", id)
    .where("settle_at", "is", null)
    .executeTakeFirst();
  if (row === undefined || row.hold_id === null) return undefined;
  await tx.db.updateTable("volumes").set({ hold_id: null }).where("id", "=", id).execute();
  return asHoldId(row.hold_id);
}
