import { seededRandom } from "../../agent/src/base/random.ts";
import { asId, type MachineId } from "../../server/src/base/ids.ts";
import type { Database } from "../../server/src/db/connect.ts";
import { seedMachines } from "./seed.ts";

/** The market's GPU models: share in percent of the machines, MB, score, TFLOPS, dollars an hour. */
const MODELS = [
  { name: "RTX 4090", share: 22, memory_mb: 24_564, dlperf: 95.2, tflops: 82.6, price: 0.34 },
  { name: "RTX 3090", share: 16, memory_mb: 24_576, dlperf: 52.3, tflops: 35.6, price: 0.17 },
  { name: "RTX 5090", share: 12, memory_mb: 32_607, dlperf: 140.1, tflops: 104.8, price: 0.52 },
  { name: "H100 SXM", share: 9, memory_mb: 81_559, dlperf: 310.5, tflops: 66.9, price: 1.95 },
  { name: "A100 PCIE", share: 7, memory_mb: 81_920, dlperf: 170.8, tflops: 19.5, price: 0.85 },
  { name: "RTX 3060", share: 10, memory_mb: 12_288, dlperf: 24.6, tflops: 12.7, price: 0.06 },
  { name: "L40S", share: 6, memory_mb: 46_068, dlperf: 120.4, tflops: 91.6, price: 0.65 },
  { name: "RTX A6000", share: 6, memory_mb: 49_140, dlperf: 68.2, tflops: 38.7, price: 0.42 },
  { name: "H200", share: 5, memory_mb: 143_771, dlperf: 400.9, tflops: 66.9, price: 2.4 },
  { name: "L4", share: 4, memory_mb: 23_034, dlperf: 42.7, tflops: 30.3, price: 0.28 },
  { name: "Tesla T4", share: 3, memory_mb: 15_360, dlperf: 20.3, tflops: 8.1, price: 0.11 },
] as const;
const GPU_COUNTS = [1, 1, 2, 4, 4, 8, 8, 8] as const;
const PLACES = ["Oslo, NO", "Reno, US", "Austin, US", "Berlin, DE", "Tokyo, JP", "Paris, FR"] as const;
const HOSTS = 500;
const MACHINES_PER_STATEMENT = 2_000;
const DAY_MS = 86_400_000;

/**
 * Adds machines until there are so many offers, straight into the tables: copies of one that took the path of a real
 * agent, each with GPUs, prices, place, uplink and reliability of its own, the same in each run.
 */
export async function seedOffers(database: Database, wanted: number): Promise<readonly MachineId[]> {
  const { pool } = database;
  const { rows } = await pool.query<{ offers: number; machines: number; now: Date }>(
    `select count(*)::integer as offers, (select coalesce(max(id), 0) from machines) as machines, now() as now
     from offers where retired_at is null`,
  );
  const [found = { offers: 0, machines: 0, now: new Date(0) }] = rows;
  const ids: MachineId[] = [];
  if (found.machines === 0) ids.push(...(await seedMachines(database, { hosts: 1, gpusPerHost: 8 })));
  const hosts = await seedHosts(database);
  let offers = found.machines === 0 ? 8 : found.offers;
  let next = Math.max(1, found.machines) + 1;
  while (offers < wanted) {
    const machines: Invented[] = [];
    for (; machines.length < MACHINES_PER_STATEMENT && offers < wanted; next += 1) {
      const machine = inventOfferedMachine(next, { hosts, now: found.now });
      machines.push(machine);
      offers += machine.gpus;
    }
    await insertMachines(database, machines);
    ids.push(...machines.map(({ row }) => asId<MachineId>(row.id)));
  }
  await keepRatings(database);
  for (const table of ["machines", "devices", "offers"]) {
    await pool.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`);
    await pool.query(`vacuum analyze ${table}`);
  }
  return ids;
}

/** Keeps the ratings of these machines: they have no agent, by which a server would rate them in a long run. */
async function keepRatings({ pool }: Database): Promise<void> {
  await pool.query(`
    create or replace function bench_keep_ratings() returns trigger language plpgsql as $$
    begin
      new.reliability_ppm := old.reliability_ppm;
      new.verification := old.verification;
      return new;
    end $$`);
  await pool.query(`
    create or replace trigger bench_keep_ratings before update of reliability_ppm, verification on machines
    for each row execute function bench_keep_ratings()`);
}

type Invented = ReturnType<typeof inventOfferedMachine>;

function inventOfferedMachine(id: number, { hosts, now }: { readonly hosts: readonly number[]; readonly now: Date }) {
  const random = seededRandom(`offer-${id}`);
  const model = pickModel(random() * 100);
  const gpus = GPU_COUNTS[Math.floor(random() * GPU_COUNTS.length)] ?? 1;
  const price = Math.ceil(model.price * (0.7 + random()) * 1000);
  const facts = {
    hostname: `bench-${id}`,
    public_ipaddr: `10.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}`,
    geolocation: PLACES[Math.floor(random() * PLACES.length)] ?? "",
    cpu_name: `CPU ${Math.floor(random() * 120)}`,
    mobo_name: `Board ${Math.floor(random() * 300)}`,
    inet_down_mbps: 50 + Math.floor(random() ** 2 * 9000),
    inet_up_mbps: 20 + Math.floor(random() ** 2 * 5000),
    disk_bytes: (200 + Math.floor(random() * 4000)) * 1e9,
  };
  const row = {
    id,
    host_key: `bench-offer-${id}`,
    host_id: hosts[Math.floor(random() * hosts.length)] ?? 0,
    verification: random() < 0.6 ? "verified" : "unverified",
    hosting_type: random() < 0.2 ? 1 : 0,
    reliability_ppm: 1_000_000 - Math.floor(random() ** 3 * 300_000),
    is_connected: random() < 0.97,
    price_device_nanos_per_hour: price * 1_000_000,
    price_min_bid_nanos_per_hour: Math.ceil(price * (0.3 + random() * 0.5)) * 1_000_000,
    price_disk_nanos_per_gb_month: (10 + Math.floor(random() * 20)) * 10_000_000,
    min_chunk: 1,
    offer_end_at: new Date(now.getTime() + Math.floor((3 + random() * 260) * DAY_MS)),
  };
  const { name, memory_mb, dlperf, tflops } = model;
  return { row, facts, gpus, gpu: { name, memory_mb, dlperf, tflops } };
}

function pickModel(percent: number) {
  let sum = 0;
  for (const model of MODELS) {
    sum += model.share;
    if (percent < sum) return model;
  }
  return MODELS[0];
}

async function seedHosts({ pool }: Database): Promise<readonly number[]> {
  await pool.query(
    `insert into users (email, username, created_at)
     select 'host-' || n || '@bench.example', 'host-' || n, now() from generate_series(1, $1::integer) as n
     on conflict do nothing`,
    [HOSTS],
  );
  const { rows } = await pool.query<{ id: number }>(
    "select id from users where email like 'host-%@bench.example' order by id",
  );
  return rows.map(({ id }) => id);
}

async function insertMachines({ pool }: Database, machines: readonly Invented[]): Promise<void> {
  const json = JSON.stringify(machines);
  await pool.query(
    `insert into machines overriding system value
     select (jsonb_populate_record(model, new -> 'row' || jsonb_build_object('facts', model.facts || (new -> 'facts')))).*
     from jsonb_array_elements($1::jsonb) as new
     join machines as model on model.id = (select min(id) from machines)`,
    [json],
  );
  await pool.query(
    `insert into devices overriding system value
     select (jsonb_populate_record(model, jsonb_build_object(
       'id', nextval(pg_get_serial_sequence('devices', 'id')),
       'machine_id', new -> 'row' -> 'id',
       'uuid', 'bench-' || (new -> 'row' ->> 'id') || '-' || place,
       'position', place,
       'facts', model.facts || (new -> 'gpu')
     ))).*
     from jsonb_array_elements($1::jsonb) as new
     cross join lateral generate_series(0, (new ->> 'gpus')::integer - 1) as place
     join devices as model on model.id = (select min(id) from devices)`,
    [json],
  );
  await pool.query(
    `insert into offers (machine_id, device_count, created_at, price_device_nanos_per_hour, price_disk_nanos_per_gb_month,
       price_inet_up_nanos_per_gb, price_inet_down_nanos_per_gb, credit_discount_max_permille, end_at, is_verified,
       hosting_type)
     select machines.id, size, now(), price_device_nanos_per_hour, price_disk_nanos_per_gb_month,
       price_inet_up_nanos_per_gb, price_inet_down_nanos_per_gb, credit_discount_max_permille, offer_end_at,
       verification = 'verified', hosting_type
     from jsonb_array_elements($1::jsonb) as new
     join machines on machines.id = (new -> 'row' ->> 'id')::integer
     cross join lateral generate_series(1, (new ->> 'gpus')::integer) as size`,
    [json],
  );
}
