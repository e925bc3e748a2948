// Requests that make and change scheduled jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import {
  ask,
  create,
  daily,
  done,
  jobOf,
  JOBS_PATH,
  pass,
  runsOf,
  START,
} from "../../../../../test/support/schedules.ts";

test("the same request at the same times is 422 with the id of the job, which a PUT then changes", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily());
  const again = await ask(world, owner, "POST", JOBS_PATH, daily({ end_time: START + 30 * 86_400 }));
  assert.deepEqual([again.status, again.body.error, again.body.scheduled_job_id], [422, "job_exists", id], again.text);
  const changed = await done(world, owner, "PUT", `${JOBS_PATH}${id}/`, daily({ end_time: START + 30 * 86_400 }));
  assert.deepEqual(changed.scheduled_job_id, id);
  assert.equal((await jobOf(world, owner, id)).end_time, START + 30 * 86_400);
  const other = await create(world, owner, daily({ hour_of_the_day: 15 }));
  const clash = await ask(world, owner, "PUT", `${JOBS_PATH}${other}/`, { hour_of_the_day: 3 });
  assert.deepEqual([clash.status, clash.body.scheduled_job_id], [422, id]);
});

test("a change keeps what it does not name, and another frequency begins with its own fields", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily());
  await done(world, owner, "PUT", `${JOBS_PATH}${id}/`, { min_of_the_hour: 20 });
  await done(world, owner, "PUT", `${JOBS_PATH}${id}/`, {
    frequency: "WEEKLY",
    day_of_the_week: 1,
    hour_of_the_day: 5,
  });
  const job = await jobOf(world, owner, id);
  assert.deepEqual([job.day_of_the_week, job.hour_of_the_day, job.min_of_the_hour], [1, 5, 0]);
  // The first Monday of 2026 is the fifth of January.
  assert.equal(job.next_time, Date.UTC(2026, 0, 5, 5) / 1_000);
  assert.deepEqual(job.request_body, daily().request_body);
  const nothing = await ask(world, owner, "PUT", `${JOBS_PATH}${id}/`, {});
  assert.deepEqual([nothing.status, nothing.body.error], [400, "missing_input"]);
});

test("a job that is over goes on after a change, and an occurrence that ran does not run again", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const { hour_of_the_day: _hour, ...once } = daily({ frequency: "ONCE", start_time: START + 60 });
  const id = await create(world, owner, once);
  await pass(world, 60_000);
  await done(world, owner, "PUT", `${JOBS_PATH}${id}/`, { instance_id: 9 });
  await pass(world, 60_000);
  assert.equal((await runsOf(world, owner, id)).length, 1);
  await done(world, owner, "PUT", `${JOBS_PATH}${id}/`, { start_time: START + 600 });
  await pass(world, 600_000);
  assert.equal((await runsOf(world, owner, id)).length, 2);
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
  const refused = await ask(world, owner, "POST", JOBS_PATH, daily({ hour_of_the_day: 5 }));
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
    [daily({ api_endpoint: JOBS_PATH }), "api_endpoint"],
    [daily({ api_endpoint: `${JOBS_PATH}7/`, request_method: "PUT" }), "api_endpoint"],
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
    const answer = await ask(world, owner, "POST", JOBS_PATH, body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], `${JSON.stringify(body)} ${answer.text}`);
  }
});
