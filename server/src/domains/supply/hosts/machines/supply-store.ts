import { sql } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** A machine with GPUs, reduced to the columns that statistics count. */
export type GpuMachine = {
  readonly id: MachineId;
  readonly gpuName: string;
  /** Deep-learning score per GPU. */
  readonly dlperf: number;
  readonly tflops: number;
  /** GPUs that are in the machine. */
  readonly presentCount: number;
  /** GPUs that are in the machine and healthy. */
  readonly usableCount: number;
  readonly isVerified: boolean;
  readonly hostingType: number;
  readonly geolocation: string;
  readonly isListed: boolean;
  readonly isConnected: boolean;
  readonly restsUntilAt: Date | undefined;
  readonly offerEndAt: Date;
  readonly priceDeviceNanosPerHour: Nanos;
};

type GpuMachineRow = {
  readonly id: MachineId;
  readonly gpu_name: string;
  readonly dlperf: number;
  readonly tflops: number;
  readonly present_count: number;
  readonly usable_count: number;
  readonly is_verified: boolean;
  readonly hosting_type: number;
  readonly geolocation: string;
  readonly is_listed: boolean;
  readonly is_connected: boolean;
  readonly rests_until_at: Date | null;
  readonly offer_end_at: Date;
  readonly price_device_nanos_per_hour: bigint;
};

/** Every machine that has GPUs, one short row each. */
export async function listGpuMachines(db: Reader): Promise<readonly GpuMachine[]> {
  const { rows } = await sql<GpuMachineRow>`
    select id, gpu.facts ->> 'name' as gpu_name, (gpu.facts -> 'dlperf')::double precision as dlperf,
      (gpu.facts -> 'tflops')::double precision as tflops, present_count, usable_count, verification = 'verified' as is_verified,
      hosting_type, machines.facts ->> 'geolocation' as geolocation, is_listed, is_connected, rests_until_at,
      offer_end_at, price_device_nanos_per_hour
    from machines
    cross join lateral (
      select (array_agg(facts order by is_present desc, position))[1] as facts,
        count(*) filter (where is_present)::integer as present_count,
        count(*) filter (where is_present and is_healthy)::integer as usable_count
      from devices where machine_id = machines.id and kind = 'gpu'
    ) as gpu
    where resource_type = 'gpu' and deleted_at is null and gpu.facts is not null
    order by id
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    gpuName: row.gpu_name,
    dlperf: row.dlperf,
    tflops: row.tflops,
    presentCount: row.present_count,
    usableCount: row.usable_count,
    isVerified: row.is_verified,
    hostingType: row.hosting_type,
    geolocation: row.geolocation,
    isListed: row.is_listed,
    isConnected: row.is_connected,
    restsUntilAt: row.rests_until_at ?? undefined,
    offerEndAt: row.offer_end_at,
    priceDeviceNanosPerHour: nanos(row.price_device_nanos_per_hour),
  }));
}

/** Those of these users who have a machine, or a token or credential with which one joins. */
export async function listHostsAmong(db: Reader, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  const { rows } = await sql<{ id: UserId }>`
    select asked.id from unnest(${[...userIds]}::integer[]) as asked (id)
    where exists (select from machines where host_id = asked.id and deleted_at is null)
      or exists (select from join_tokens where user_id = asked.id)
      or exists (select from agent_credentials where user_id = asked.id)
  `.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Tells whether a user has a machine, has only created a join token, or neither. */
export async function findHostRole(db: Reader, userId: UserId): Promise<"host" | "without_machines" | "renter"> {
  const { rows } = await sql<{ has_machine: boolean; has_token: boolean }>`
    select
      exists (select from machines where host_id = ${userId} and deleted_at is null) as has_machine,
      exists (select from join_tokens where user_id = ${userId})
        or exists (select from agent_credentials where user_id = ${userId}) as has_token
  `.execute(db);
  const [row] = rows;
  if (row?.has_machine === true) return "host";
  return row?.has_token === true ? "without_machines" : "renter";
}
