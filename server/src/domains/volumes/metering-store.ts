import { sql } from "kysely";
import type { MachineId, NetworkDiskId, UserId, VolumeId } from "../../base/ids.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import { parseCapScope, type CapScope } from "../ledger/index.ts";

/** Nothing is charged for a volume before it has what it was made for. */
export async function awaitFilling(tx: Tx, id: VolumeId): Promise<void> {
  const none = { metered_from_at: null, storage_charged_until_at: null, settle_at: null };
  await tx.db.updateTable("volumes").set(none).where("id", "=", id).execute();
}

/** These have what they were made for: they are charged from now on. */
export async function startMetering(tx: Tx, ids: readonly VolumeId[]): Promise<void> {
  await sql`
    update volumes set
      metered_from_at = ${tx.now}::timestamptz, storage_charged_until_at = ${tx.now}::timestamptz,
      settle_at = case when price_nanos_per_gb_month > 0 then ${tx.now}::timestamptz end
    where id = any(${ids}::integer[]) and metered_from_at is null and deleting_at is null
  `.execute(tx.db);
}

/** A volume that somebody may have to be charged for, as it is stored. */
export type ChargeableVolume = {
  readonly id: VolumeId;
  readonly userId: UserId;
  /** Whose limits it counts against, besides its account's. */
  readonly capScopes: readonly CapScope[];
  /** One of both: the machine on whose own disk it lies, or the network disk. */
  readonly machineId: MachineId | undefined;
  readonly networkDiskId: NetworkDiskId | undefined;
  readonly sizeBytes: bigint;
  readonly priceNanosPerGbMonth: Nanos;
  readonly chargedUntilAt: Date;
  /** When its owner asked for its end: nothing is charged after that. */
  readonly deletingAt: Date | undefined;
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
};

const COLUMNS = sql`
  id, user_id, cap_scopes, machine_id, network_disk_id, size_bytes, price_nanos_per_gb_month, storage_charged_until_at, deleting_at
`;

/** Locks those that are due to be settled, the longest waiting first; those that somebody else has are left to him. */
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

/** Puts off the one that is due the longest: it could not be settled, and others wait behind it. */
export async function postponeFirstDueVolume(tx: Tx, ms: number): Promise<void> {
  const [first] = await lockDueVolumes(tx, 1);
  if (first === undefined) return;
  const settleAt = new Date(tx.now.getTime() + ms);
  await tx.db.updateTable("volumes").set({ settle_at: settleAt }).where("id", "=", first.id).execute();
}

/** What of a user's may have something to be charged for. */
export async function listChargeableVolumes(db: Reader, userId: UserId): Promise<readonly ChargeableVolume[]> {
  const { rows } = await sql<Row>`
    select ${COLUMNS} from volumes
    where user_id = ${userId} and settle_at is not null and storage_charged_until_at is not null
    order by id
  `.execute(db);
  return rows.map(toChargeable);
}

/** How far a volume is settled, and when it is due again; undefined when nothing can become due any more. */
export type SettledVolume = {
  readonly id: VolumeId;
  readonly chargedUntilAt: Date;
  readonly settleAt: Date | undefined;
};

export async function markVolumesSettled(tx: Tx, settled: readonly SettledVolume[]): Promise<void> {
  if (settled.length === 0) return;
  await sql`
    update volumes set storage_charged_until_at = settled.charged_until, settle_at = settled.settle_at
    from unnest(
      ${settled.map(({ id }) => id)}::integer[], ${settled.map(({ chargedUntilAt }) => chargedUntilAt)}::timestamptz[],
      ${settled.map(({ settleAt }) => settleAt ?? null)}::timestamptz[]
    ) as settled (id, charged_until, settle_at)
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
  };
}
