import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { history, rentAndRun } from "../../../../../../test/support/rentals.ts";

const HOUR_S = 3600;
const PATH = "/api/v0/machines/maintenances/";

const send = (world: TestApp, by: TestCaller, method: "POST" | "DELETE", body: unknown, path = PATH) =>
  world.call({ method, url: path, secret: by.secret, body });
const nowS = ({ clock }: TestApp) => clock.now().getTime() / 1000;

async function find(world: TestApp, by: TestCaller, body: object): Promise<readonly Record<string, unknown>[]> {
  const answer = await send(world, by, "POST", body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** A host with two machines, on the first of which another user rents, and a machine of somebody else. */
async function twoMachines(t: Parameters<typeof testApp>[0]) {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller(), await world.caller()];
  const [first, second] = [await world.host({ owner, gpus: 1 }), await world.host({ owner, gpus: 1 })];
  const foreign = await world.host({ gpus: 1 });
  const instance = await rentAndRun(world, renter, first);
  return { world, owner, renter, first, second, foreign, instance };
}

test("a batch announces a maintenance on each own machine, tells its renters, and says which machines are not there", async (t) => {
  const { world, owner, renter, first, second, foreign, instance } = await twoMachines(t);
  const ids = [first.machineId, second.machineId, foreign.machineId, 1_000_000, first.machineId];
  const sdate = nowS(world) + HOUR_S;
  const body = { machine_ids: ids, sdate: String(sdate), duration: 2, maintenance_reason: "fans" };
  const { status, body: answered, text } = await send(world, owner, "POST", body, `${PATH}batch/`);
  assert.equal(status, 200, text);
  const [one, two, ...others] = answered.results;
  assert.deepEqual(
    [one, two].map(({ maintenance_id: id, ...rest }) => [typeof id, rest]),
    [
      ["number", { success: true, machine_id: first.machineId, notifications_sent: 1 }],
      ["number", { success: true, machine_id: second.machineId, notifications_sent: 0 }],
    ],
  );
  const missing = (id: number) => ({
    success: false,
    machine_id: id,
    error: "not_found",
    msg: `No such machine id ${id}.`,
  });
  assert.deepEqual([answered.success, others], [true, [missing(foreign.machineId), missing(1_000_000)]]);
  const row = {
    id: one.maintenance_id,
    machine_id: first.machineId,
    duration_hours: 2,
    start_time: sdate,
    end_time: sdate + 2 * HOUR_S,
    maintenance_category: "other",
    maintenance_reason: "fans",
    created_at: nowS(world),
    cancelled_at: null,
  };
  for (const asked of [ids, first.machineId, `${first.machineId}, ${foreign.machineId}`]) {
    assert.deepEqual(await find(world, renter, { machine_ids: asked }), [row], "renters see those of their machines");
  }
  assert.equal((await find(world, owner, { machine_ids: ids })).length, 2);
  assert.deepEqual(await find(world, await world.caller(), { machine_ids: ids }), [], "strangers see none");
  assert.deepEqual(await find(world, owner, { machine_ids: ids, ctime: sdate + 3 * HOUR_S }), []);
  assert.equal((await find(world, owner, { machine_ids: ids, ctime: sdate + HOUR_S })).length, 2);
  assert.deepEqual((await history(world, instance)).at(-1), ["running", "running", "maintenance_scheduled"]);
  const again = await send(world, owner, "POST", { machine_ids: [first.machineId], sdate }, `${PATH}batch/`);
  assert.deepEqual([again.status, again.body.success, again.body.results[0].error], [400, false, "unprocessable"]);
  assert.match(again.body.results[0].msg, /Another maintenance/);
});

test("a maintenance is cancelled by its id, alone or with others, once, and by its host", async (t) => {
  const { world, owner, renter, first, second, instance } = await twoMachines(t);
  const announce = async (hours: number) => {
    const body = { machine_ids: [first.machineId, second.machineId], sdate: nowS(world) + hours * HOUR_S };
    const { body: answered } = await send(world, owner, "POST", body, `${PATH}batch/`);
    return answered.results.map((one: { maintenance_id: number }) => one.maintenance_id) as [number, number];
  };
  const [one, two] = await announce(1);
  const [three, four] = await announce(5);
  const cancel = async (by: TestCaller, id: unknown) => {
    const { status, body } = await send(world, by, "DELETE", { maintenance_id: id });
    return [status, body.msg, body.field];
  };
  const none = [400, `You have no maintenance ${one}.`, "maintenance_id"];
  assert.deepEqual(await cancel(renter, one), none, "it is not the renter's to cancel");
  assert.deepEqual(await cancel(owner, one), [200, `Maintenance ${one} is cancelled.`, undefined]);
  assert.deepEqual((await history(world, instance)).at(-1), ["running", "running", "maintenance_cancelled"]);
  assert.deepEqual(await cancel(owner, one), [400, `Maintenance ${one} is cancelled already.`, "maintenance_id"]);
  assert.deepEqual(await cancel(owner, 1_000_000), [400, "You have no maintenance 1000000.", "maintenance_id"]);
  const ids = [one, two, three, 1_000_000];
  const refused = await send(world, renter, "DELETE", { maintenance_ids: ids }, `${PATH}batch/`);
  assert.deepEqual([refused.status, refused.body.success, refused.body.results.length], [400, false, 4]);
  const { status, body } = await send(world, owner, "DELETE", { maintenance_ids: ids }, `${PATH}batch/`);
  assert.deepEqual([status, body.success], [200, true]);
  assert.deepEqual(
    body.results.map((result: { success: boolean; maintenance_id: number }) => [result.maintenance_id, result.success]),
    [
      [one, false],
      [two, true],
      [three, true],
      [1_000_000, false],
    ],
  );
  const left = await find(world, owner, { machine_ids: [first.machineId, second.machineId] });
  assert.deepEqual(
    left.map(({ id }) => id),
    [four],
  );
  world.clock.jump(10 * HOUR_S * 1000);
  assert.deepEqual(await cancel(owner, four), [400, `Maintenance ${four} is over.`, "maintenance_id"]);
});

test("an impossible batch is refused by its field, and announces nothing", async (t) => {
  const { world, owner, renter, first } = await twoMachines(t);
  const sdate = nowS(world) + HOUR_S;
  const machine_ids = [first.machineId];
  for (const [status, field, body] of [
    [400, "machine_ids", { sdate }],
    [400, "machine_ids", { machine_ids: [], sdate }],
    [400, "machine_ids", { machine_ids: Array.from({ length: 101 }, (_, id) => id + 1), sdate }],
    [400, "machine_ids.0", { machine_ids: ["x"], sdate }],
    [400, "duration", { machine_ids, sdate, duration: 0 }],
    [400, "duration", { machine_ids, sdate, duration: -1 }],
    [400, "duration", { machine_ids, sdate, duration: 721 }],
    [400, "maintenance_category", { machine_ids, sdate, maintenance_category: "magic" }],
    [422, "sdate", { machine_ids }],
    [422, "sdate", { machine_ids, sdate: "soon" }],
    [422, "sdate", { machine_ids, sdate: [sdate] }],
    [422, "sdate", { machine_ids, sdate: nowS(world) - 1 }],
    [422, "sdate", { machine_ids, sdate: nowS(world) + 366 * 24 * HOUR_S }],
  ] as const) {
    const answer = await send(world, owner, "POST", body, `${PATH}batch/`);
    assert.deepEqual([answer.status, answer.body.field], [status, field], `${JSON.stringify(body)}: ${answer.text}`);
  }
  const foreign = await send(world, renter, "POST", { machine_ids, sdate }, `${PATH}batch/`);
  assert.deepEqual([foreign.status, foreign.body.success, foreign.body.results.length], [400, false, 1]);
  for (const [field, body] of [
    ["machine_ids", {}],
    ["machine_ids", { machine_ids: [] }],
    ["machine_ids", { machine_ids: "x" }],
    ["ctime", { machine_ids, ctime: -1e15 }],
  ] as const) {
    const answer = await send(world, owner, "POST", body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  assert.equal((await send(world, owner, "DELETE", {})).body.field, "maintenance_id");
  assert.deepEqual(await find(world, owner, { machine_ids }), []);
  const short = await send(world, owner, "POST", { machine_ids, sdate, duration: 0.1 }, `${PATH}batch/`);
  assert.equal(short.status, 200, short.text);
  assert.equal((await find(world, owner, { machine_ids }))[0]?.["duration_hours"], 1, "at least an hour");
});
