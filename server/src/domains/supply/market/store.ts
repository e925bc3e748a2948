import { sql, type RawBuilder } from "kysely";
import type { DeviceId, InstanceId, MachineId, OfferId } from "../../../base/ids.ts";
import { insertRows, toJsonRows } from "../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { OfferTerms } from "./offer-terms.ts";

/** A live GPU grant. */
export type GpuGrant = {
  readonly deviceId: DeviceId;
  readonly machineId: MachineId;
  readonly instanceId: InstanceId;
  readonly isBid: boolean;
  readonly priceNanosPerDeviceHour: bigint;
};

export type LiveOffer = { readonly id: OfferId; readonly machineId: MachineId; readonly deviceCount: number };

/** An offer with the terms that it promises; undefined for an offer that was stored without them. */
export type PromisedOffer = LiveOffer & { readonly terms: OfferTerms | undefined };

/** Live GPU grants of these machines, or of all when undefined. */
export async function listLiveGpuGrants(db: Reader, machineIds?: readonly MachineId[]): Promise<readonly GpuGrant[]> {
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

/** An id in a statement: a column or a parameter. */
type IdInSql = RawBuilder<unknown>;

/** SQL for other stores: the number of live GPU grants on a machine, of those instances that `isCounted` selects. */
export const liveGrantCount = (machineId: IdInSql, isCounted: (instanceId: IdInSql) => RawBuilder<boolean>) =>
  sql<number>`(
    select count(*) from leases
    where leases.machine_id = ${machineId} and leases.released_at is null and ${isCounted(sql`leases.instance_id`)}
  )`;

/** SQL for other stores: the time at which an instance got the first of its live GPU grants; null without any. */
export const firstLiveGrantAt = (instanceId: IdInSql) =>
  sql<Date | null>`(select min(granted_at) from leases where instance_id = ${instanceId} and released_at is null)`;

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

/** All machines that have a live offer. */
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

const TERMS = [
  "price_device_nanos_per_hour",
  "price_disk_nanos_per_gb_month",
  "price_inet_up_nanos_per_gb",
  "price_inet_down_nanos_per_gb",
  "credit_discount_max_permille",
  "end_at",
  "is_verified",
  "hosting_type",
  "hardware",
] as const;

/** Live offers of these machines with their terms. */
export async function listPromisedOffers(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<readonly PromisedOffer[]> {
  const rows = await db
    .selectFrom("offers")
    .select(["id", "machine_id", "device_count", ...TERMS])
    .where("retired_at", "is", null)
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .orderBy("id")
    .execute();
  return rows.map(toPromised);
}

/** An offer that exists or existed, with its last terms. */
export type KnownOffer = PromisedOffer & {
  /** Retired because its terms became worse: another offer replaced it. */
  readonly isReplaced: boolean;
};

/** Those of these offers that ever existed, by offer id. An offer never changes its machine and its size. */
export async function findOffers(db: Reader, ids: readonly OfferId[]): Promise<ReadonlyMap<OfferId, KnownOffer>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("offers")
    .select(["id", "machine_id", "device_count", "is_replaced", ...TERMS])
    .where("id", "=", sql<OfferId>`any(${ids}::integer[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, { ...toPromised(row), isReplaced: row.is_replaced }]));
}

type TermsRow = LiveOfferRow & {
  readonly price_device_nanos_per_hour: bigint | null;
  readonly price_disk_nanos_per_gb_month: bigint | null;
  readonly price_inet_up_nanos_per_gb: bigint | null;
  readonly price_inet_down_nanos_per_gb: bigint | null;
  readonly credit_discount_max_permille: number | null;
  readonly end_at: Date | null;
  readonly is_verified: boolean | null;
  readonly hosting_type: number | null;
  readonly hardware: string | null;
};
type LiveOfferRow = { readonly id: OfferId; readonly machine_id: MachineId; readonly device_count: number };

function toPromised(row: TermsRow): PromisedOffer {
  return { id: row.id, machineId: row.machine_id, deviceCount: row.device_count, terms: toTerms(row) };
}

function toTerms(row: TermsRow): OfferTerms | undefined {
  if (
    row.price_device_nanos_per_hour === null ||
    row.price_disk_nanos_per_gb_month === null ||
    row.price_inet_up_nanos_per_gb === null ||
    row.price_inet_down_nanos_per_gb === null ||
    row.end_at === null
  ) {
    return undefined;
  }
  return {
    priceDeviceNanosPerHour: row.price_device_nanos_per_hour,
    priceDiskNanosPerGbMonth: row.price_disk_nanos_per_gb_month,
    priceInetUpNanosPerGb: row.price_inet_up_nanos_per_gb,
    priceInetDownNanosPerGb: row.price_inet_down_nanos_per_gb,
    creditDiscountMaxPermille: row.credit_discount_max_permille ?? 0,
    endAt: row.end_at,
    isVerified: row.is_verified ?? false,
    hostingType: row.hosting_type ?? 0,
    hardware: row.hardware ?? undefined,
  };
}

function toTermColumns(terms: OfferTerms) {
  return {
    price_device_nanos_per_hour: terms.priceDeviceNanosPerHour,
    price_disk_nanos_per_gb_month: terms.priceDiskNanosPerGbMonth,
    price_inet_up_nanos_per_gb: terms.priceInetUpNanosPerGb,
    price_inet_down_nanos_per_gb: terms.priceInetDownNanosPerGb,
    credit_discount_max_permille: terms.creditDiscountMaxPermille,
    end_at: terms.endAt,
    is_verified: terms.isVerified,
    hosting_type: terms.hostingType,
    hardware: terms.hardware,
  };
}

/** Retires offers. `isReplaced`: their terms became worse; otherwise they were rented, or their devices are taken. */
export async function retireOffers(
  tx: Tx,
  ids: readonly OfferId[],
  { isReplaced }: { readonly isReplaced: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .updateTable("offers")
    .set({ retired_at: tx.now, is_replaced: isReplaced })
    .where("id", "=", sql<OfferId>`any(${ids}::integer[])`)
    .execute();
}

/** Stores better terms of offers that keep their ids. From then on the offers promise these. */
export async function updateOfferTerms(
  tx: Tx,
  offers: readonly { readonly id: OfferId; readonly terms: OfferTerms }[],
): Promise<void> {
  if (offers.length === 0) return;
  const rows = offers.map(({ id, terms }) => ({ id, ...toTermColumns(terms) }));
  const columns = sql.join(TERMS.map((column) => sql`${sql.ref(column)} = better.${sql.ref(column)}`));
  await sql`
    update offers set ${columns}
    from json_populate_recordset(null::offers, ${toJsonRows(rows)}::json) as better
    where offers.id = better.id
  `.execute(tx.db);
}

export async function insertOffers(
  tx: Tx,
  offers: readonly { readonly machineId: MachineId; readonly deviceCount: number; readonly terms: OfferTerms }[],
): Promise<void> {
  await insertRows(
    tx,
    "offers",
    offers.map(({ machineId, deviceCount, terms }) => ({
      machine_id: machineId,
      device_count: deviceCount,
      created_at: tx.now,
      ...toTermColumns(terms),
    })),
  );
}

/** An offer that cannot be rented, for an instance that was created without one. */
export async function insertUsedOffer(tx: Tx, machineId: MachineId, deviceCount: number): Promise<OfferId> {
  const row = await tx.db
    .insertInto("offers")
    .values({ machine_id: machineId, device_count: deviceCount, created_at: tx.now, retired_at: tx.now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** A GPU grant to be made, and the generation of its instance that it is for. */
export type NewGpuGrant = GpuGrant & { readonly generation: number };

/**
 * Grants devices to instances. A unique index refuses a device that is granted already; the caller holds the machine's
 * row lock. A transaction reads its time before it waits for locks, so a GPU grant begins when the last one of its
 * device ended if that is later: the recorded times never overlap.
 */
export async function insertGpuGrants(tx: Tx, grants: readonly NewGpuGrant[]): Promise<void> {
  if (grants.length === 0) return;
  const column = <K extends keyof NewGpuGrant>(key: K) => grants.map((grant) => grant[key]);
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
 * Releases all GPU grants of these instances. Callers do so only after the host confirmed the teardown, or after its
 * heartbeat lease certainly ended. The recorded time is never earlier than that of the grant, whose transaction may have
 * read its time later and got its locks sooner.
 */
export async function releaseGpuGrants(tx: Tx, instanceIds: readonly InstanceId[]): Promise<void> {
  await tx.db
    .updateTable("leases")
    .set({ released_at: sql<Date>`greatest(${tx.now}::timestamptz, granted_at)` })
    .where("instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`)
    .where("released_at", "is", null)
    .execute();
}

/** Moves the GPU grants of instances to a new run that keeps its devices. */
export async function setGpuGrantGenerations(
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

export async function setGpuGrantPrice(tx: Tx, instanceId: InstanceId, nanosPerDeviceHour: bigint): Promise<void> {
  await tx.db
    .updateTable("leases")
    .set({ price_nanos_per_device_hour: nanosPerDeviceHour })
    .where("instance_id", "=", instanceId)
    .where("released_at", "is", null)
    .execute();
}
