import type pg from "pg";
import type { MachineId } from "../../server/src/base/ids.ts";
import type { Database } from "../../server/src/db/connect.ts";

/** A running instance, as its host reports it. */
export type SeededInstance = { readonly id: number; readonly machineId: MachineId };

/** One of this many instances has traffic that costs something, which makes two more charge lines. */
export const TRAFFIC_EVERY = 4;
const HOSTS = 200;

/**
 * Instances that began to run at `startAt`, one for each GPU of these machines, straight into the tables: each has its
 * lease, its run, and the event that says so. They are due at once, since nothing is set aside for them yet.
 */
export async function seedInstances(
  { pool }: Database,
  {
    machineIds,
    renterIds,
    startAt,
  }: { readonly machineIds: readonly MachineId[]; readonly renterIds: readonly number[]; readonly startAt: Date },
): Promise<readonly SeededInstance[]> {
  await spreadHosts(pool, startAt);
  await pool.query(
    `insert into instances (user_id, machine_id, offer_id, is_bid, price_nanos_per_hour, storage_nanos_per_gb_month,
       inet_up_nanos_per_gb, inet_down_nanos_per_gb, device_count, disk_bytes, launch, desired, phase, phase_cause,
       phase_since_at, generation, observed_generation, observed_state, observed_at, created_at, end_at)
     select ($2::integer[])[1 + n % cardinality($2::integer[])], machine_id, offer_id, false,
       300000000 + n % 97 * 1000000, 150000000, case when n % ${TRAFFIC_EVERY} = 0 then 10000000 else 0 end,
       case when n % ${TRAFFIC_EVERY} = 0 then 5000000 else 0 end, 1, 16000000000, '{}', 'running', 'running',
       'container_running', $3, 1, 1, 'running', $3, $3, $3::timestamptz + interval '300 days'
     from (
       select d.machine_id, (row_number() over (order by d.position, d.machine_id))::integer as n, offer.id as offer_id
       from devices d
       cross join lateral (select min(o.id) as id from offers o where o.machine_id = d.machine_id) as offer
       where d.machine_id = any($1::integer[])
     ) as wanted`,
    [machineIds, renterIds, startAt],
  );
  await pool.query(
    `insert into instance_tabs (instance_id, user_id, metered_from_at, settle_at)
     select id, user_id, $1, $1 from instances order by id`,
    [startAt],
  );
  await pool.query(
    `insert into leases (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at)
     select d.id, i.machine_id, i.id, 1, false, i.price_nanos_per_hour, $1
     from (select *, row_number() over (partition by machine_id order by id) as n from instances) as i
     join (select *, row_number() over (partition by machine_id order by position) as n from devices) as d
       on d.machine_id = i.machine_id and d.n = i.n`,
    [startAt],
  );
  await pool.query(
    `insert into instance_runs (instance_id, generation, started_at, last_counted_at, metered_from_at)
     select id, 1, $1, $1, $1 from instances order by id`,
    [startAt],
  );
  await pool.query(
    `insert into instance_events (instance_id, at, actor, cause, from_phase, to_phase, generation)
     select id, $1, 'bench', 'container_running', 'starting', 'running', 1 from instances order by id`,
    [startAt],
  );
  await pool.query("vacuum (analyze)");
  const { rows } = await pool.query<{ id: number; machineId: MachineId }>(
    `select id, machine_id as "machineId" from instances order by machine_id, id`,
  );
  return rows;
}

/** Machines of many hosts, all of them heard of at that moment. */
async function spreadHosts(pool: pg.Pool, startAt: Date): Promise<void> {
  await pool.query(
    `insert into users (email, username, created_at)
     select 'earner-' || n || '@bench.example', 'earner-' || n, $1 from generate_series(1, ${HOSTS}) as n`,
    [startAt],
  );
  await pool.query(
    `update machines set is_connected = true, connected_at = $1::timestamptz, last_seen_at = $1::timestamptz,
       lease_until_at = $1::timestamptz + interval '1 hour', facts = facts || '{"inet_up_mbps": 1000, "inet_down_mbps": 1000}',
       host_id = (select min(id) from users where email like 'earner-%') + machines.id % ${HOSTS}`,
    [startAt],
  );
  await pool.query("delete from machine_spans");
  await pool.query("insert into machine_spans (machine_id, from_at) select id, $1 from machines", [startAt]);
}
