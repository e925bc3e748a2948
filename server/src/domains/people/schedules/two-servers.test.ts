// Each occurrence is begun once, by one of several servers, in spite of restarts and deaths.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { createLog } from "../../../base/log.ts";
import { JobRunner, type SendAs } from "./job-runner.ts";

const PATH = "/api/v0/commands/schedule_job/";
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 1) / 1_000;
const OK = { status: 200, body: { success: true }, retryAfterMs: undefined };

async function twoServers(t: TestContext) {
  const env = await testDatabase();
  const shared = { env, clock: new ManualClock(), secret: randomBytes(32) };
  const [one, two] = [
    await testApp(t, { ...shared, dataDirKey: "one" }),
    await testApp(t, { ...shared, dataDirKey: "two" }),
  ];
  return { one, two, owner: await one.caller(), ...shared };
}

/** A server that is only a runner, whose requests the test answers. */
function aRunner({ env, clock, encryption }: TestApp, sendAs: SendAs): JobRunner {
  const log = createLog("silent");
  return new JobRunner({ database: env.database, clock, log, encryption, sendAs });
}

async function schedule(
  world: TestApp,
  { secret }: TestCaller,
  body: Readonly<Record<string, unknown>>,
): Promise<number> {
  const answer = await world.call({ method: "POST", url: PATH, secret, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.scheduled_job_id;
}

/** A job that makes a variable once, in a minute. */
const once = (name: string) => ({
  api_endpoint: "/api/v0/secrets/",
  request_method: "POST",
  request_body: { key: name, value: "x" },
  frequency: "ONCE",
  start_time: START + 60,
});

async function runsOf(world: TestApp, { secret }: TestCaller, id: number) {
  const answer = await world.call({ method: "GET", url: `${PATH}${id}/runs/`, secret });
  return answer.body as readonly { readonly outcome: string; readonly msg: string; readonly due_time: number }[];
}

const notices = async ({ env }: TestApp) =>
  (await env.pool.query<{ subject: string }>("select subject from notices where kind like '%scheduled_job_failed'"))
    .rows;

test("two servers that look at the same moment run each occurrence of each job once, and those of an account side by side", async (t) => {
  const { one, two, owner, clock } = await twoServers(t);
  const other = await one.caller();
  const ids = [];
  for (let number = 1; number <= 30; number += 1) {
    const user = number % 3 === 0 ? other : owner;
    const body = { ...once(`V${number}`), frequency: "HOURLY", request_body: { key: `V${number}`, value: "x" } };
    ids.push({ id: await schedule(one, user, { ...body, min_of_the_hour: 30 }), user });
  }
  // The second time the variable is there, so that the run fails: once each as well.
  for (let hour = 1; hour <= 2; hour += 1) {
    clock.jump(HOUR_MS);
    for (let round = 1; round <= 10; round += 1) {
      await Promise.all([one, two].map((server) => server.runLoop("run-scheduled-jobs")));
      await Promise.all([one, two].map((server) => server.app.jobs.idle()));
    }
  }
  for (const { id, user } of ids) {
    const runs = await runsOf(two, user, id);
    assert.deepEqual(
      runs.map(({ due_time: due, outcome }) => [due, outcome]),
      [
        [START + 1.5 * 3_600, "failed"],
        [START + 0.5 * 3_600, "done"],
      ],
    );
  }
  const { rows } = await one.env.pool.query("select count(*)::integer as count from account_secrets");
  assert.deepEqual(rows, [{ count: 30 }]);
});

test("a run whose server dies is sent by no other, becomes unknown after ten minutes, and is told", async (t) => {
  const { one, two, owner, clock } = await twoServers(t);
  const id = await schedule(one, owner, once("NEVER"));
  clock.jump(60_000);
  // It has begun the run, and sends nothing any more.
  const dead = aRunner(one, () => new Promise(() => {}));
  assert.deepEqual(await dead.run(), { begun: 1, unknown: 0, under_way: 1 });
  const look = async () => {
    await two.runLoop("run-scheduled-jobs");
    await two.app.jobs.idle();
    return (await runsOf(two, owner, id)).map(({ outcome }) => outcome);
  };
  assert.deepEqual(await look(), ["running"]);
  clock.jump(600_001);
  assert.deepEqual(await look(), ["unknown"]);
  assert.match((await runsOf(two, owner, id))[0]?.msg ?? "", /not repeated/);
  assert.deepEqual(await notices(two), [{ subject: `Scheduled job ${id} has an unknown outcome` }]);
  clock.jump(HOUR_MS);
  assert.deepEqual(await look(), ["unknown"]);
  const { rows } = await one.env.pool.query("select 1 from account_secrets");
  assert.deepEqual(rows, []);
});

test("a server that stood still stores the answer of its run after all", async (t) => {
  const { one, two, owner, clock } = await twoServers(t);
  const id = await schedule(one, owner, once("LATE"));
  clock.jump(60_000);
  const answer = Promise.withResolvers<typeof OK>();
  const slow = aRunner(one, () => answer.promise);
  await slow.run();
  clock.jump(600_001);
  await two.runLoop("run-scheduled-jobs");
  answer.resolve(OK);
  await slow.idle();
  assert.deepEqual(
    (await runsOf(two, owner, id)).map(({ outcome }) => outcome),
    ["done"],
  );
});

test("a server that closes gives back what it has not sent, and the other one runs it", async (t) => {
  const { one, two, owner, clock } = await twoServers(t);
  const id = await schedule(one, owner, once("GIVEN"));
  clock.jump(60_000);
  const closing = aRunner(one, async () => undefined);
  await closing.run();
  await closing.idle();
  assert.deepEqual(await runsOf(one, owner, id), []);
  assert.deepEqual(await closing.run(), { begun: 0, unknown: 0, under_way: 0 });
  await two.runLoop("run-scheduled-jobs");
  await two.app.jobs.idle();
  assert.deepEqual(
    (await runsOf(one, owner, id)).map(({ outcome }) => outcome),
    ["done"],
  );
});

test("a server that has closed sends no request of a job", async (t) => {
  const { one, owner } = await twoServers(t);
  const request = { method: "POST", endpoint: "/api/v0/secrets/", body: { key: "CLOSED", value: "x" } } as const;
  await one.close();
  assert.equal(await one.app.http.sendAs(owner.identity, request), undefined);
  assert.deepEqual((await one.env.pool.query("select 1 from account_secrets")).rows, []);
});

test("a run that the rate limit refuses is sent again when the limit says, by the rights of that moment", async (t) => {
  const { one, owner, clock } = await twoServers(t);
  const id = await schedule(one, owner, once("LIMITED"));
  clock.jump(60_000);
  const sent: unknown[] = [];
  const refused = { status: 429, body: { msg: "Too many requests" }, retryAfterMs: 1_000 };
  const runner = aRunner(one, async ({ permissions }) => {
    sent.push(permissions);
    return sent.length < 3 ? refused : OK;
  });
  await runner.run();
  let isOver = false;
  const over = runner.idle().then(() => (isOver = true));
  await one.env.pool.query("update api_keys set permissions = $1 where id = $2", ['{"api":{}}', owner.key.id]);
  while (!isOver) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await over;
  assert.equal(sent.length, 3);
  assert.deepEqual(sent.at(-1), { api: {} });
  const { rows } = await one.env.pool.query("select outcome from scheduled_runs where job_id = $1", [id]);
  assert.deepEqual(rows, [{ outcome: "done" }]);
});

test("an account begins at most four runs at a time, and others do not wait for it", async (t) => {
  const { one, owner, clock } = await twoServers(t);
  const other = await one.caller();
  for (let number = 1; number <= 6; number += 1) await schedule(one, owner, once(`SLOW${number}`));
  await schedule(one, other, once("QUICK"));
  clock.jump(60_000);
  const users: number[] = [];
  const answer = Promise.withResolvers<typeof OK>();
  const runner = aRunner(one, ({ userId }) => {
    users.push(userId);
    return answer.promise;
  });
  assert.deepEqual(await runner.run(), { begun: 5, unknown: 0, under_way: 5 });
  answer.resolve(OK);
  await runner.idle();
  const begun = [owner, other].map(({ id }) => users.filter((userId) => userId === id).length);
  assert.deepEqual(begun, [4, 1]);
  assert.equal((await runner.run())["begun"], 2);
  await runner.idle();
});

test("runs that are under way count among the four that an account has at a time", async (t) => {
  const { one, owner, clock } = await twoServers(t);
  for (let number = 1; number <= 3; number += 1) await schedule(one, owner, once(`FIRST${number}`));
  for (let number = 1; number <= 4; number += 1) {
    await schedule(one, owner, { ...once(`NEXT${number}`), start_time: START + 120 });
  }
  const answer = Promise.withResolvers<typeof OK>();
  const runner = aRunner(one, () => answer.promise);
  clock.jump(60_000);
  assert.deepEqual(await runner.run(), { begun: 3, unknown: 0, under_way: 3 });
  clock.jump(60_000);
  assert.deepEqual(await runner.run(), { begun: 1, unknown: 0, under_way: 4 });
  assert.deepEqual(await runner.run(), { begun: 0, unknown: 0, under_way: 4 });
  answer.resolve(OK);
  await runner.idle();
  // Their answers come at once, so the number of those under way is a matter of moments.
  assert.equal((await runner.run()).begun, 3);
  await runner.idle();
});
