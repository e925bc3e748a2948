// Scheduled jobs as their owners ask for them, and the passing of time until they run.
import assert from "node:assert/strict";
import type { TestApp } from "./app.ts";
import type { TestCaller } from "./fixtures.ts";

export const JOBS_PATH = "/api/v0/commands/schedule_job/";
export const SECRETS = "/api/v0/secrets/";
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** The test's clock begins on Thursday, 1 January 2026, at midnight. */
export const START = Date.UTC(2026, 0, 1) / 1_000;

type Body = Readonly<Record<string, unknown>>;
type Key = { readonly secret: string };

export const daily = (body: Body = {}) => ({
  api_endpoint: SECRETS,
  request_method: "POST",
  request_body: { key: "MADE", value: "by-a-job" },
  frequency: "DAILY",
  hour_of_the_day: 3,
  ...body,
});

export const ask = (
  world: TestApp,
  { secret }: Key,
  method: "GET" | "POST" | "PUT" | "DELETE",
  url: string,
  body?: Body,
) => world.call({ method, url, secret, ...(body === undefined ? {} : { body }) });

export async function done(
  world: TestApp,
  key: Key,
  method: "GET" | "POST" | "PUT" | "DELETE",
  url: string,
  body?: Body,
) {
  const answer = await ask(world, key, method, url, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export const create = async (world: TestApp, key: Key, body: Body): Promise<number> =>
  (await done(world, key, "POST", JOBS_PATH, body)).scheduled_job_id;

export const runsOf = (world: TestApp, key: Key, id: number) => done(world, key, "GET", `${JOBS_PATH}${id}/runs/`);
export const jobOf = async (world: TestApp, key: Key, id: number) =>
  (await done(world, key, "GET", JOBS_PATH)).find((job: { readonly id: number }) => job.id === id);
/** Names of the variables that jobs made. */
export const namesOf = async (world: TestApp, owner: TestCaller) =>
  (
    await world.env.pool.query<{ name: string }>("select name from account_secrets where user_id = $1", [owner.id])
  ).rows.map(({ name }) => name);

/** Lets time pass, and the server look once. */
export async function pass(world: TestApp, ms: number): Promise<void> {
  world.clock.jump(ms);
  await look(world);
}

export async function look(world: TestApp): Promise<void> {
  await world.runLoop("run-scheduled-jobs");
  await world.app.jobs.idle();
}

export const notices = async (world: TestApp, user: { readonly id: number }) =>
  (
    await world.env.pool.query<{ subject: string; message: string }>(
      "select subject, message from notices where user_id = $1 and kind = 'client:scheduled_job_failed' order by id",
      [user.id],
    )
  ).rows;
