import { sql } from "kysely";
import type { DeviceId, InstanceId, MachineId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Devices of one machine that are rented at one price. */
export type RentedDevices = {
  readonly machineId: MachineId;
  readonly priceNanosPerDeviceHour: Nanos;
  readonly count: number;
};

/** Devices that are rented now. A host's own job pays nothing and makes room for every renter, so it does not count. */
export async function listRentedDevices(db: Reader): Promise<readonly RentedDevices[]> {
  const { rows } = await sql<{ machine_id: MachineId; price: bigint; count: number }>`
    select machine_id, price_nanos_per_device_hour as price, count(*)::integer as count
    from leases where released_at is null and not (is_bid and price_nanos_per_device_hour = 0)
    group by machine_id, price_nanos_per_device_hour
  `.execute(db);
  return rows.map(({ machine_id: machineId, price, count }) => ({
    machineId,
    priceNanosPerDeviceHour: nanos(price),
    count,
  }));
}

/** The number of live GPU grants on each of these machines that has one; a host's own job does not count. */
export async function countGrantsOfEach(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, number>> {
  const { rows } = await sql<{ machine_id: MachineId; count: number }>`
    select machine_id, count(*)::integer as count from leases
    where released_at is null and machine_id = any(${[...machineIds]}::integer[])
      and not (is_bid and price_nanos_per_device_hour = 0)
    group by machine_id
  `.execute(db);
  return new Map(rows.map((row) => [row.machine_id, row.count]));
}

/** A GPU grant, live or past. */
export type PastGrant = {
  readonly deviceId: DeviceId;
  readonly instanceId: InstanceId;
  readonly isBid: boolean;
  readonly grantedAt: Date;
  /** The end of the grant; undefined while it is live. */
  readonly releasedAt: Date | undefined;
};

/** Grants of these devices that are live or ended since a moment, the newest first; a host's own job does not count. */
export async function listGrantsSince(
  db: Reader,
  { deviceIds, since }: { readonly deviceIds: readonly DeviceId[]; readonly since: Date },
  limit: number,
): Promise<readonly PastGrant[]> {
  const { rows } = await sql<{
    device_id: DeviceId;
    instance_id: InstanceId;
    is_bid: boolean;
    granted_at: Date;
    released_at: Date | null;
  }>`
    select device_id, instance_id, is_bid, granted_at, released_at from leases
    where device_id = any(${[...deviceIds]}::integer[])
      and (released_at is null or released_at >= ${since}::timestamptz)
      and not (is_bid and price_nanos_per_device_hour = 0)
    order by granted_at desc, id desc limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => ({
    deviceId: row.device_id,
    instanceId: row.instance_id,
    isBid: row.is_bid,
    grantedAt: row.granted_at,
    releasedAt: row.released_at ?? undefined,
  }));
}
