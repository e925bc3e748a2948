import { sql, type RawBuilder } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** A machine of any host as administrators find it. */
export type FoundMachine = {
  readonly id: MachineId;
  readonly hostId: UserId;
  readonly hostname: string;
  readonly isSimulated: boolean;
  /** The model of its GPUs; empty for a machine without GPUs. */
  readonly gpuName: string;
  readonly gpuCount: number;
  readonly sickGpuCount: number;
  readonly absentGpuCount: number;
  readonly geolocation: string;
  readonly agentVersion: string;
  readonly isConnected: boolean;
  readonly lastSeenAt: Date;
  readonly isListed: boolean;
  readonly verification: string;
  readonly reliabilityPpm: number;
  readonly priceDeviceNanosPerHour: Nanos;
  readonly offerEndAt: Date;
  readonly restsUntilAt: Date | undefined;
  readonly openFlagCount: number;
  readonly createdAt: Date;
};

export type MachineSearch = {
  /** An id, or a part of a host name, a key of the host, or a GPU name in any case. */
  readonly text?: string | undefined;
  readonly hostId?: UserId | undefined;
  readonly gpuName?: string | undefined;
  readonly isConnected?: boolean | undefined;
  readonly isListed?: boolean | undefined;
  readonly verification?: string | undefined;
  /** True for machines with a GPU that is sick or absent. */
  readonly isBroken?: boolean | undefined;
  /** True for machines with an open flag. */
  readonly isFlagged?: boolean | undefined;
  /** Only machines with a smaller id. */
  readonly beforeId?: MachineId | undefined;
  readonly limit: number;
};

type Row = {
  readonly id: MachineId;
  readonly host_id: UserId;
  readonly hostname: string | null;
  readonly is_simulated: boolean | null;
  readonly gpu_name: string | null;
  readonly gpu_count: number;
  readonly sick_count: number;
  readonly absent_count: number;
  readonly geolocation: string | null;
  readonly agent_version: string;
  readonly is_connected: boolean;
  readonly last_seen_at: Date;
  readonly is_listed: boolean;
  readonly verification: string;
  readonly reliability_ppm: number;
  readonly price_device_nanos_per_hour: bigint;
  readonly offer_end_at: Date;
  readonly rests_until_at: Date | null;
  readonly open_flag_count: number;
  readonly created_at: Date;
};

/** Machines of all hosts that match a search, the newest first; deleted machines are left out. */
export async function searchMachines(db: Reader, search: MachineSearch): Promise<readonly FoundMachine[]> {
  const { rows } = await sql<Row>`
    select m.id, m.host_id, m.facts ->> 'hostname' as hostname, (m.facts ->> 'is_simulated')::boolean as is_simulated,
      gpu.name as gpu_name, gpu.present as gpu_count, gpu.sick as sick_count, gpu.absent as absent_count,
      m.facts ->> 'geolocation' as geolocation, m.agent_version, m.is_connected, m.last_seen_at, m.is_listed,
      m.verification, m.reliability_ppm, m.price_device_nanos_per_hour, m.offer_end_at, m.rests_until_at, m.created_at,
      (select count(*)::integer from host_flags f
        where f.host_id = m.host_id and f.machine_id = m.id and f.cleared_at is null) as open_flag_count
    from machines m
    cross join lateral (
      select (array_agg(facts ->> 'name' order by is_present desc, position))[1] as name,
        count(*) filter (where is_present)::integer as present,
        count(*) filter (where is_present and not is_healthy)::integer as sick,
        count(*) filter (where not is_present)::integer as absent
      from devices where machine_id = m.id and kind = 'gpu'
    ) as gpu
    where ${sql.join(conditionsOf(search), sql` and `)}
    order by m.id desc limit ${search.limit}::integer
  `.execute(db);
  return rows.map(toFound);
}

function conditionsOf(search: MachineSearch): readonly RawBuilder<boolean>[] {
  const { text, hostId, gpuName, isConnected, isListed, verification, isBroken, isFlagged, beforeId } = search;
  const flagged = sql`exists (
    select from host_flags f where f.host_id = m.host_id and f.machine_id = m.id and f.cleared_at is null
  )`;
  return [
    sql<boolean>`m.deleted_at is null`,
    ...(text === undefined ? [] : [matchesText(text)]),
    ...(hostId === undefined ? [] : [sql<boolean>`m.host_id = ${hostId}::integer`]),
    ...(gpuName === undefined ? [] : [sql<boolean>`gpu.name = ${gpuName}::text`]),
    ...(isConnected === undefined ? [] : [sql<boolean>`m.is_connected = ${isConnected}::boolean`]),
    ...(isListed === undefined ? [] : [sql<boolean>`m.is_listed = ${isListed}::boolean`]),
    ...(verification === undefined ? [] : [sql<boolean>`m.verification = ${verification}::text`]),
    ...(isBroken === undefined ? [] : [sql<boolean>`(gpu.sick + gpu.absent > 0) = ${isBroken}::boolean`]),
    ...(isFlagged === undefined ? [] : [sql<boolean>`${flagged} = ${isFlagged}::boolean`]),
    ...(beforeId === undefined ? [] : [sql<boolean>`m.id < ${beforeId}::integer`]),
  ];
}

function matchesText(text: string): RawBuilder<boolean> {
  const lower = text.toLowerCase();
  const contains = (value: RawBuilder<unknown>) => sql`position(${lower}::text in lower(${value})) > 0`;
  const id = /^[1-9]\d{0,9}$/.test(text) ? sql`m.id = ${text}::bigint or` : sql``;
  return sql<boolean>`(${id} ${contains(sql`m.facts ->> 'hostname'`)} or ${contains(sql`m.host_key`)}
    or ${contains(sql`gpu.name`)})`;
}

function toFound(row: Row): FoundMachine {
  return {
    id: row.id,
    hostId: row.host_id,
    hostname: row.hostname ?? "",
    isSimulated: row.is_simulated ?? false,
    gpuName: row.gpu_name ?? "",
    gpuCount: row.gpu_count,
    sickGpuCount: row.sick_count,
    absentGpuCount: row.absent_count,
    geolocation: row.geolocation ?? "",
    agentVersion: row.agent_version,
    isConnected: row.is_connected,
    lastSeenAt: row.last_seen_at,
    isListed: row.is_listed,
    verification: row.verification,
    reliabilityPpm: row.reliability_ppm,
    priceDeviceNanosPerHour: nanos(row.price_device_nanos_per_hour),
    offerEndAt: row.offer_end_at,
    restsUntilAt: row.rests_until_at ?? undefined,
    openFlagCount: row.open_flag_count,
    createdAt: row.created_at,
  };
}

/** The number of machines of each of these hosts that has one. */
export async function countMachinesOfEach(
  db: Reader,
  hostIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, number>> {
  const { rows } = await sql<{ readonly host_id: UserId; readonly count: number }>`
    select host_id, count(*)::integer as count from machines
    where host_id = any(${[...hostIds]}::integer[]) and deleted_at is null group by host_id
  `.execute(db);
  return new Map(rows.map((row) => [row.host_id, row.count]));
}

/** Numbers of machines by state. */
export type MachineStates = { readonly total: number; readonly connected: number; readonly listed: number };

export async function countMachineStates(db: Reader): Promise<MachineStates> {
  const { rows } = await sql<MachineStates>`
    select count(*)::integer as total, count(*) filter (where is_connected)::integer as connected,
      count(*) filter (where is_listed)::integer as listed
    from machines where deleted_at is null
  `.execute(db);
  return rows[0] ?? { total: 0, connected: 0, listed: 0 };
}

/** Seconds since the last word of the connected agents: of the most silent one, and of the one in twenty. */
export type AgentSilence = { readonly longest: number; readonly ninetyFifth: number };

export async function readAgentSilence(db: Reader, now: Date): Promise<AgentSilence> {
  const { rows } = await sql<{ longest: number | null; ninety_fifth: number | null }>`
    select max(silence)::float8 as longest,
      percentile_cont(0.95) within group (order by silence)::float8 as ninety_fifth
    from (
      select greatest(extract(epoch from ${now}::timestamptz - last_seen_at), 0)::float8 as silence
      from machines where is_connected
    ) connected
  `.execute(db);
  return { longest: rows[0]?.longest ?? 0, ninetyFifth: rows[0]?.ninety_fifth ?? 0 };
}
