// Ready workers of many endpoints, what they say of themselves, and whether the database holds it.
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "../../server/src/base/clock.ts";
import type { Database } from "../../server/src/db/connect.ts";
import { callApi, type BenchServer } from "./berth-server.ts";
import { requestText } from "./load.ts";
import { seedInstances } from "./seed-instances.ts";
import { seedMachines, type BenchUser } from "./seed.ts";

const GPUS_PER_HOST = 8;
const PORT_FIRST = 10_000;
/** An address anywhere on the internet, which nobody calls. */
const ADDRESS = "20.0.0.1";
const PERF = 100;
const DISK_GB = 0.25;
const VERSION = "berth-1";
const SETTLED_LATER_MS = 6 * 3_600_000;
/** Settings under which no worker is rented or stopped: the benchmark measures reports only. */
const GROUP = { min_load: 0, cold_workers: 0, max_workers: 1_000, endpoint_state: "suspended" };
const RECIPE = {
  test_workers: 0,
  cold_workers: 0,
  launch_args: "--image busybox --disk 8",
  search_params: "num_gpus=1",
};

/** Work at hand in its reports, one after the other: more, less, none, and again. */
const LOADS = [
  { load: 40, count: 3 },
  { load: 15, count: 1 },
  { load: 0, count: 0 },
  { load: 25, count: 2 },
] as const;
const LAST = { load: 7.5, count: 2 } as const;

export type ReportingWorker = { readonly id: number; readonly endpointId: number };
export type ReportingEndpoint = { readonly id: number; readonly name: string; readonly key: string };
type Said = { readonly load: number; readonly count: number; readonly diskGb: number };

/** Makes endpoints with equally many workers, whose instances run and whose programs have not reported yet. */
export async function seedReportingWorkers(
  server: BenchServer,
  user: BenchUser,
  { endpoints, workers }: { readonly endpoints: number; readonly workers: number },
): Promise<{ readonly endpoints: readonly ReportingEndpoint[]; readonly workers: readonly ReportingWorker[] }> {
  const { pool } = server.database;
  const startAt = systemClock.now();
  const hosts = Math.ceil(workers / GPUS_PER_HOST);
  const machineIds = await seedMachines(server.database, { hosts, gpusPerHost: GPUS_PER_HOST });
  await seedInstances(server.database, { machineIds, renterIds: [user.id], startAt });
  await pool.query(`update machines set facts = facts || jsonb_build_object('public_ipaddr', $1::text)`, [ADDRESS]);
  await pool.query(
    `with tabs as (update instance_tabs set settle_at = $1)
     update instances set observed_ports = jsonb_build_object('3000/tcp', ${PORT_FIRST} + id % 50000)`,
    [new Date(startAt.getTime() + SETTLED_LATER_MS)],
  );
  const made = await seedEndpoints(server, user, endpoints);
  const ids = made.map(({ id }) => id);
  const { rows } = await pool.query<ReportingWorker>(
    `insert into endpoint_workers (instance_id, endpoint_group_id, worker_group_id, machine_id, state, created_at,
       started_at, token_sha256)
     select i.id, g.endpoint_group_id, g.id, i.machine_id, 'active', $2, $2, sha256(convert_to('token-' || i.id, 'UTF8'))
     from (select *, row_number() over (order by id) as n from instances) as i
     join (select *, row_number() over (order by id) as n from worker_groups where endpoint_group_id = any($1)) as g
       on g.n = 1 + i.n % $3
     where i.n <= $4
     returning instance_id as id, endpoint_group_id as "endpointId"`,
    [ids, startAt, endpoints, workers],
  );
  await pool.query("vacuum (analyze)");
  return { endpoints: made, workers: rows };
}

/** Makes the first endpoint as users do, and the others as copies of it. */
async function seedEndpoints(server: BenchServer, { secret }: BenchUser, count: number) {
  const { pool } = server.database;
  const made = await callApi(server, secret, { method: "POST", path: "/api/v0/endptjobs/", body: GROUP });
  const first = Number(made["result"]);
  const body = { ...RECIPE, endpoint_id: first };
  await callApi(server, secret, { method: "POST", path: "/api/v0/workergroups/", body });
  await pool.query(
    `insert into endpoint_groups overriding system value
     select (jsonb_populate_record(g, jsonb_build_object(
       'id', nextval(pg_get_serial_sequence('endpoint_groups', 'id')), 'api_key', g.api_key || '-' || n
     ))).* from endpoint_groups g, generate_series(2, $2::integer) as n where g.id = $1`,
    [first, count],
  );
  await pool.query(
    `insert into worker_groups overriding system value
     select (jsonb_populate_record(w, jsonb_build_object(
       'id', nextval(pg_get_serial_sequence('worker_groups', 'id')), 'endpoint_group_id', g.id
     ))).* from worker_groups w, endpoint_groups g where w.endpoint_group_id = $1 and g.id > $1`,
    [first],
  );
  const { rows } = await pool.query<ReportingEndpoint>(
    "select id, name, api_key as key from endpoint_groups where id >= $1 order by id",
    [first],
  );
  return rows;
}

/** A report as the program of a worker sends it. */
function textOf({ id }: ReportingWorker, { load, count, diskGb }: Said, news: object = {}): string {
  const body = {
    ...{ id, mtoken: `token-${id}`, version: VERSION, url: urlOf(id), loadtime: 0, error_msg: "" },
    ...{ max_perf: PERF, cur_perf: 10, new_load: load, cur_load: load, rej_load: 0 },
    ...{ num_requests_working: count, num_requests_recieved: count },
    working_request_idxs: Array.from({ length: count }, (_, index) => index + 1),
    ...{ additional_disk_usage: diskGb, cur_capacity: 0, max_capacity: 0 },
    ...news,
  };
  return requestText({ method: "POST", path: "/worker_status/", body });
}

const urlOf = (id: number) => `http://${ADDRESS}:${PORT_FIRST + (id % 50_000)}`;

export function readyTexts(workers: readonly ReportingWorker[]): readonly string[] {
  return workers.map((worker) => textOf(worker, { load: 0, count: 0, diskGb: 0 }, { loadtime: 12.5 }));
}

/** Reports of all workers, round after round. */
export function workingTexts(workers: readonly ReportingWorker[]): readonly string[] {
  return LOADS.flatMap((said) => workers.map((worker) => textOf(worker, { ...said, diskGb: DISK_GB })));
}

export function lastTexts(workers: readonly ReportingWorker[]): readonly string[] {
  return workers.map((worker) => textOf(worker, { ...LAST, diskGb: 0 }));
}

export function failureBody({ id }: ReportingWorker): object {
  return { id, mtoken: `token-${id}`, version: VERSION, url: "", error_msg: "the benchmark failed" };
}

/** Adds the bytes that workers wrote to their disks, in rounds of `workingTexts`, `sentCount` of which were sent. */
export function addDisk(disks: number[], sentCount: number): void {
  for (let index = 0; index < disks.length; index += 1) {
    const rounds = Math.floor(sentCount / disks.length) + (index < sentCount % disks.length ? 1 : 0);
    disks[index] = (disks[index] ?? 0) + rounds * DISK_GB;
  }
}

/** True when the last report of each worker is stored, and with it all earlier ones. */
export async function isLastStored({ pool }: Database, workers: readonly ReportingWorker[]): Promise<boolean> {
  const { rows } = await pool.query(
    "select instance_id from endpoint_workers where current_load = $1 and instance_id = any($2)",
    [LAST.load, workers.map(({ id }) => id)],
  );
  return rows.length === workers.length;
}

/** Compares the database's values of each worker with its last report, and the sums of all. */
export async function compareReported(
  { pool }: Database,
  workers: readonly ReportingWorker[],
  disks: readonly number[],
): Promise<readonly string[]> {
  const { rows } = await pool.query<Stored>(
    `select instance_id as id, url, version, claimed_perf as perf, failure, ready_at is not null as "isReady",
       active_at is not null as "isActive", current_load as load, working_count as count, disk_usage_gb as disk
     from endpoint_workers where state = 'active'`,
  );
  const stored = new Map(rows.map((row) => [row.id, row]));
  const problems = workers.flatMap((worker, index): readonly string[] => {
    const { id } = worker;
    const said: Stored = {
      ...{ id, url: urlOf(id), version: VERSION, perf: PERF, failure: "", isReady: true, isActive: true },
      ...{ load: LAST.load, count: LAST.count, disk: disks[index] ?? 0 },
    };
    if (isDeepStrictEqual(stored.get(id), said)) return [];
    return [`worker ${id} said ${JSON.stringify(said)}, and ${JSON.stringify(stored.get(id))} is stored`];
  });
  if (stored.size === workers.length) return problems;
  return [...problems, `${stored.size} workers are stored, and ${workers.length} reported`];
}

type Stored = {
  readonly id: number;
  readonly url: string;
  readonly version: string;
  readonly perf: number;
  readonly failure: string;
  readonly isReady: boolean;
  readonly isActive: boolean;
  readonly load: number;
  readonly count: number;
  readonly disk: number;
};
