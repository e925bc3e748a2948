// How long it takes from the first request that no worker can take until a worker is ordered for it, durably.
import { systemClock } from "../server/src/base/clock.ts";
import { readNumbers } from "./support/arguments.ts";
import { callApi, startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { quantile, rounded, table } from "./support/figures.ts";
import { startObedientHosts, type ObedientHosts } from "./support/obedient-hosts.ts";
import { seedUsers, waitForOffers, type BenchUser } from "./support/seed.ts";

const DEFAULTS = { rounds: 100, hosts: 200, "gpus-per-host": 8, endpoints: 200, requests: 50 };
type Options = typeof DEFAULTS;

const AIM_MS = 250;
const CREDIT_DOLLARS = 1_000;
const WAIT_MS = 900_000;
/** How often other autoscalers look at their figures: ours without being told of requests, and the KPA of Knative. */
const TICKS_MS = [1_000, 2_000] as const;
/** Settings of an endpoint that keeps no workers while nobody uses it. */
const ASLEEP = { min_load: 0, cold_workers: 0, max_workers: 20, cold_mult: 1 };
const GROUP = {
  test_workers: 0,
  cold_workers: 0,
  launch_args: "--image busybox --disk 8",
  search_params: "num_gpus=1",
};

export async function run(args: readonly string[]): Promise<void> {
  const { problems } = await measureReaction(readNumbers(args, DEFAULTS));
  if (problems.length > 0) process.exitCode = 1;
}

/** Runs the benchmark; returns what it measured and what its audit found. */
export async function measureReaction(
  options: Options,
): Promise<{ readonly timesMs: readonly number[]; readonly problems: readonly string[] }> {
  const server = await startBenchServer();
  let hosts: ObedientHosts | undefined;
  try {
    console.log(describeEnvironment(server.dataDir));
    hosts = await startObedientHosts(server, { count: options.hosts, gpus: options["gpus-per-host"] });
    await waitForOffers(server, options.hosts);
    const users = await seedUsers(server.database, { count: 1, creditDollars: CREDIT_DOLLARS });
    const [user] = users;
    if (user === undefined) throw new Error("there is no user");
    // The others, which sleep, are there all the while.
    for (let index = 0; index < options.endpoints; index += 1) await makeEndpoint(server, user);
    const timesMs: number[] = [];
    for (let index = 0; index < options.rounds; index += 1) timesMs.push(await react(server, user, options));
    const problems = await audit(server, options);
    report(timesMs, options);
    for (const problem of problems) console.log(`\nAudit FAILED, the figures above are void: ${problem}`);
    if (problems.length === 0)
      console.log("\nAudit passed: each endpoint that was asked has workers, and no other has.");
    return { timesMs, problems };
  } finally {
    await hosts?.stop();
    await server.stop();
  }
}

type Endpoint = { readonly id: number; readonly name: string; readonly key: string };

async function makeEndpoint(server: BenchServer, { secret }: BenchUser): Promise<Endpoint> {
  const made = await callApi(server, secret, { method: "POST", path: "/api/v0/endptjobs/", body: ASLEEP });
  const id = Number(made["result"]);
  const body = { ...GROUP, endpoint_id: id };
  await callApi(server, secret, { method: "POST", path: "/api/v0/workergroups/", body });
  const shown = await callApi(server, secret, { method: "GET", path: `/api/v0/endptjobs/${id}/` });
  const { endpoint_name: name, api_key: key } = shown["result"] as Readonly<Record<string, string>>;
  return { id, name: name ?? "", key: key ?? "" };
}

/** A step from no requests to many at once; the time from the first of them until the first order is committed. */
async function react(server: BenchServer, user: BenchUser, { requests }: Options): Promise<number> {
  const endpoint = await makeEndpoint(server, user);
  const { orderedAtMs } = await listenForOrder(server, endpoint);
  const beginMs = performance.now();
  const hungUp = new AbortController();
  const answers = Array.from({ length: requests }, () =>
    fetch(`${server.url}/route/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ endpoint: endpoint.name, api_key: endpoint.key, cost: 1 }),
      signal: hungUp.signal,
    }).catch(() => undefined),
  );
  const tookMs = (await orderedAtMs) - beginMs;
  hungUp.abort();
  await Promise.all(answers);
  return tookMs;
}

/** Listens from now on, and tells when the first worker of this endpoint was committed. */
async function listenForOrder(
  { database }: BenchServer,
  { id }: Endpoint,
): Promise<{ readonly orderedAtMs: Promise<number> }> {
  const client = await database.pool.connect();
  await client.query("listen endpoints");
  const over = new AbortController();
  const heard = new Promise<number>((resolve, reject) => {
    const look = async () => {
      const atMs = performance.now();
      const { rows } = await client.query("select 1 from endpoint_workers where endpoint_group_id = $1 limit 1", [id]);
      if (rows.length > 0) resolve(atMs);
    };
    client.on("notification", ({ payload = "" }) => {
      if (payload.split(",").includes(String(id))) look().catch(reject);
    });
    const giveUp = () => reject(new Error(`no worker was ordered for endpoint ${id}`));
    systemClock.sleep(WAIT_MS, over.signal).then(giveUp, reject);
  });
  const orderedAtMs = heard.finally(async () => {
    over.abort();
    client.removeAllListeners("notification");
    await client.query("unlisten endpoints");
    client.release();
  });
  // It is awaited only after the requests were sent.
  orderedAtMs.catch(() => undefined);
  return { orderedAtMs };
}

async function audit({ database }: BenchServer, { rounds }: Options): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ asked: number; others: number }>(
    `select count(distinct w.endpoint_group_id)::integer as asked,
       count(*) filter (where i.id is null or i.desired <> 'running')::integer as others
     from endpoint_workers w left join instances i on i.id = w.instance_id`,
  );
  const { asked = 0, others = 0 } = rows[0] ?? {};
  const problems: string[] = [];
  if (asked !== rounds) problems.push(`${asked} endpoints have workers, and ${rounds} were asked`);
  if (others !== 0) problems.push(`${others} workers have no instance that is to run`);
  return problems;
}

function report(timesMs: readonly number[], { rounds, hosts, endpoints, requests }: Options): void {
  const [p50, p99] = [quantile(timesMs, 0.5), quantile(timesMs, 0.99)];
  // An observer with this interval sees a step half an interval later in the median, and a whole one at worst.
  const ticks = TICKS_MS.map((ms) => [
    `control: looks each ${ms / 1000} s (by arithmetic)`,
    rounded(ms * 0.5 + p50),
    rounded(ms * 0.99 + p99),
  ]);
  console.log(`\n${rounds} steps from 0 to ${requests} requests; ${hosts} hosts, ${endpoints} other endpoints\n`);
  console.log(
    table([["first request → order committed", "p50 ms", "p99 ms"], ["berth", rounded(p50), rounded(p99)], ...ticks]),
  );
  console.log(`\nAim: p99 ≤ ${AIM_MS} ms: ${p99 <= AIM_MS ? "met" : "MISSED"}.`);
}
