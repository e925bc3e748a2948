import { sql } from "kysely";
import type { DeviceId, InstanceId, MachineId, OfferId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";

export type LiveLease = {
  readonly deviceId: DeviceId;
  readonly machineId: MachineId;
  readonly instanceId: InstanceId;
  readonly isBid: boolean;
  readonly priceNanosPerDeviceHour: bigint;
};

export type LiveOffer = { readonly id: OfferId; readonly machineId: MachineId; readonly deviceCount: number };

/** Live leases of these machines, or of all when undefined. */
export async function listLiveLeases(db: Reader, machineIds?: readonly MachineId[]): Promise<readonly LiveLease[]> {
  const rows = await db
    .selectFrom("leases")
    .select(["device_id", "machine_id", "instance_id", "is_bid", "price_nanos_per_device_hour"])
    .where("released_at", "is", null)
    .where(machineIds === undefined ? sql<boolean>`true` : sql<boolean>`machine_id = any(${machineIds}::integer[])`)
    .execute();
  return rows.map((row) => ({
    deviceId: row.device_id,
    machineId: row.machine_id,
    instanceId: row.instance_id,
    isBid: row.is_bid,
    priceNanosPerDeviceHour: row.price_nanos_per_device_hour,
  }));
}

export async function listLiveOffers(db: Reader, machineIds?: readonly MachineId[]): Promise<readonly LiveOffer[]> {
  const rows = await db
    .selectFrom("offers")
    .select(["id", "machine_id", "device_count"])
    .where("retired_at", "is", null)
    .where(machineIds === undefined ? sql<boolean>`true` : sql<boolean>`machine_id = any(${machineIds}::integer[])`)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ id: row.id, machineId: row.machine_id, deviceCount: row.device_count }));
}

/** Every machine that has a live offer. */
export async function listOfferedMachines(db: Reader): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("offers")
    .select("machine_id")
    .distinct()
    .where("retired_at", "is", null)
    .orderBy("machine_id")
    .execute();
  return rows.map((row) => row.machine_id);
}

/** The machine and size of each offer that ever existed, by offer id. An offer never changes these. */
export async function findOffers(db: Reader, ids: readonly OfferId[]): Promise<ReadonlyMap<OfferId, LiveOffer>> {
  const rows = await db
    .selectFrom("offers")
    .select(["id", "machine_id", "device_count"])
    .where("id", "=", sql<OfferId>`any(${ids}::integer[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, { id: row.id, machineId: row.machine_id, deviceCount: row.device_count }]));
}

export async function retireOffers(tx: Tx, ids: readonly OfferId[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .updateTable("offers")
    .set({ retired_at: tx.now })
    .where("id", "=", sql<OfferId>`any(${ids}::integer[])`)
    .execute();
}

export async function insertOffers(
  tx: Tx,
  offers: readonly { readonly machineId: MachineId; readonly deviceCount: number }[],
): Promise<void> {
  if (offers.length === 0) return;
  await tx.db
    .insertInto("offers")
    .columns(["machine_id", "device_count", "created_at"])
    .expression(
      sql`select machine_id, device_count, ${tx.now}::timestamptz from unnest(
        ${offers.map((offer) => offer.machineId)}::integer[],
        ${offers.map((offer) => offer.deviceCount)}::integer[]
      ) as wanted (machine_id, device_count)`,
    )
    .execute();
}

/** An offer that nobody can take, for an instance that was rented of none. */
export async function insertUsedOffer(tx: Tx, machineId: MachineId, deviceCount: number): Promise<OfferId> {
  const row = await tx.db
    .insertInto("offers")
    .values({ machine_id: machineId, device_count: deviceCount, created_at: tx.now, retired_at: tx.now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export type NewLease = LiveLease & { readonly generation: number };

/**
 * Gives devices away. A unique index refuses a device that somebody holds; the caller holds the machine's row lock. The
 * instant of a transaction is read before it waits for locks, so a lease begins where the last one of its device ended
 * when that is later: the recorded times never overlap.
 */
export async function insertLeases(tx: Tx, leases: readonly NewLease[]): Promise<void> {
  if (leases.length === 0) return;
  const column = <K extends keyof NewLease>(key: K) => leases.map((lease) => lease[key]);
  await sql`
    insert into leases
      (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at)
    select device_id, machine_id, instance_id, generation, is_bid, price, greatest(${tx.now}::timestamptz, (
      select max(released_at) from leases as earlier
      where earlier.device_id = given.device_id and earlier.released_at is not null
    ))
    from unnest(
      ${column("deviceId")}::integer[], ${column("machineId")}::integer[], ${column("instanceId")}::integer[],
      ${column("generation")}::integer[], ${column("isBid")}::boolean[],
      ${column("priceNanosPerDeviceHour").map(String)}::bigint[]
    ) as given (device_id, machine_id, instance_id, generation, is_bid, price)
  `.execute(tx.db);
}

/**
 * Frees everything that these instances hold. Only after a teardown receipt or certain lease expiry. Never recorded as
 * earlier than the grant, whose transaction may have read its instant later and its locks sooner.
 */
export async function releaseLeases(tx: Tx, instanceIds: readonly InstanceId[]): Promise<void> {
  await tx.db
    .updateTable("leases")
    .set({ released_at: sql<Date>`greatest(${tx.now}::timestamptz, granted_at)` })
    .where("instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`)
    .where("released_at", "is", null)
    .execute();
}

/** Fresh runs of instances that keep their devices. */
export async function setLeaseGenerations(
  tx: Tx,
  runs: readonly { readonly instanceId: InstanceId; readonly generation: number }[],
): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    update leases set generation = run.generation
    from unnest(${runs.map((run) => run.instanceId)}::integer[], ${runs.map((run) => run.generation)}::integer[])
      as run (instance_id, generation)
    where leases.instance_id = run.instance_id and leases.released_at is null
  `.execute(tx.db);
}

export async function setLeasePrice(tx: Tx, instanceId: InstanceId, nanosPerDeviceHour: bigint): Promise<void> {
  await tx.db
    .updateTable("leases")
    .set({ price_nanos_per_device_hour: nanosPerDeviceHour })
    .where("instance_id", "=", instanceId)
    .where("released_at", "is", null)
    .execute();
}
