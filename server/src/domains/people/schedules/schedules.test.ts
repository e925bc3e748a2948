// Scheduled jobs of one server: their routes, their runs, and what the key behind them may do.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aCaller, aKey, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { rent, show } from "../../../../../test/support/rentals.ts";
import { signIn, signUp } from "../../../../../test/support/second-factors.ts";

const PATH = "/api/v0/commands/schedule_job/";
const SECRETS = "/api/v0/secrets/";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The test's clock begins on Thursday, 1 January 2026, at midnight. */
const START = Date.UTC(2026, 0, 1) / 1_000;

type Body = Readonly<Record<string, unknown>>;
type Key = { readonly secret: string };

const daily = (body: Body = {}) => ({
  api_endpoint: SECRETS,
  request_method: "POST",
  request_body: { key: "MADE", value: "by-a-job" },
  frequency: "DAILY",
  hour_of_the_day: 3,
  ...body,
});

const ask = (world: TestApp, { secret }: Key, method: "GET" | "POST" | "PUT" | "DELETE", url: string, body?: Body) =>
  world.call({ method, url, secret, ...(body === undefined ? {} : { body }) });

async function done(world: TestApp, key: Key, method: "GET" | "POST" | "PUT" | "DELETE", url: string, body?: Body) {
  const answer = await ask(world, key, method, url, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const create = async (world: TestApp, key: Key, body: Body): Promise<number> =>
  (await done(world, key, "POST", PATH, body)).scheduled_job_id;

const runsOf = (world: TestApp, key: Key, id: number) => done(world, key, "GET", `${PATH}${id}/runs/`);
const jobOf = async (world: TestApp, key: Key, id: number) =>
  (await done(world, key, "GET", PATH)).find((job: { readonly id: number }) => job.id === id);
/** Names of the variables that jobs made. */
const namesOf = async (world: TestApp, owner: TestCaller) =>
  (
    await world.env.pool.query<{ name: string }>("select name from account_secrets where user_id = $1", [owner.id])
  ).rows.map(({ name }) => name);

/** Lets time pass, and the server look once. */
async function pass(world: TestApp, ms: number): Promise<void> {
  world.clock.jump(ms);
  await look(world);
}

async function look(world: TestApp): Promise<void> {
  await world.runLoop("run-scheduled-jobs");
  await world.app.jobs.idle();
}

const notices = async (world: TestApp, user: { readonly id: number }) =>
  (
    await world.env.pool.query<{ subject: string; message: string }>(
      "select subject, message from notices where user_id = $1 and kind = 'client:scheduled_job_failed' order by id",
      [user.id],
    )
  ).rows;

test("a daily job sends its request each day at its hour, once, and tells of each run", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily({ instance_id: 7 }));
  const job = await jobOf(world, owner, id);
  assert.deepEqual(
    [job.frequency, job.day_of_the_week, job.hour_of_the_day, job.min_of_the_hour, job.instance_id],
    ["DAILY", null, 3, 0, 7],
  );
  assert.deepEqual([job.status, job.next_time, job.last_run], ["active", START + 3 * 3_600, null]);
  assert.deepEqual([job.start_time, job.end_time], [START, START + 365 * 86_400]);
  await pass(world, 3 * HOUR_MS - 1);
  assert.deepEqual(await namesOf(world, owner), []);
  await pass(world, 1);
  assert.deepEqual(await namesOf(world, owner), ["MADE"]);
  await look(world);
  const [run, ...others] = await runsOf(world, owner, id);
  assert.deepEqual(others, []);
  assert.deepEqual([run.due_time, run.outcome, run.http_status, run.error], [START + 3 * 3_600, "done", 200, null]);
  const after = await jobOf(world, owner, id);
  assert.deepEqual([after.next_time, after.last_run], [START + 27 * 3_600, run]);
  assert.deepEqual(await notices(world, owner), []);
  assert.deepEqual(world.complaints, []);
});

test("a job that runs once runs at its time, and is over then", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const { hour_of_the_day: _hour, ...request } = daily({ frequency: "ONCE", start_time: START + 90 });
  const id = await create(world, owner, request);
  await pass(world, 89_000);
  assert.deepEqual(await namesOf(world, owner), []);
  await pass(world, 1_000);
  await pass(world, DAY_MS);
  assert.deepEqual(await namesOf(world, owner), ["MADE"]);
  assert.equal((await runsOf(world, owner, id)).length, 1);
  const job = await jobOf(world, owner, id);
  assert.deepEqual([job.status, job.next_time, job.end_time], ["ended", null, START + 90]);
});

test("a job ends with its end_time, and the last run may be at it", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily({ end_time: START + 27 * 3_600 }));
  for (let hour = 0; hour < 80; hour += 1) await pass(world, HOUR_MS);
  assert.deepEqual(
    (await runsOf(world, owner, id)).map(({ due_time: due }: { readonly due_time: number }) => due),
    [START + 27 * 3_600, START + 3 * 3_600],
  );
  assert.equal((await jobOf(world, owner, id)).status, "ended");
});

test("occurrences for which no server ran in time are missed, all of them are told, and the job goes on", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const { hour_of_the_day: _hour, ...hourly } = daily({ frequency: "HOURLY", min_of_the_hour: 30 });
  const id = await create(world, owner, hourly);
  await pass(world, 5 * HOUR_MS + 10 * 60_000);
  const [latest, missed] = await runsOf(world, owner, id);
  assert.deepEqual([latest.due_time, latest.outcome], [START + 4.5 * 3_600, "done"]);
  assert.deepEqual(
    [missed.due_time, missed.last_due_time, missed.occurrences, missed.outcome],
    [START + 0.5 * 3_600, START + 3.5 * 3_600, 4, "missed"],
  );
  const [told] = await notices(world, owner);
  assert.equal(told?.subject, `Scheduled job ${id} was missed`);
  assert.match(told?.message ?? "", /due 2026-01-01 00:30 UTC.*these 4 times/);
  assert.equal((await jobOf(world, owner, id)).next_time, START + 5.5 * 3_600);
});

describe("the key of a job", () => {
  test("that is deleted fails the run, ends the job and is told; no request is sent", async (t) => {
    const world = await testApp(t);
    const owner = await world.caller();
    const other = await inTransaction(world.env.database, (tx) => aKey(tx, owner));
    const id = await create(world, other, daily());
    await done(world, owner, "DELETE", `/api/v0/auth/apikeys/${other.id}/`);
    await pass(world, 3 * HOUR_MS);
    assert.deepEqual(await namesOf(world, owner), []);
    const [run] = await runsOf(world, owner, id);
    assert.deepEqual([run.outcome, run.http_status, run.error], ["failed", null, "auth_error"]);
    const job = await jobOf(world, owner, id);
    assert.deepEqual([job.status, job.next_time], ["stopped", null]);
    assert.match(job.stop_reason, /key .* deleted/);
    assert.equal((await notices(world, owner))[0]?.subject, `Scheduled job ${id} failed`);
  });

  test("whose session is over fails the run and ends the job, as a deleted key does; no request is sent", async (t) => {
    const world = await testApp(t);
    const person = await signUp(world);
    const { body: session } = await signIn(world, person.name);
    const id = await create(world, { secret: session.api_key }, daily({ request_method: "GET", request_body: {} }));
    for (let day = 0; day < 7; day += 1) await pass(world, day === 0 ? 3 * HOUR_MS : DAY_MS);
    assert.deepEqual(await notices(world, person), []);
    await pass(world, DAY_MS);
    const [run, before] = await runsOf(world, person, id);
    assert.deepEqual(
      [before.due_time, before.outcome, run.due_time, run.outcome, run.http_status, run.error],
      [START + (6 * 24 + 3) * 3_600, "done", START + (7 * 24 + 3) * 3_600, "failed", null, "auth_error"],
    );
    const job = await jobOf(world, person, id);
    assert.deepEqual([job.status, job.next_time], ["stopped", null]);
    assert.match(job.stop_reason, /key .* deleted or over/);
    assert.equal((await notices(world, person))[0]?.subject, `Scheduled job ${id} failed`);
  });

  test("that belongs to another account by now fails the run: a job acts for its own account only", async (t) => {
    const world = await testApp(t);
    const [owner, stranger] = [await world.caller(), await world.caller()];
    const other = await inTransaction(world.env.database, (tx) => aKey(tx, owner));
    const id = await create(world, other, daily());
    await world.env.pool.query("update api_keys set user_id = $1 where id = $2", [stranger.id, other.id]);
    await pass(world, 3 * HOUR_MS);
    assert.deepEqual([await namesOf(world, owner), await namesOf(world, stranger)], [[], []]);
    assert.equal((await jobOf(world, owner, id)).status, "stopped");
  });

  test("that is narrowed fails the run with 403 and is told, and the job may no more than the key", async (t) => {
    const world = await testApp(t);
    const owner = await world.caller();
    const id = await create(world, owner, daily());
    const narrowed = JSON.stringify({ api: { instance_write: {}, instance_read: {} } });
    await world.env.pool.query("update api_keys set permissions = $1 where id = $2", [narrowed, owner.key.id]);
    await pass(world, 3 * HOUR_MS);
    const [run] = await runsOf(world, owner, id);
    assert.deepEqual([run.outcome, run.http_status, run.error], ["failed", 403, "not_authorized"]);
    assert.match(run.msg, /user_write/);
    const [told] = await notices(world, owner);
    assert.match(
      told?.message ?? "",
      /POST \/api\/v0\/secrets\/, due 2026-01-01 03:00 UTC, failed \(403 not_authorized\)/,
    );
    assert.equal((await jobOf(world, owner, id)).status, "active");
    assert.deepEqual(await namesOf(world, owner), []);
  });

  test("is held to its constraints at each run", async (t) => {
    const world = await testApp(t);
    const permissions = {
      api: {
        instance_read: {},
        instance_write: {},
        user_write: { "api.secret.create": { constraints: { key: { eq: "ALLOWED" } } } },
      },
    };
    const owner = await world.caller({ permissions });
    const id = await create(world, owner, daily());
    await pass(world, 3 * HOUR_MS);
    const [run] = await runsOf(world, owner, id);
    assert.deepEqual([run.outcome, run.http_status], ["failed", 403], JSON.stringify(run));
  });

  test("fails the run when its account is frozen, unless the run only reads or deletes", async (t) => {
    const world = await testApp(t);
    const owner = await world.caller();
    const admin = await aCaller(world.env.database, { isAdmin: true });
    await done(world, owner, "POST", SECRETS, { key: "OLD", value: "x" });
    const id = await create(world, owner, daily());
    const reading = await create(world, owner, daily({ request_method: "GET", request_body: {} }));
    const deleting = await create(world, owner, daily({ request_method: "DELETE", request_body: { key: "OLD" } }));
    await done(world, admin, "POST", "/api/v0/admin/freezes/", { user: String(owner.id), reason: "Invented traffic." });
    await pass(world, 3 * HOUR_MS);
    const [run] = await runsOf(world, owner, id);
    assert.deepEqual([run.outcome, run.error], ["failed", "account_frozen"]);
    for (const job of [reading, deleting]) assert.equal((await runsOf(world, owner, job))[0].outcome, "done");
    assert.deepEqual(await namesOf(world, owner), []);
  });

  test("must have the permission already when the job is made", async (t) => {
    const world = await testApp(t);
    const owner = await world.caller({ permissions: { api: { instance_write: {}, instance_read: {} } } });
    const answer = await ask(world, owner, "POST", PATH, daily());
    assert.deepEqual([answer.status, answer.body.error], [403, "not_authorized"]);
  });

  test("that changes another key's job states the whole request, which then runs with its own rights", async (t) => {
    const world = await testApp(t);
    const owner = await world.caller();
    const id = await create(world, owner, daily());
    const permissions = { api: { instance_write: {}, instance_read: {} } };
    const weak = await inTransaction(world.env.database, (tx) => aKey(tx, owner, { permissions }));
    assert.equal((await jobOf(world, weak, id)).request_body, undefined);
    assert.deepEqual((await jobOf(world, owner, id)).request_body, { key: "MADE", value: "by-a-job" });
    const later = await ask(world, weak, "PUT", `${PATH}${id}/`, { hour_of_the_day: 4 });
    assert.deepEqual([later.status, later.body.field], [400, "request_body"]);
    const same = await ask(world, weak, "PUT", `${PATH}${id}/`, daily({ hour_of_the_day: 4 }));
    assert.deepEqual([same.status, same.body.error], [403, "not_authorized"]);
    const bid = { api_endpoint: "/api/v0/instances/7/", request_method: "PUT", request_body: { state: "stopped" } };
    await done(world, weak, "PUT", `${PATH}${id}/`, bid);
    assert.equal((await jobOf(world, weak, id)).api_key_id, weak.id);
    await pass(world, 3 * HOUR_MS);
    const [run] = await runsOf(world, owner, id);
    assert.deepEqual([run.outcome, run.http_status, run.api_key_id], ["failed", 404, weak.id]);
  });
});

test("a job that fails each hour for the same reason is told of once a day, and each run is in the history", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const request = { api_endpoint: "/api/v0/instances/7/", request_method: "DELETE" };
  const id = await create(world, owner, { ...request, frequency: "HOURLY", min_of_the_hour: 30 });
  for (let hour = 0; hour < 26; hour += 1) await pass(world, HOUR_MS);
  assert.equal((await runsOf(world, owner, id)).length, 26);
  assert.equal((await notices(world, owner)).length, 2);
});

test("the same request at the same times is 422 with the id of the job, which a PUT then changes", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily());
  const again = await ask(world, owner, "POST", PATH, daily({ end_time: START + 30 * 86_400 }));
  assert.deepEqual([again.status, again.body.error, again.body.scheduled_job_id], [422, "job_exists", id], again.text);
  const changed = await done(world, owner, "PUT", `${PATH}${id}/`, daily({ end_time: START + 30 * 86_400 }));
  assert.deepEqual(changed.scheduled_job_id, id);
  assert.equal((await jobOf(world, owner, id)).end_time, START + 30 * 86_400);
  const other = await create(world, owner, daily({ hour_of_the_day: 15 }));
  const clash = await ask(world, owner, "PUT", `${PATH}${other}/`, { hour_of_the_day: 3 });
  assert.deepEqual([clash.status, clash.body.scheduled_job_id], [422, id]);
});

test("a change keeps what it does not name, and another frequency begins with its own fields", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily());
  await done(world, owner, "PUT", `${PATH}${id}/`, { min_of_the_hour: 20 });
  await done(world, owner, "PUT", `${PATH}${id}/`, { frequency: "WEEKLY", day_of_the_week: 1, hour_of_the_day: 5 });
  const job = await jobOf(world, owner, id);
  assert.deepEqual([job.day_of_the_week, job.hour_of_the_day, job.min_of_the_hour], [1, 5, 0]);
  // The first Monday of 2026 is the fifth of January.
  assert.equal(job.next_time, Date.UTC(2026, 0, 5, 5) / 1_000);
  assert.deepEqual(job.request_body, daily().request_body);
  const nothing = await ask(world, owner, "PUT", `${PATH}${id}/`, {});
  assert.deepEqual([nothing.status, nothing.body.error], [400, "missing_input"]);
});

test("a job that is over goes on after a change, and an occurrence that ran does not run again", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const { hour_of_the_day: _hour, ...once } = daily({ frequency: "ONCE", start_time: START + 60 });
  const id = await create(world, owner, once);
  await pass(world, 60_000);
  await done(world, owner, "PUT", `${PATH}${id}/`, { instance_id: 9 });
  await pass(world, 60_000);
  assert.equal((await runsOf(world, owner, id)).length, 1);
  await done(world, owner, "PUT", `${PATH}${id}/`, { start_time: START + 600 });
  await pass(world, 600_000);
  assert.equal((await runsOf(world, owner, id)).length, 2);
});

test("a deleted job runs no more", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily());
  await done(world, owner, "DELETE", `${PATH}${id}/`);
  await pass(world, 3 * HOUR_MS);
  assert.deepEqual(await namesOf(world, owner), []);
  for (const [method, url] of [
    ["DELETE", `${PATH}${id}/`],
    ["GET", `${PATH}${id}/runs/`],
  ] as const) {
    const answer = await ask(world, owner, method, url);
    assert.deepEqual([answer.status, answer.body.error], [404, "not_found"]);
  }
});

test("a bid is changed as published clients schedule it, with members that the operation does not know", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const instance = await rent(world, owner, await world.host(), { price: 0.2 });
  const id = await create(world, owner, {
    start_time: START + 30,
    end_time: START + 86_400,
    api_endpoint: `/api/v0/instances/bid_price/${instance}/`,
    request_method: "PUT",
    request_body: { client_id: "me", price: 0.25, instance_id: instance },
    day_of_the_week: null,
    hour_of_the_day: null,
    min_of_the_hour: 1,
    frequency: "HOURLY",
    instance_id: instance,
  });
  await pass(world, 60_000);
  assert.deepEqual(
    (await runsOf(world, owner, id)).map(({ outcome }: { readonly outcome: string }) => outcome),
    ["done"],
  );
  assert.equal((await show(world, owner, instance)).dph_base, 0.25);
});

test("a null that means something in the scheduled request arrives", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const body = { traffic_limit: null };
  await done(world, owner, "PUT", "/api/v0/users/", { traffic_limit: 5 });
  const request = { api_endpoint: "/api/v0/users/", request_method: "PUT", request_body: body };
  const id = await create(world, owner, { ...request, frequency: "HOURLY" });
  assert.deepEqual((await jobOf(world, owner, id)).request_body, body);
  await pass(world, HOUR_MS);
  assert.equal((await runsOf(world, owner, id))[0].outcome, "done");
  assert.equal((await done(world, owner, "GET", "/api/v0/users/me/")).traffic_limit, null);
});

test("the body of a job is encrypted, and is in no answer to other accounts", async (t) => {
  const world = await testApp(t);
  const [owner, stranger] = [await world.caller(), await world.caller()];
  await create(world, owner, daily());
  const { rows } = await world.env.pool.query<{ row: string }>(
    "select row_to_json(j)::text as row from scheduled_jobs j",
  );
  assert.ok(!rows[0]?.row.includes("by-a-job"));
  assert.deepEqual(await done(world, stranger, "GET", PATH), []);
});

test("an account has at most 500 jobs that go on, and keeps the newest 500 that are over", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily());
  const copy = (count: number, closedAt: string) =>
    world.env.pool.query(
      `insert into scheduled_jobs (user_id, api_key_id, request_method, api_endpoint, request_body, digest, frequency,
         hour_of_the_day, min_of_the_hour, starts_at, ends_at, due_at, created_at, closed_at)
       select user_id, api_key_id, request_method, api_endpoint, request_body, 'copy ' || number, frequency,
         hour_of_the_day, min_of_the_hour, starts_at, ends_at,
         case when ${closedAt} is null then due_at end, created_at, ${closedAt}
       from scheduled_jobs, generate_series(1, ${count}) as number where id = ${id}`,
    );
  await copy(600, "created_at + number * interval '1 second'");
  await create(world, owner, daily({ hour_of_the_day: 4 }));
  const closed = async () =>
    (await world.env.pool.query("select count(*)::integer as count from scheduled_jobs where closed_at is not null"))
      .rows;
  assert.deepEqual(await closed(), [{ count: 500 }]);
  await copy(498, "null::timestamptz");
  const refused = await ask(world, owner, "POST", PATH, daily({ hour_of_the_day: 5 }));
  assert.deepEqual([refused.status, refused.body.error], [400, "too_many"]);
});

test("a wrong field is named", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const { hour_of_the_day: _hour, ...bare } = daily();
  for (const [body, field] of [
    [daily({ api_endpoint: "/api/v0/no/such/" }), "api_endpoint"],
    [daily({ api_endpoint: "http://example.com/api/v0/secrets/" }), "api_endpoint"],
    [daily({ api_endpoint: "/api/v0/x/../secrets/" }), "api_endpoint"],
    [daily({ api_endpoint: "/api/v0/secrets/?api_key=x" }), "api_endpoint"],
    [daily({ api_endpoint: "/api/v0/agent/join/" }), "api_endpoint"],
    [daily({ api_endpoint: PATH }), "api_endpoint"],
    [daily({ api_endpoint: `${PATH}7/`, request_method: "PUT" }), "api_endpoint"],
    [daily({ request_method: "PATCH" }), "request_method"],
    [daily({ request_body: { key: "x".repeat(70_000) } }), "request_body"],
    [daily({ frequency: "MONTHLY" }), "frequency"],
    [daily({ hour_of_the_day: 24 }), "hour_of_the_day"],
    [daily({ hour_of_the_day: null }), "hour_of_the_day"],
    [daily({ day_of_the_week: 1 }), "day_of_the_week"],
    [daily({ frequency: "HOURLY" }), "hour_of_the_day"],
    [daily({ frequency: "WEEKLY" }), "day_of_the_week"],
    [daily({ end_time: START - 1 }), "end_time"],
    [daily({ end_time: START + 3_600 }), "end_time"],
    [daily({ start_time: START * 1_000 }), "start_time"],
    [{ ...bare, frequency: "ONCE" }, "start_time"],
    [{ ...bare, frequency: "ONCE", start_time: START - 3_600 }, "start_time"],
  ] as const) {
    const answer = await ask(world, owner, "POST", PATH, body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], `${JSON.stringify(body)} ${answer.text}`);
  }
});

test("runs are kept for 90 days, and jobs that are over for 30", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily());
  const { hour_of_the_day: _hour, ...once } = daily({ frequency: "ONCE", start_time: START + 60 });
  await create(world, owner, once);
  await pass(world, 3 * HOUR_MS);
  await pass(world, 29 * DAY_MS);
  await world.runLoop("forget-scheduled-runs");
  assert.equal((await done(world, owner, "GET", PATH)).length, 2);
  await pass(world, DAY_MS + 1);
  await world.runLoop("forget-scheduled-runs");
  assert.deepEqual(
    (await done(world, owner, "GET", PATH)).map((job: { readonly id: number }) => job.id),
    [id],
  );
  const dueTimes = async () =>
    (await runsOf(world, owner, id)).map(({ due_time: due }: { readonly due_time: number }) => due);
  const before: readonly number[] = await dueTimes();
  await pass(world, 60 * DAY_MS + HOUR_MS);
  await world.runLoop("forget-scheduled-runs");
  // The first run is 90 days and an hour old.
  assert.deepEqual((await dueTimes()).slice(-before.length + 1), before.slice(0, -1));
});
