import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { listMachine, machineRecord, ofMachine } from "../../../../../test/support/hosts/hosting.ts";
import { aJoinedHost, aJoiner, join } from "../../../../../test/support/hosts/joins.ts";
import { history, rent, rentAndRun, show, stored } from "../../../../../test/support/rentals.ts";

const HOUR_S = 3600;

async function aHost(t: Parameters<typeof testApp>[0], gpus = 2) {
  const world = await testApp(t);
  const owner = await world.caller();
  return { world, owner, host: await world.host({ owner, gpus }), renter: await world.caller() };
}

const nowS = ({ clock }: TestApp) => clock.now().getTime() / 1000;
const announce = (world: TestApp, by: TestCaller, host: FakeHost, body: object) =>
  ofMachine(world, by, host, ["PUT", "dnotify/", body]);

async function maintenances(world: TestApp, by: TestCaller, query = ""): Promise<readonly Record<string, unknown>[]> {
  const answer = await world.call({ url: `/api/v0/machines/maintenances${query}`, secret: by.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

test("a maintenance is shown to host and renters, on their instances too, until it is cancelled", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 3);
  const [id, other] = [await rentAndRun(world, renter, host), await world.caller()];
  await rentAndRun(world, renter, host);
  await rentAndRun(world, other, host, { price: 0.2 });
  const start = nowS(world) + 2 * HOUR_S;
  const body = {
    client_id: "me",
    sdate: String(start),
    duration: 1.5,
    maintenance_reason: "new fan",
    maintenance_category: "gpu",
  };
  const answer = await announce(world, owner, host, body);
  const sent = { you_sent: "2 notifications sent", machine_id: host.machineId, notifications_sent: 2 };
  assert.deepEqual(answer.body, { success: true, ...sent });
  const window = {
    start_time: start,
    end_time: start + 1.5 * HOUR_S,
    maintenance_category: "gpu",
    maintenance_reason: "new fan",
  };
  const announced = { created_at: nowS(world), cancelled_at: null };
  const row = { id: 1, machine_id: host.machineId, duration_hours: 1.5, ...window, ...announced };
  const mine = `?machine_ids=[${host.machineId}]&owner=me`;
  for (const [who, query] of [
    [owner, ""],
    [owner, mine],
    [renter, mine],
    [other, ""],
  ] as const) {
    assert.deepEqual(await maintenances(world, who, query), [row]);
  }
  assert.deepEqual(await maintenances(world, await world.caller(), mine), [], "strangers see none");
  assert.deepEqual(await maintenances(world, owner, "?machine_ids=[1000000]"), []);
  assert.deepEqual((await show(world, renter, id)).maintenance, [window]);
  assert.deepEqual((await history(world, id)).at(-1), ["running", "running", "maintenance_scheduled"]);
  assert.deepEqual((await machineRecord(world, owner, host)).maintenance, [row]);
  const cancelled = await ofMachine(world, owner, host, [
    "PUT",
    "cancel_maint/",
    { client_id: "me", machine_id: host.machineId },
  ]);
  const msg = `deleted 1 scheduled maintenance window(s) on machine ${host.machineId}`;
  assert.deepEqual(cancelled.body, { success: true, ctime: nowS(world), machine_id: host.machineId, msg });
  assert.deepEqual(await maintenances(world, renter), []);
  assert.deepEqual((await show(world, renter, id)).maintenance, []);
  await announce(world, owner, host, { sdate: "2026-01-01T10:00:00Z", duration: 1 });
  assert.deepEqual(
    (await maintenances(world, renter)).map((one) => one["maintenance_category"]),
    ["not provided"],
  );
  world.clock.jump(12 * HOUR_S * 1000);
  assert.deepEqual(await maintenances(world, renter), [], "over is over");
});

test("an impossible maintenance is refused by its field", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 1);
  const start = nowS(world) + HOUR_S;
  await announce(world, owner, host, { sdate: start, duration: 2 });
  for (const [field, body] of [
    ["sdate", { sdate: nowS(world) - HOUR_S, duration: 1 }],
    ["sdate", { sdate: start * 1000, duration: 1 }],
    ["sdate", { sdate: "soon", duration: 1 }],
    ["sdate", { sdate: true, duration: 1 }],
    ["sdate", { duration: 1 }],
    ["duration", { sdate: start }],
    ["duration", { sdate: start, duration: 0 }],
    ["duration", { sdate: start, duration: -1 }],
    ["duration", { sdate: start, duration: 2 ** 53 }],
    ["duration", { sdate: start, duration: "1" }],
    ["maintenance_category", { sdate: start, duration: 1, maintenance_category: "magic" }],
    ["maintenance_reason", { sdate: start, duration: 1, maintenance_reason: "x".repeat(1001) }],
  ] as const) {
    const answer = await announce(world, owner, host, body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], `${JSON.stringify(body)}: ${answer.text}`);
  }
  const overlapping = await announce(world, owner, host, { sdate: start + HOUR_S, duration: 1 });
  assert.deepEqual(
    [overlapping.status, overlapping.body.error, overlapping.body.field],
    [422, "unprocessable", "sdate"],
  );
  assert.equal((await announce(world, owner, host, { sdate: start + 2 * HOUR_S, duration: 1 })).status, 200);
  for (const path of ["dnotify/", "cancel_maint/"]) {
    const foreign = await ofMachine(world, renter, host, ["PUT", path, { sdate: start, duration: 1 }]);
    assert.deepEqual([foreign.status, foreign.body.error], [404, "no_such_machine"]);
  }
  const bad = await world.call({ url: "/api/v0/machines/maintenances/?machine_ids=[x]", secret: owner.secret });
  assert.deepEqual([bad.status, bad.body.field], [400, "machine_ids"]);
});

test("cleaning up removes instances past their end, and no others", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 2);
  await listMachine(world, owner, host.machineId, { end_date: nowS(world) + 2 * HOUR_S });
  const expired = await rentAndRun(world, renter, host);
  await listMachine(world, owner, host.machineId, { price_gpu: 1, end_date: nowS(world) + 1000 * HOUR_S });
  const running = await rentAndRun(world, renter, host);
  const cleanUp = () => ofMachine(world, owner, host, ["PUT", "cleanup/", {}]);
  assert.equal((await cleanUp()).body.num_deleted, 0);
  world.clock.jump(3 * HOUR_S * 1000);
  await world.runLoop("end-contracts");
  await host.obey();
  assert.equal((await stored(world, expired)).phase, "stopped");
  assert.equal((await ofMachine(world, renter, host, ["PUT", "cleanup/", {}])).status, 404);
  const { status, body } = await cleanUp();
  assert.deepEqual([status, body.success, body.num_deleted, body.user_id], [200, true, 1, owner.id]);
  assert.equal(body.msg, `deleted 1 expired contracts on machine ${host.machineId}`);
  assert.deepEqual([(await stored(world, expired)).phase, (await stored(world, running)).phase], ["ending", "running"]);
  await world.assertBooks();
});

test("a machine is not deleted while others use it; then it is gone from all lists, and its agent is disconnected", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 2);
  await world.call({
    method: "PUT",
    url: "/api/v0/machines/create_bids/",
    secret: owner.secret,
    body: { machine: host.machineId, image: "busybox" },
  });
  const id = await rentAndRun(world, renter, host);
  const remove = () => ofMachine(world, owner, host, ["POST", "force_delete/"]);
  const refused = await remove();
  assert.deepEqual([refused.status, refused.body.success, refused.body.error], [409, false, "machine_in_use"]);
  const allowed = (await machineRecord(world, owner, host)).allowed_actions;
  assert.deepEqual(allowed.delete, { allowed: false, reason: refused.body.msg });
  assert.deepEqual([allowed.unlist, allowed.end_default_job], [{ allowed: true }, { allowed: true }]);
  assert.deepEqual(allowed.clean_up.allowed, false);
  const looking = { name: "looking", permissions: { api: { machine_read: {} } } };
  const { key } = (
    await world.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret: owner.secret, body: looking })
  ).body;
  const [seen] = (await world.call({ url: `/api/v0/machines/${host.machineId}/`, secret: key })).body;
  assert.match(seen.allowed_actions.list.reason, /machine_write/);
  assert.equal((await ofMachine(world, renter, host, ["POST", "force_delete/"])).status, 404);
  await world.call({ method: "DELETE", url: `/api/v0/instances/${id}/`, secret: renter.secret });
  await host.obey();
  await host.report([{ instance_id: id, generation: 1, state: "absent" }, ...host.obedience()]);
  const answer = await remove();
  assert.deepEqual([answer.status, answer.body.success], [200, true], answer.text);
  assert.equal(await host.closed(), 4400);
  assert.deepEqual((await world.call({ url: "/api/v0/machines", secret: owner.secret })).body, { machines: [] });
  assert.deepEqual((await ofMachine(world, owner, host, ["GET", ""])).body, []);
  assert.equal((await listMachine(world, owner, host.machineId)).status, 403);
  assert.equal((await remove()).status, 404);
  await world.settled();
  const query = { machine_id: { eq: host.machineId }, rentable: {}, limit: 10 };
  assert.deepEqual((await world.call({ method: "POST", url: "/api/v0/bundles/", body: query })).body.offers, []);
  await assert.rejects(host.connect(), /refused: machine_deleted/);
});

test("a deleted machine that joins again is back under its number, with its reports, and not listed", async (t) => {
  const world = await testApp(t);
  const [owner, joiner] = [await world.caller(), aJoiner()];
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner);
  t.after(() => host.terminate());
  await host.connect();
  assert.equal((await ofMachine(world, owner, host, ["POST", "force_delete/"])).status, 200);
  await host.closed();
  await world.settled();
  const again = aJoiner(joiner);
  const back = aJoinedHost(world, await join(world, owner, { ...again, nonce: `${again.nonce}2` }), joiner);
  t.after(() => back.terminate());
  await back.connect({ gpus: [...host.gpus] });
  assert.equal(back.machineId, host.machineId);
  const record = await machineRecord(world, owner, back);
  assert.deepEqual([record.listed, record.is_online], [false, true]);
});

test("a renter reports a machine, once for each problem; its host reads it and learns no name", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 1);
  const report = (by: TestCaller, body: object) => ofMachine(world, by, host, ["PUT", "report", body]);
  assert.equal(
    (await report(renter, { problem: "slow disk" })).status,
    404,
    "who never rented there knows nothing of it",
  );
  await rent(world, renter, host);
  assert.equal((await report(renter, { problem: "slow disk", message: "10 MB/s" })).status, 200);
  world.clock.jump(1000);
  assert.equal((await report(renter, { problem: "slow disk", message: "9 MB/s" })).status, 200);
  assert.equal((await report(renter, { problem: "no network" })).status, 200);
  assert.equal((await report(owner, { problem: "mine" })).status, 403);
  for (const [field, body] of [
    ["problem", {}],
    ["problem", { problem: "" }],
    ["problem", { problem: "x".repeat(101) }],
    ["problem", { problem: 7 }],
    ["message", { problem: "x", message: "x".repeat(2001) }],
  ] as const) {
    const answer = await report(renter, body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  const read = await ofMachine(world, owner, host, ["GET", "reports/"]);
  assert.deepEqual(read.body, [
    { problem: "no network", message: "", created_at: nowS(world) },
    { problem: "slow disk", message: "9 MB/s", created_at: nowS(world) },
  ]);
  assert.equal((await machineRecord(world, owner, host)).num_reports, 2);
  assert.equal((await ofMachine(world, renter, host, ["GET", "reports/"])).status, 404);
  for (let count = 2; count < 20; count += 1) await report(renter, { problem: `problem ${count}` });
  const tooMany = await report(renter, { problem: "one more" });
  assert.deepEqual([tooMany.status, tooMany.body.error], [409, "too_many_reports"]);
  assert.equal((await report(renter, { problem: "slow disk" })).status, 200);
});
