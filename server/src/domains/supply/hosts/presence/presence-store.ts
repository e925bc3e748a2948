import { sql, type RawBuilder } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { InventedDay } from "./rules/invented-days.ts";
import { SETTLE_MS, type DayPart } from "./rules/presence.ts";
import { firstDayOf, startOfDay, type ReliabilityFacts } from "./rules/reliability.ts";

/** A machine in a statement: the columns of its id and of its host's id. */
type MachineInSql = { readonly id: RawBuilder<unknown>; readonly hostId: RawBuilder<unknown> };

/**
 * SQL about rentals of a machine, without those of its own host. Instances, which know hosts, provide it: one statement
 * counts the presence of all machines.
 */
export type RentalsInSql = {
  /** The number of the machine's devices that renters hold. */
  readonly rentedDeviceCount: (machine: MachineInSql) => RawBuilder<number>;
  /** True while a renter has an instance on the machine that is not over. */
  readonly isRented: (machine: MachineInSql) => RawBuilder<boolean>;
};

/** A maintenance that was announced less than this before its start counts as an outage. */
const NOTICE_SECONDS_MIN = 3_600;

/** Restarts counting after a start of the server: until agents had time to connect, no machine's absence counts. */
export async function restartPresence(tx: Tx): Promise<void> {
  const settled = new Date(tx.now.getTime() + SETTLE_MS);
  await tx.db
    .insertInto("presence_clock")
    .values({ counted_until_at: settled })
    .onConflict((oc) => oc.column("is_only").doUpdateSet({ counted_until_at: settled }))
    .execute();
}

/** The time up to which presence is counted. Locked until the transaction ends, so that nothing is counted twice. */
export async function lockPresenceClock(tx: Tx): Promise<Date> {
  await tx.db
    .insertInto("presence_clock")
    .values({ counted_until_at: tx.now })
    .onConflict((oc) => oc.doNothing())
    .execute();
  const row = await tx.db.selectFrom("presence_clock").select("counted_until_at").forUpdate().executeTakeFirstOrThrow();
  return row.counted_until_at;
}

export async function setPresenceClock(tx: Tx, countedUntil: Date): Promise<void> {
  await tx.db.updateTable("presence_clock").set({ counted_until_at: countedUntil }).execute();
}

/**
 * Adds these stretches of time to the days of every machine that is listed or rented, and returns the number of
 * machines. A connected machine was online since its agent connected; any other until it was last heard. The rest of
 * the time it was offline, except the time that agents have to reconnect after their server ended. Time before a new
 * connection is unknown: it counts neither way.
 */
export async function countPresence(tx: Tx, parts: readonly DayPart[], rentals: RentalsInSql): Promise<number> {
  const machine = { id: sql`m.id`, hostId: sql`m.host_id` };
  const { rows } = await sql<{ machines: number }>`
    with part as (
      select * from unnest(
        ${parts.map((part) => part.day)}::integer[], ${parts.map((part) => part.from)}::timestamptz[],
        ${parts.map((part) => part.until)}::timestamptz[]
      ) as part (day, from_at, until_at)
    ), seen as (
      select m.id, part.day,
        case when m.is_connected
          then greatest(interval '0', part.until_at - greatest(part.from_at, m.created_at, m.connected_at))
          else greatest(interval '0', least(m.last_seen_at, part.until_at) - greatest(part.from_at, m.created_at))
        end as online,
        case when m.is_connected then interval '0'
          else greatest(
            interval '0', part.until_at - greatest(part.from_at, m.created_at, m.last_seen_at, m.excused_until_at)
          )
        end as offline,
        case when m.is_connected then 0 else least(1, ${rentals.rentedDeviceCount(machine)}::numeric / greatest(1, (
          select count(*) from devices where devices.machine_id = m.id and devices.is_present
        ))) end as rented_share,
        exists (
          select from machine_maintenances as planned
          where planned.machine_id = m.id and planned.cancelled_at is null
            and planned.start_at < part.until_at and planned.end_at > part.from_at
            and planned.created_at <= planned.start_at - make_interval(secs => ${NOTICE_SECONDS_MIN}::double precision)
        ) as is_in_maintenance
      from machines as m cross join part
      where (m.is_listed and m.offer_end_at > part.from_at) or ${rentals.isRented(machine)}
    ), measured as (
      select id, day, is_in_maintenance, rented_share,
        (extract(epoch from online) * 1000)::bigint as online_ms,
        (extract(epoch from offline) * 1000)::bigint as offline_ms
      from seen
    ), counted as (
      insert into machine_days (machine_id, day, online_ms, offline_ms, offline_rented_ms, maintenance_ms)
      select id, day, online_ms, case when is_in_maintenance then 0 else offline_ms end,
        case when is_in_maintenance then 0 else floor(offline_ms * rented_share)::bigint end,
        case when is_in_maintenance then offline_ms else 0 end
      from measured where online_ms > 0 or offline_ms > 0 order by id, day
      on conflict (machine_id, day) do update set
        online_ms = machine_days.online_ms + excluded.online_ms,
        offline_ms = machine_days.offline_ms + excluded.offline_ms,
        offline_rented_ms = machine_days.offline_rented_ms + excluded.offline_rented_ms,
        maintenance_ms = machine_days.maintenance_ms + excluded.maintenance_ms
      returning machine_id
    )
    select count(distinct machine_id)::integer as machines from counted
  `.execute(tx.db);
  return rows[0]?.machines ?? 0;
}

/** Stores invented days of simulated machines, where no presence was counted. */
export async function insertInventedDays(
  tx: Tx,
  days: readonly (InventedDay & { readonly machineId: MachineId })[],
): Promise<void> {
  await sql`
    insert into machine_days (machine_id, day, online_ms, offline_ms, offline_rented_ms, maintenance_ms)
    select machine_id, day, online_ms, offline_ms, 0, 0 from unnest(
      ${days.map((day) => day.machineId)}::integer[], ${days.map((day) => day.day)}::integer[],
      ${days.map((day) => day.onlineMs)}::bigint[], ${days.map((day) => day.offlineMs)}::bigint[]
    ) as invented (machine_id, day, online_ms, offline_ms)
    order by machine_id, day
    on conflict do nothing
  `.execute(tx.db);
}

/** One day of a machine as everybody may read it. */
export type MachineDay = Omit<ReliabilityFacts, "failedStarts"> & {
  readonly day: number;
  readonly startsSucceeded: number;
  readonly startsFailed: number;
};

/** The days of the window that ends now, newest first; days without facts are left out. */
export async function listMachineDays(db: Reader, machineId: MachineId, now: Date): Promise<readonly MachineDay[]> {
  const firstDay = firstDayOf(now);
  const { rows } = await sql<MachineDay>`
    with presence as (
      select day, online_ms, offline_ms, offline_rented_ms, maintenance_ms from machine_days
      where machine_id = ${machineId} and day >= ${firstDay}
    ), begun as (
      select day, succeeded_count from machine_start_days where machine_id = ${machineId} and day >= ${firstDay}
    ), failed as (
      select floor(extract(epoch from at) / 86400)::integer as day, count(*)::integer as failed_count from failed_starts
      where machine_id = ${machineId} and at >= ${startOfDay(firstDay)}::timestamptz and is_counted
      group by 1
    )
    select day, coalesce(online_ms, 0) as "onlineMs", coalesce(offline_ms, 0) as "offlineMs",
      coalesce(offline_rented_ms, 0) as "offlineRentedMs", coalesce(maintenance_ms, 0) as "maintenanceMs",
      coalesce(succeeded_count, 0) as "startsSucceeded", coalesce(failed_count, 0) as "startsFailed"
    from presence full join begun using (day) full join failed using (day)
    order by day desc
  `.execute(db);
  return rows;
}

export type RatedMachine = ReliabilityFacts & { readonly id: MachineId; readonly reliabilityPpm: number };

/** Facts from which the reliability of machines is computed, in id order after `afterId`. */
export async function listReliabilityFacts(
  db: Reader,
  { afterId, limit, now }: { readonly afterId: number; readonly limit: number; readonly now: Date },
): Promise<readonly RatedMachine[]> {
  const page = sql`select id, reliability_ppm from machines where id > ${afterId} order by id limit ${limit}`;
  return selectReliabilityFacts(db, page, now);
}

/** Facts from which the reliability of these machines is computed, in id order. */
export async function listReliabilityFactsOf(
  db: Reader,
  ids: readonly MachineId[],
  now: Date,
): Promise<readonly RatedMachine[]> {
  const named = sql`select id, reliability_ppm from machines where id = any(${ids}::integer[])`;
  return selectReliabilityFacts(db, named, now);
}

async function selectReliabilityFacts(
  db: Reader,
  machines: RawBuilder<unknown>,
  now: Date,
): Promise<readonly RatedMachine[]> {
  const firstDay = firstDayOf(now);
  const { rows } = await sql<RatedMachine>`
    select m.id, m.reliability_ppm as "reliabilityPpm",
      coalesce(sum(days.online_ms), 0)::bigint as "onlineMs", coalesce(sum(days.offline_ms), 0)::bigint as "offlineMs",
      coalesce(sum(days.offline_rented_ms), 0)::bigint as "offlineRentedMs",
      coalesce(sum(days.maintenance_ms), 0)::bigint as "maintenanceMs",
      (select count(*) from failed_starts where machine_id = m.id and at >= ${startOfDay(firstDay)}::timestamptz
        and is_counted) as "failedStarts"
    from (${machines}) as m
    left join machine_days as days on days.machine_id = m.id and days.day >= ${firstDay}
    group by m.id, m.reliability_ppm
    order by m.id
  `.execute(db);
  return rows;
}

/** Stores computed reliabilities. The caller holds the row locks. */
export async function setReliability(
  tx: Tx,
  rated: readonly { readonly id: MachineId; readonly reliabilityPpm: number }[],
): Promise<void> {
  await sql`
    update machines set reliability_ppm = rated.ppm
    from unnest(${rated.map((one) => one.id)}::integer[], ${rated.map((one) => one.reliabilityPpm)}::integer[])
      as rated (id, ppm)
    where machines.id = rated.id
  `.execute(tx.db);
}

/** The reliability that offers of this machine show now; undefined when the machine does not exist. */
export async function findShownReliability(
  db: Reader,
  id: MachineId,
): Promise<{ readonly ppm: number; readonly isSimulated: boolean } | undefined> {
  const row = await db
    .selectFrom("machines")
    .select(["reliability_ppm", "engine_kind"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row && { ppm: row.reliability_ppm, isSimulated: row.engine_kind === "simulated" };
}
