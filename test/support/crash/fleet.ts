// Kills while endpoints live, and the checks that must hold all the while and at the end.
import { setTimeout as delay } from "node:timers/promises";
import { CrashEndpoints, WORKERS_MAX, type Life } from "./endpoints.ts";
import { auditBooks, type Findings } from "./oracle.ts";
import { CrashWorkers } from "./workers.ts";
import { CrashWorld, type Kill } from "./world.ts";
import { seededRandom } from "../random.ts";
import { until } from "../until.ts";

export type FleetCrashReport = Findings & {
  readonly endpointCount: number;
  readonly workerCount: number;
  readonly requestCount: number;
  readonly servedCount: number;
  /** How often instances were brought from one phase to another, by cause. */
  readonly causes: Readonly<Record<string, number>>;
};

const LANES = 2;
const OWNER_DOLLARS = 50_000;
const [LIVED_MIN_MS, LIVED_MAX_MS] = [300, 12_000];
const KILLS: readonly Kill[] = ["server", "server", "server", "server", "server and agents", "backend"];
/** An absence takes a minute: only runs of at least this many kills have some. */
const KILLS_WITH_ABSENCES = 20;
/** The published client's error for an endpoint that was deleted. */
const GONE = /^ApiError: .*(endpoint|api_key)/i;

/** Kills `kills` times while endpoints are made, scaled, updated and deleted under load. */
export async function runFleetCrashes({
  seed,
  kills,
  servers = 1,
  tell,
}: {
  readonly seed: number;
  /** How many servers share the database. */
  readonly servers?: number;
  readonly kills: number;
  readonly tell: (news: string) => void;
}): Promise<FleetCrashReport> {
  const random = seededRandom(seed);
  const cleanups = new AsyncDisposableStack();
  try {
    const world = cleanups.adopt(await CrashWorld.open(servers), (each) => each.close());
    // The machines' address is private, so the operator has to answer for them.
    for (const { id } of await world.berth.sql("select id from machines order by id")) {
      await world.berth.cli("admin", "verify-machine", String(id), "verified");
    }
    const owner = await world.anAccount("owner@example.com", OWNER_DOLLARS);
    const workers = cleanups.adopt(await CrashWorkers.open(world), (each) => each.close());
    const endpoints = new CrashEndpoints(world, owner, seededRandom(seed + 1));
    cleanups.defer(() => endpoints.abandon());
    endpoints.begin(LANES);
    const problems: string[] = [];
    const drawn: readonly Kill[] = kills < KILLS_WITH_ABSENCES ? KILLS : [...KILLS, "absence"];
    for (let count = 1; count <= kills; count += 1) {
      await delay(LIVED_MIN_MS + (LIVED_MAX_MS - LIVED_MIN_MS) * random());
      const kill = drawn[Math.floor(random() * drawn.length)] ?? "server";
      tell(
        `${count} of ${kills}: ${await world.crash(kill, random)}, with ${world.running().length} containers running`,
      );
      problems.push(...(await orphansOf(world)));
    }
    // A run that is over before any request was served would show nothing.
    const isServed = () => endpoints.lives.some(({ load }) => load.outcomes.some((each) => "served" in each));
    await until("an answer", isServed);
    await endpoints.stop();
    const requests = endpoints.lives.flatMap((life) => judgeAnswers(life, workers));
    const books = await auditBooks(world);
    problems.push(...requests, ...books.problems, ...(await auditFleet(world)));
    const outcomes = endpoints.lives.flatMap(({ load }) => load.outcomes);
    const causes = await world.berth.sql(
      "select cause, count(*)::int as count from instance_events group by 1 order by 1",
    );
    return {
      ...{ ...books, problems, endpointCount: endpoints.lives.length, requestCount: outcomes.length },
      workerCount: (await world.berth.sql("select instance_id from endpoint_worker_names")).length,
      servedCount: outcomes.filter((outcome) => "served" in outcome).length,
      causes: Object.fromEntries(causes.map(({ cause, count }) => [String(cause), Number(count)])),
    };
  } finally {
    await cleanups.disposeAsync();
  }
}

/** Finds instances that are to run but serve no endpoint: all instances of this market are workers. */
async function orphansOf({ berth }: CrashWorld): Promise<readonly string[]> {
  const rows = await berth.sql(
    `select id, phase from instances i where phase not in ('ending', 'ended')
       and not exists (select from endpoint_workers w where w.instance_id = i.id)`,
  );
  return rows.map(({ id, phase }) => `instance ${String(id)} is ${String(phase)} and works for nobody`);
}

/** Checks that each request was served once and by one worker, or was refused because the endpoint was gone. */
function judgeAnswers({ name, load, deletedAtMs }: Life, { doneCounts }: CrashWorkers): readonly string[] {
  const ids = new Set(load.outcomes.map(({ id }) => id));
  const problems = load.outcomes.flatMap((outcome): readonly string[] => {
    if ("problem" in outcome) {
      const wasDeleted = deletedAtMs !== undefined && outcome.atMs > deletedAtMs;
      return wasDeleted && GONE.test(outcome.problem) ? [] : [`${outcome.id}: ${outcome.problem}`];
    }
    const count = doneCounts.get(outcome.id);
    return outcome.status === 200 && count === 1 ? [] : [`${outcome.id}: ${outcome.status}, and done ${count} times`];
  });
  if (ids.size === load.sentCount && deletedAtMs !== undefined) return problems;
  return [...problems, `${name}: ${load.sentCount} requests and ${ids.size} answers, deleted at ${deletedAtMs}`];
}

/** Finds remains of deleted endpoints, and endpoints that ever had more workers than allowed. */
async function auditFleet(world: CrashWorld): Promise<readonly string[]> {
  const { berth } = world;
  const problems: string[] = [];
  await until("the containers to be gone", () => world.containerCount() === 0).catch((error: unknown) =>
    problems.push(`${world.containerCount()} containers are left: ${String(error)}`),
  );
  for (const left of [
    "select instance_id from endpoint_workers",
    "select id from endpoint_groups",
    "select id from worker_groups",
  ]) {
    const rows = await until(left, async () => (await berth.sql(left)).length === 0).catch(() => berth.sql(left));
    if (rows !== true) problems.push(`${left}: ${JSON.stringify(rows.slice(0, 5))}`);
  }
  const crowded = await berth.sql(
    `with stay as (
       select n.endpoint_group_id as endpoint, i.id, i.created_at as from_at,
         (select min(e.at) from instance_events e where e.instance_id = i.id and e.to_phase in ('ending', 'ended')) as to_at
       from endpoint_worker_names n join instances i on i.id = n.instance_id
     )
     select one.endpoint, one.id, count(*)::int as count from stay one
     join stay other on other.endpoint = one.endpoint and other.from_at <= one.from_at
       and coalesce(other.to_at > one.from_at, true)
     group by 1, 2 having count(*) > $1`,
    [WORKERS_MAX],
  );
  problems.push(
    ...crowded.map((row) => `endpoint ${String(row["endpoint"])} had ${String(row["count"])} workers at once`),
  );
  const charged = await berth.sql(
    `select run.instance_id as id, run.generation, run.running_ms::text as ms, i.price_nanos_per_hour::text as price,
       count(line.*)::text as lines, coalesce(sum(line.amount_nanos), 0)::text as amount
     from instance_runs run join instances i on i.id = run.instance_id
     left join charge_lines line on line.component = 'gpu' and line.instance_id = run.instance_id
       and line.generation = run.generation
     group by 1, 2, 3, 4`,
  );
  for (const { id, generation, ms, price, lines, amount } of charged) {
    const owed = (BigInt(String(ms)) * BigInt(String(price))) / 3_600_000n;
    const isRight = BigInt(String(amount)) <= owed && owed - BigInt(String(amount)) <= BigInt(String(lines));
    if (!isRight) problems.push(`run ${String(id)}-g${String(generation)}: ${String(amount)} charged, ${owed} owed`);
  }
  return problems;
}
