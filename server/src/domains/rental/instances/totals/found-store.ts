import { sql, type RawBuilder } from "kysely";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { PHASES, type Phase } from "../lifecycle/rules/lifecycle.ts";

/** An instance of any account as administrators find it. */
export type FoundInstance = {
  readonly id: InstanceId;
  readonly userId: UserId;
  readonly machineId: MachineId;
  readonly label: string | undefined;
  readonly image: string;
  readonly isBid: boolean;
  readonly deviceCount: number;
  readonly diskBytes: bigint;
  readonly priceNanosPerHour: Nanos;
  readonly desired: string;
  readonly phase: Phase;
  readonly phaseCause: string;
  readonly phaseSinceAt: Date;
  readonly statusText: string;
  readonly problem: string;
  readonly createdAt: Date;
  readonly endAt: Date;
  readonly endedAt: Date | undefined;
};

export type InstanceSearch = {
  /** An id, or a part of a label in any case. */
  readonly text?: string | undefined;
  readonly userId?: UserId | undefined;
  readonly machineId?: MachineId | undefined;
  readonly phase?: Phase | undefined;
  readonly isBid?: boolean | undefined;
  /** True for instances that are over, false for those that are not. */
  readonly isOver?: boolean | undefined;
  /** Only instances with a smaller id. */
  readonly beforeId?: InstanceId | undefined;
  readonly limit: number;
};

type Row = {
  readonly id: InstanceId;
  readonly user_id: UserId;
  readonly machine_id: MachineId;
  readonly label: string | null;
  readonly image: string | null;
  readonly is_bid: boolean;
  readonly device_count: number;
  readonly disk_bytes: bigint;
  readonly price_nanos_per_hour: bigint;
  readonly desired: string;
  readonly phase: Phase;
  readonly phase_cause: string;
  readonly phase_since_at: Date;
  readonly observed_status_msg: string;
  readonly device_problem: string;
  readonly created_at: Date;
  readonly end_at: Date;
  readonly ended_at: Date | null;
};

/** Instances of all accounts that match a search, the newest first; containers of hosts on idle GPUs are left out. */
export async function searchInstances(db: Reader, search: InstanceSearch): Promise<readonly FoundInstance[]> {
  const conditions = conditionsOf(search);
  const { rows } = await sql<Row>`
    select id, user_id, machine_id, label, launch ->> 'image' as image, is_bid, device_count, disk_bytes,
      price_nanos_per_hour, desired, phase, phase_cause, phase_since_at, observed_status_msg, device_problem,
      created_at, end_at, ended_at
    from instances where ${sql.join(conditions, sql` and `)}
    order by id desc limit ${search.limit}::integer
  `.execute(db);
  return rows.map(toFound);
}

function conditionsOf(search: InstanceSearch): readonly RawBuilder<boolean>[] {
  const { text, userId, machineId, phase, isBid, isOver, beforeId } = search;
  return [
    sql<boolean>`not is_background`,
    ...(text === undefined ? [] : [matchesText(text)]),
    ...(userId === undefined ? [] : [sql<boolean>`user_id = ${userId}::integer`]),
    ...(machineId === undefined ? [] : [sql<boolean>`machine_id = ${machineId}::integer`]),
    ...(phase === undefined ? [] : [sql<boolean>`phase = ${phase}::text`]),
    ...(isBid === undefined ? [] : [sql<boolean>`is_bid = ${isBid}::boolean`]),
    ...(isOver === undefined ? [] : [isOver ? sql<boolean>`ended_at is not null` : sql<boolean>`ended_at is null`]),
    ...(beforeId === undefined ? [] : [sql<boolean>`id < ${beforeId}::integer`]),
  ];
}

function matchesText(text: string): RawBuilder<boolean> {
  const contains = sql`position(${text.toLowerCase()}::text in lower(label)) > 0`;
  return /^[1-9]\d{0,9}$/.test(text)
    ? sql<boolean>`(id = ${text}::bigint or ${contains})`
    : sql<boolean>`(${contains})`;
}

function toFound(row: Row): FoundInstance {
  return {
    id: row.id,
    userId: row.user_id,
    machineId: row.machine_id,
    label: row.label ?? undefined,
    image: row.image ?? "",
    isBid: row.is_bid,
    deviceCount: row.device_count,
    diskBytes: row.disk_bytes,
    priceNanosPerHour: nanos(row.price_nanos_per_hour),
    desired: row.desired,
    phase: row.phase,
    phaseCause: row.phase_cause,
    phaseSinceAt: row.phase_since_at,
    statusText: row.observed_status_msg,
    problem: row.device_problem,
    createdAt: row.created_at,
    endAt: row.end_at,
    endedAt: row.ended_at ?? undefined,
  };
}

/** Counts of the instances of one account that are not over. */
export type InstanceCounts = { readonly kept: number; readonly running: number };

/** The counts for each of these accounts that has an instance. */
export async function countInstancesOfEach(
  db: Reader,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, InstanceCounts>> {
  const { rows } = await sql<InstanceCounts & { readonly user_id: UserId }>`
    select user_id, count(*)::integer as kept, count(*) filter (where phase in ('running', 'yielding'))::integer as running
    from instances
    where user_id = any(${[...userIds]}::integer[]) and ended_at is null and not is_background
    group by user_id
  `.execute(db);
  return new Map(rows.map(({ user_id: userId, kept, running }) => [userId, { kept, running }]));
}

/** Numbers of instances in each phase, of all accounts; `ended` is left out. */
export async function countInstancesByPhase(db: Reader): Promise<ReadonlyMap<Phase, number>> {
  const { rows } = await sql<{ readonly phase: Phase; readonly count: number }>`
    select phase, count(*)::integer as count from instances where ended_at is null and not is_background group by phase
  `.execute(db);
  const counted = new Map(rows.map(({ phase, count }) => [phase, count]));
  return new Map(PHASES.filter((phase) => phase !== "ended").map((phase) => [phase, counted.get(phase) ?? 0]));
}

/** Number of instances that were rented since a moment, of all accounts. */
export async function countRentsSince(db: Reader, since: Date): Promise<number> {
  const { rows } = await sql<{ readonly count: number }>`
    select count(*)::integer as count from instances where created_at >= ${since}::timestamptz and not is_background
  `.execute(db);
  return rows[0]?.count ?? 0;
}
