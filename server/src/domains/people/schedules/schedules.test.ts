// Runs of scheduled jobs of one server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { rent, show } from "../../../../../test/support/rentals.ts";
import {
  ask,
  create,
  daily,
  DAY_MS,
  done,
  HOUR_MS,
  jobOf,
  JOBS_PATH,
  look,
  namesOf,
  notices,
  pass,
  runsOf,
  START,
} from "../../../../../test/support/schedules.ts";

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

test("a job that fails each hour for the same reason is told of once a day, and each run is in the history", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const request = { api_endpoint: "/api/v0/instances/7/", request_method: "DELETE" };
  const id = await create(world, owner, { ...request, frequency: "HOURLY", min_of_the_hour: 30 });
  for (let hour = 0; hour < 26; hour += 1) await pass(world, HOUR_MS);
  assert.equal((await runsOf(world, owner, id)).length, 26);
  assert.equal((await notices(world, owner)).length, 2);
});

test("a deleted job runs no more", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const id = await create(world, owner, daily());
  await done(world, owner, "DELETE", `${JOBS_PATH}${id}/`);
  await pass(world, 3 * HOUR_MS);
  assert.deepEqual(await namesOf(world, owner), []);
  for (const [method, url] of [
    ["DELETE", `${JOBS_PATH}${id}/`],
    ["GET", `${JOBS_PATH}${id}/runs/`],
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
  assert.deepEqual(await done(world, stranger, "GET", JOBS_PATH), []);
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
  assert.equal((await done(world, owner, "GET", JOBS_PATH)).length, 2);
  await pass(world, DAY_MS + 1);
  await world.runLoop("forget-scheduled-runs");
  assert.deepEqual(
    (await done(world, owner, "GET", JOBS_PATH)).map((job: { readonly id: number }) => job.id),
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
