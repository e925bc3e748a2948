// Scheduled jobs over two real servers, of which either is killed while they run.
import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../server/src/base/clock.ts";
import { createLog } from "../../server/src/base/log.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "../../server/src/db/embedded/postgres.ts";
import { aDataDir, NO_LIMITS, removeDataDir, startBerth, type Berth, type StartOptions } from "../support/berth.ts";
import { copyFreshData } from "../support/database/fresh-data.ts";
import { until } from "../support/until.ts";

const PATH = "/api/v0/commands/schedule_job/";
const JOBS = 60;
const ACCOUNTS = 3;
/** A server begins four runs of an account at a time. */
const RUNS_OF_A_SERVER = 4 * ACCOUNTS;
const LEAD_S = 4;

type Server = { berth: Berth; readonly options: StartOptions };
type Account = { readonly id: number; readonly key: string };

describe("scheduled jobs over two servers", () => {
  let dataDir: string;
  let postgres: EmbeddedPostgres;
  const servers: Server[] = [];
  const accounts: Account[] = [];

  before(async () => {
    dataDir = await aDataDir();
    await copyFreshData(dataDir);
    postgres = await startEmbeddedPostgres({ dataDir, clock: systemClock, log: createLog("silent") });
    while (servers.length < 2) {
      const [first] = servers;
      const own = await aDataDir();
      if (first !== undefined) await copyFile(path.join(first.berth.dataDir, "secret"), path.join(own, "secret"));
      const shared = { databaseUrl: postgres.connectionString, args: ["--no-agent"], env: NO_LIMITS };
      const options = {
        ...shared,
        dataDir: own,
        ...(first === undefined ? {} : { adminKey: first.berth.adminKey }),
      };
      servers.push({ berth: await startBerth(options), options });
    }
    const { berth } = servers[0]!;
    for (let number = 1; number <= ACCOUNTS; number += 1) {
      const body = { email: `owner${number}@example.com` };
      const { body: made } = await berth.call("POST", "/api/v0/admin/users/", { key: berth.adminKey, body });
      accounts.push({ id: made.id, key: made.api_key });
    }
  });
  after(async () => {
    for (const { berth } of servers) await berth.stop();
    await postgres.stop();
    for (const { berth } of servers) await removeDataDir(berth.dataDir);
    await removeDataDir(dataDir);
  });

  /** Schedules jobs that make a key each at this moment. Names of keys repeat, so that a second run of one would be seen. */
  async function schedule(berth: Berth, prefix: string, startS: number): Promise<readonly number[]> {
    const ids: number[] = [];
    for (let number = 1; number <= JOBS; number += 1) {
      const { key } = accounts[number % ACCOUNTS]!;
      const body = {
        api_endpoint: "/api/v0/auth/apikeys/",
        request_method: "POST",
        request_body: { name: `${prefix} ${number}` },
        frequency: "ONCE",
        start_time: startS,
      };
      const answer = await berth.call("POST", PATH, { key, body });
      assert.equal(answer.status, 200, answer.text);
      ids.push(answer.body.scheduled_job_id);
    }
    return ids;
  }

  /** The effects of each job, counted, beside its outcomes. */
  const evidence = (berth: Berth, ids: readonly number[], prefix: string) =>
    berth.sql(
      `select job.id, array_agg(run.outcome) as outcomes,
         (select count(*)::integer from api_keys k where k.user_id = job.user_id
          and k.name = $2 || ' ' || (job.id - $3 + 1)) as effects
       from scheduled_jobs job left join scheduled_runs run on run.job_id = job.id
       where job.id = any ($1) group by job.id order by job.id`,
      [ids, prefix, ids[0]],
    );

  test("each job runs exactly once while both servers live", async () => {
    const [{ berth }] = servers as [Server, Server];
    const ids = await schedule(berth, "calm", systemClock.now().getTime() / 1_000 + LEAD_S);
    await until("all jobs to be done", async () => {
      const rows = await evidence(berth, ids, "calm");
      return rows.length === JOBS && rows.every(({ outcomes }) => String(outcomes) === "done");
    });
    assert.ok((await evidence(berth, ids, "calm")).every(({ effects }) => effects === 1));
  });

  test("a kill in the middle makes no job run twice, and what is lost is not called done", async () => {
    const [doomed, other] = servers as [Server, Server];
    const ids = await schedule(other.berth, "killed", systemClock.now().getTime() / 1_000 + LEAD_S);
    const count = async (outcome: string) =>
      (await other.berth.sql("select 1 from scheduled_runs where job_id = any ($1) and outcome = $2", [ids, outcome]))
        .length;
    // The requests of all accounts wait for this lock, so that the kill finds them under way.
    const holder = await other.berth.connect();
    await holder.query("begin");
    await holder.query("select 1 from users where id = any ($1) for update", [accounts.map(({ id }) => id)]);
    await until("both servers to have begun runs", async () => (await count("running")) > RUNS_OF_A_SERVER);
    await doomed.berth.kill();
    await holder.query("rollback");
    await holder.end();
    const underWay = async () => {
      const { body } = await other.berth.call("GET", "/api/v0/admin/loops/", { key: other.berth.adminKey });
      const loop = body.loops.find(({ name }: { readonly name: string }) => name === "run-scheduled-jobs");
      return Number(loop.last_status.under_way);
    };
    await until("the other server to run what is left", async () => {
      const due = await other.berth.sql("select 1 from scheduled_jobs where id = any ($1) and due_at is not null", [
        ids,
      ]);
      return due.length === 0 && (await count("done")) >= JOBS - RUNS_OF_A_SERVER && (await underWay()) === 0;
    });
    doomed.berth = await startBerth(doomed.options);
    const rows = await evidence(other.berth, ids, "killed");
    for (const { id, outcomes, effects } of rows) {
      const expected = String(outcomes) === "done" ? [1] : [0, 1];
      assert.ok(
        expected.includes(Number(effects)),
        `job ${String(id)} is ${String(outcomes)} with ${String(effects)} effects`,
      );
      assert.match(String(outcomes), /^(done|running)$/);
    }
    assert.ok((await count("running")) > 0, "the kill cut off some runs");
    // Ten minutes later: the clocks of real processes cannot be moved, so the runs are made older.
    await other.berth.sql(
      "update scheduled_runs set started_at = started_at - interval '11 minutes' where outcome = 'running'",
    );
    await until("runs that were cut off to be called unknown", async () => {
      const left = await other.berth.sql("select 1 from scheduled_runs where outcome = 'running'");
      return left.length === 0;
    });
    const after = await evidence(other.berth, ids, "killed");
    assert.deepEqual(
      after.map(({ effects }) => effects),
      rows.map(({ effects }) => effects),
    );
  });
});
