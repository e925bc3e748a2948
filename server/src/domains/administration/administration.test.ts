import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../test/support/app.ts";
import { aCaller, type TestCaller } from "../../../../test/support/fixtures.ts";
import { listedHost } from "../../../../test/support/money/contracts.ts";
import { askFor, rentAndRun } from "../../../../test/support/rentals.ts";

const HOUR_MS = 3_600_000;

describe("the market at a glance, announcements and settings", () => {
  let world: TestApp;
  let admin: TestCaller;
  let renter: TestCaller;
  let owner: TestCaller;
  const cleanups: (() => Promise<void>)[] = [];

  const call = (method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown, secret = admin.secret) =>
    world.call({ method, url: `/api/v0/${path}`, secret, ...(body === undefined ? {} : { body }) });
  const get = async (path: string, secret = admin.secret) => {
    const answer = await call("GET", path, undefined, secret);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const seconds = (ms: number) => (world.clock.now().getTime() + ms) / 1000;
  const titlesFor = async (secret?: string) => {
    const answer = await world.call({ url: "/api/v0/announcements/", ...(secret === undefined ? {} : { secret }) });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.announcements.map(({ title }: { title: string }) => title);
  };
  const publish = async (body: Readonly<Record<string, unknown>>) => {
    const answer = await call("POST", "admin/announcements/", { message: "Read this.", ...body });
    assert.equal(answer.status, 200, answer.text);
    return Number(answer.body.id);
  };

  before(async () => {
    world = await testApp({ after: (fn) => void cleanups.push(fn as () => Promise<void>) });
    admin = await aCaller(world.env.database, { isAdmin: true });
    [renter, owner] = [await world.caller({ dollars: 50 }), await world.caller({ dollars: 0 })];
  });
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  test("the snapshot counts each GPU, rent and refusal once, and the money as the ledger has it", async () => {
    const empty = await get("admin/overview/");
    assert.deepEqual([empty.gpus, empty.occupancy, empty.rents.day_count], [[], null, 0]);
    const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 3, owner });
    await rentAndRun(world, renter, host);
    const poor = await world.caller({ dollars: 0 });
    const refused = await askFor(world, poor, host);
    assert.equal(refused.status, 400, refused.text);
    const seen = await get("admin/overview/");
    const [gpus] = seen.gpus;
    assert.deepEqual(
      [gpus.total_count, gpus.rented_count, gpus.free_count, gpus.broken_count, gpus.offline_count],
      [3, 1, 2, 0, 0],
    );
    assert.equal(seen.occupancy, 1 / 3);
    assert.deepEqual([seen.instances.running, seen.rents.hour_count, seen.rents.day_count], [1, 1, 1]);
    assert.deepEqual(seen.rents.refusals, [{ code: refused.body.error, hour_count: 1, day_count: 1 }]);
    assert.deepEqual([seen.machines.total_count, seen.machines.connected_count], [1, 1]);
    assert.equal(seen.machines.agents_here_count, 1);
    assert.equal(seen.money.credit, 50);
    assert.ok(seen.money.held > 0);
    const granted = seen.money.movements.find(({ code }: { code: string }) => code === "credit_granted");
    assert.deepEqual([granted.day_amount, granted.month_amount], [50, 50]);
    assert.deepEqual([seen.payouts.waiting_count, seen.attention.flag_count, seen.queue.open_count], [0, 0, 0]);
    assert.deepEqual(seen.loops.late, []);
    await world.env.pool.query("update devices set is_healthy = false where id in (select min(id) from devices)");
    await host.disconnect();
    const away = (await get("admin/overview/")).gpus[0];
    assert.deepEqual([away.rented_count, away.free_count, away.offline_count], [1, 0, 2]);
  });

  test("an announcement is shown to its audience, from its beginning until its end", async () => {
    const forAll = await publish({ title: "For all", level: "warning", until: seconds(2 * HOUR_MS) });
    await publish({ title: "For hosts", audience: "hosts" });
    await publish({ title: "For renters", audience: "renters" });
    await publish({ title: "Later", from: seconds(HOUR_MS) });
    assert.deepEqual(await titlesFor(), ["For all"]);
    assert.deepEqual(await titlesFor(renter.secret), ["For all", "For renters"]);
    assert.deepEqual(await titlesFor(owner.secret), ["For all", "For hosts"]);
    world.clock.jump(HOUR_MS);
    assert.deepEqual(await titlesFor(), ["For all", "Later"]);
    world.clock.jump(HOUR_MS);
    assert.deepEqual(await titlesFor(), ["Later"]);
    const all = (await get("admin/announcements/")).announcements;
    assert.deepEqual(
      all.map(({ title, is_shown: isShown }: Record<string, unknown>) => [title, isShown]),
      [
        ["Later", true],
        ["For renters", true],
        ["For hosts", true],
        ["For all", false],
      ],
    );
    assert.equal((await call("PUT", `admin/announcements/${forAll}/`, { until: seconds(HOUR_MS) })).status, 200);
    assert.deepEqual(await titlesFor(), ["For all", "Later"]);
    assert.equal((await call("DELETE", `admin/announcements/${forAll}/`)).status, 200);
    assert.deepEqual(await titlesFor(), ["Later"]);
    const gone = await call("DELETE", `admin/announcements/${forAll}/`);
    assert.deepEqual([gone.status, gone.body.error], [404, "no_such_announcement"]);
    const { rows } = await world.env.pool.query(
      "select action from audit_events where user_id = $1 and arguments ->> 'announcement_id' = $2 order by id",
      [admin.id, String(forAll)],
    );
    assert.deepEqual(
      rows.map(({ action }) => action),
      ["create", "update", "delete"].map((act) => `api.admin.announcement.${act}`),
    );
  });

  test("an announcement is refused when it ends before it begins, or is too long", async () => {
    for (const [body, field] of [
      [{ title: "T", message: "M", from: 2000, until: 1000 }, "until"],
      [{ title: "", message: "M" }, "title"],
      [{ title: "T", message: "M".repeat(2001) }, "message"],
      [{ title: "T", message: "M", level: "loud" }, "level"],
    ] as const) {
      const answer = await call("POST", "admin/announcements/", body);
      assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
    }
    assert.equal((await call("POST", "admin/announcements/", { title: "T", message: "M" }, renter.secret)).status, 403);
  });

  test("settings are shown with their source, and no secret is", async () => {
    const { settings } = await get("admin/settings/");
    const port = settings.find(({ name }: { name: string }) => name === "BERTH_PORT");
    assert.deepEqual([port.value, port.set_by, port.by_default], ["8080", "default", "8080"]);
    const secret = settings.find(({ name }: { name: string }) => name === "BERTH_SECRET");
    assert.deepEqual([secret.value, secret.is_secret], [null, true]);
  });
});
