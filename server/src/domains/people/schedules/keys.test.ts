// Rights of the key behind a scheduled job when the job runs.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aCaller, aKey, inTransaction } from "../../../../../test/support/fixtures.ts";
import { signIn, signUp } from "../../../../../test/support/second-factors.ts";
import {
  ask,
  create,
  daily,
  DAY_MS,
  done,
  HOUR_MS,
  jobOf,
  JOBS_PATH,
  namesOf,
  notices,
  pass,
  runsOf,
  SECRETS,
  START,
} from "../../../../../test/support/schedules.ts";

const narrowKey = (world: TestApp, owner: { readonly secret: string }) =>
  done(world, owner, "POST", "/api/v0/auth/apikeys/", {
    name: "narrow",
    permissions: { api: { instance_read: {}, instance_write: {}, user_write: {} } },
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

  test("may be named: one of the same holder that may do no more than the caller", async (t) => {
    const world = await testApp(t);
    const person = await signUp(world);
    const { body: session } = await signIn(world, person.name);
    const browser = { secret: session.api_key };
    const make = async (name: string, permissions?: object) =>
      (await done(world, browser, "POST", "/api/v0/auth/apikeys/", { name, permissions })).id;
    const whole = await make("whole");
    const id = await create(world, browser, daily({ api_key_id: whole }));
    assert.equal((await jobOf(world, browser, id)).api_key_id, whole);
    for (let day = 0; day < 8; day += 1) await pass(world, day === 0 ? 3 * HOUR_MS : DAY_MS);
    const [last] = await runsOf(world, person, id);
    assert.deepEqual([last.due_time, last.api_key_id], [START + (7 * 24 + 3) * 3_600, whole]);
    const narrow = { secret: (await narrowKey(world, person)).key };
    const stranger = await world.caller();
    for (const [caller, api_key_id, status] of [
      [narrow, whole, 403],
      [person, stranger.key.id, 404],
      [person, 0, 400],
    ] as const) {
      const refused = await ask(world, caller, "POST", JOBS_PATH, daily({ api_key_id, hour_of_the_day: 5 }));
      assert.equal(refused.status, status, refused.text);
    }
    const bound = { name: "bound", demands_tfa: true };
    const { key } = await done(world, person, "POST", "/api/v0/auth/apikeys/", bound);
    const refused = await ask(
      world,
      { secret: key },
      "POST",
      JOBS_PATH,
      daily({ api_key_id: whole, hour_of_the_day: 5 }),
    );
    assert.deepEqual([refused.status, /second factor/.test(refused.text)], [403, true], refused.text);
    const changed = { hour_of_the_day: 4, api_key_id: whole };
    assert.equal((await ask(world, person, "PUT", `${JOBS_PATH}${id}/`, changed)).body.field, "request_body");
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
    const answer = await ask(world, owner, "POST", JOBS_PATH, daily());
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
    const later = await ask(world, weak, "PUT", `${JOBS_PATH}${id}/`, { hour_of_the_day: 4 });
    assert.deepEqual([later.status, later.body.field], [400, "request_body"]);
    const same = await ask(world, weak, "PUT", `${JOBS_PATH}${id}/`, daily({ hour_of_the_day: 4 }));
    assert.deepEqual([same.status, same.body.error], [403, "not_authorized"]);
    const bid = { api_endpoint: "/api/v0/instances/7/", request_method: "PUT", request_body: { state: "stopped" } };
    await done(world, weak, "PUT", `${JOBS_PATH}${id}/`, bid);
    assert.equal((await jobOf(world, weak, id)).api_key_id, weak.id);
    await pass(world, 3 * HOUR_MS);
    const [run] = await runsOf(world, owner, id);
    assert.deepEqual([run.outcome, run.http_status, run.api_key_id], ["failed", 404, weak.id]);
  });
});
