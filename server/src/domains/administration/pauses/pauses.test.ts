import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aCaller, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { until } from "../../../../../test/support/until.ts";

const MINUTE_MS = 60_000;

describe("a pause of the service", () => {
  const cleanups: (() => Promise<void> | void)[] = [];
  const scope = { after: (fn: () => Promise<void> | void) => void cleanups.push(fn) };
  let world: TestApp;
  let other: TestApp;
  let admin: TestCaller;
  let renter: TestCaller;
  let offerId: number;

  before(async () => {
    world = await testApp(scope);
    other = await testApp(scope, { env: world.env, clock: world.clock });
    admin = await aCaller(world.env.database, { isAdmin: true });
    renter = await world.caller();
    const host = await world.host({ gpus: 2 });
    offerId = (await world.offersOf(host)).get(1) ?? 0;
  });
  after(async () => {
    await other.close();
    for (const cleanup of cleanups) await cleanup();
  });

  const call = (method: string, path: string, body?: object, secret = admin.secret, at = world) =>
    at.call({ method: method as "GET", url: `/api/v0/${path}`, secret, ...(body === undefined ? {} : { body }) });
  const rents = (at = world) => call("PUT", `asks/${offerId}/`, { image: "alpine", disk: 10 }, renter.secret, at);
  const seconds = (ms: number) => (world.clock.now().getTime() + ms) / 1000;
  const pause = (message: string, minutes: number) =>
    call("PUT", "admin/pause/", { message, until: seconds(minutes * MINUTE_MS) });

  test("refuses changes at every server with a sentence and a time, and lets people read, stop and delete", async () => {
    const made = await rents();
    assert.equal(made.status, 200, made.text);
    const id: number = made.body.new_contract;
    assert.equal((await pause("We move to a larger database.", 30)).status, 200);

    const refused = await rents();
    assert.deepEqual(
      [refused.status, refused.body.error, refused.headers["retry-after"]],
      [503, "service_paused", "1800"],
    );
    assert.match(refused.body.msg, /is paused until .* UTC: We move to a larger database\. What runs goes on/);
    await until("the other server to pause", async () => (await rents(other)).status === 503);
    assert.deepEqual(world.complaints, [], "a pause is no trouble of the server");

    const [announced] = (await call("GET", "announcements/", undefined, renter.secret)).body.announcements;
    assert.deepEqual([announced.level, announced.until], ["warning", seconds(30 * MINUTE_MS)]);
    for (const [method, path, body, status] of [
      ["GET", `instances/${id}/`, undefined, 200],
      ["POST", "bundles/", {}, 200],
      ["PUT", `instances/${id}/`, { label: "new" }, 503],
      ["PUT", `instances/${id}/`, { state: "running" }, 503],
      ["PUT", `instances/${id}/`, { state: "stopped", label: "new" }, 503],
      ["PUT", `instances/${id}/`, { state: "stopped" }, 200],
      ["DELETE", `instances/${id}/`, undefined, 200],
      ["POST", "auth/apikeys/", { name: "another" }, 200],
      ["POST", "standing_requests/", { query: {}, image: "alpine" }, 503],
    ] as const) {
      const answer = await call(method, path, body, renter.secret);
      assert.equal(answer.status, status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
    }
    assert.equal((await call("POST", "admin/credit/", { email: renter.email, amount: 1 })).status, 200);
  });

  test("ends by its time, or by an administrator, and its announcement with it", async () => {
    world.clock.jump(30 * MINUTE_MS);
    assert.notEqual((await rents()).status, 503);
    assert.deepEqual((await call("DELETE", "admin/pause/")).body.error, "no_such_pause");
    await pause("Once more.", 10);
    world.clock.jump(MINUTE_MS);
    assert.equal((await rents()).status, 503);
    assert.equal((await call("DELETE", "admin/pause/")).status, 200);
    assert.deepEqual((await call("GET", "announcements/")).body.announcements, []);
    assert.notEqual((await rents()).status, 503);
    const { is_paused: isPaused, pauses } = (await call("GET", "admin/pause/")).body;
    assert.deepEqual([isPaused, pauses.length, pauses[0].message], [false, 2, "Once more."]);
  });

  test("begins at a time when it is planned, and people read of it before", async () => {
    const body = { message: "Tonight.", from: seconds(10 * MINUTE_MS), until: seconds(20 * MINUTE_MS) };
    assert.equal((await call("PUT", "admin/pause/", body)).status, 200);
    assert.notEqual((await rents()).status, 503);
    const [announced] = (await call("GET", "announcements/")).body.announcements;
    assert.match(
      `${announced.title}: ${announced.message}`,
      /will be paused: Tonight\. Nothing can be rented or changed from/,
    );
    assert.equal((await call("GET", "admin/pause/")).body.is_paused, false);
    world.clock.jump(10 * MINUTE_MS);
    assert.deepEqual([(await rents()).status, (await rents()).headers["retry-after"]], [503, "600"]);
    world.clock.jump(10 * MINUTE_MS);
    assert.notEqual((await rents()).status, 503);
  });

  test("another pause replaces the one that lasts; one without an end, or in the past, is refused", async () => {
    assert.equal((await pause("One.", 10)).status, 200);
    assert.equal((await pause("Two.", 20)).status, 200);
    assert.equal((await rents()).headers["retry-after"], "1200");
    const { announcements } = (await call("GET", "announcements/")).body;
    assert.deepEqual(
      announcements.map(({ message }: { message: string }) => message.slice(0, 4)),
      ["Two."],
    );
    for (const minutes of [-1, 8 * 24 * 60]) {
      const answer = await pause("Never.", minutes);
      assert.deepEqual([answer.status, answer.body.field], [400, "until"]);
    }
    const { rows } = await world.env.pool.query(
      "select action from audit_events where user_id = $1 and action like 'api.admin.pause%' order by id",
      [admin.id],
    );
    assert.equal(rows.length, 6);
  });
});
