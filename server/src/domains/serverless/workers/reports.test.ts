import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import {
  aFleet,
  anAutoscaler,
  bringUp,
  decideNow,
  identityOf,
  rentUpTo,
  sayStatus,
  sentencesOf,
  workersOf,
} from "../../../../../test/support/serverless/workers.ts";
import { WorkerReports } from "./reports-service.ts";
import { readReport, readSpeaker } from "./rules/worker-report.ts";

const secret = randomBytes(32);

/** A worker whose container was brought up and that has not reported yet. */
async function aWorker(t: TestContext) {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  const autoscaler = anAutoscaler(world, { secret, decide: rentUpTo(1) });
  await decideNow(autoscaler, fleet);
  await host.obey();
  const id = Number((await workersOf(world, fleet))[0]?.instance_id);
  const row = async () => {
    const { rows } = await world.env.pool.query("select * from endpoint_workers where instance_id = $1", [id]);
    return rows[0];
  };
  return { world, owner, host, fleet, id, row };
}

test("the reports of the published worker make a worker ready, with times by the server's clock", async (t) => {
  const { world, host, fleet, id, row } = await aWorker(t);
  world.clock.jump(42_000);
  const loading = await sayStatus(world, host, id);
  assert.deepEqual([loading.status, loading.body], [200, { success: true }]);
  assert.equal((await row()).ready_at, null);
  const ready = await sayStatus(world, host, id, {
    id: String(id),
    loadtime: 3.5,
    max_perf: 250,
    num_requests_recieved: 7,
    of_another_release: { a: 1 },
  });
  assert.equal(ready.status, 200, ready.text);
  const { ready_at: readyAt, claimed_perf: claimed, first_start_ms: tookMs, url, version } = await row();
  assert.deepEqual(
    [readyAt, claimed, Number(tookMs), url, version],
    [world.clock.now(), 250, 42_000, "http://192.0.2.1:40000", "0.2.1"],
  );
  const said = await sentencesOf(world, fleet);
  assert.ok(
    said.includes(
      `Worker ${id} is ready 42 seconds after it was ordered to start and says that it serves 250 units a second.`,
    ),
    said.join("\n"),
  );
});

test("an unknown worker and a wrong token look the same, and both forms of requests are taken", async (t) => {
  const { world, host, id } = await aWorker(t);
  const { mtoken } = identityOf(host, id);
  const send = async (url: string, body: object) => {
    const { status, body: answer } = await world.call({ method: "POST", url, body });
    return [status, typeof answer.error];
  };
  const refused = [401, "string"];
  for (const given of [id, id + 1, 0, -1, 2 ** 40, "x", null, {}]) {
    assert.deepEqual(await send("/worker_status/", { id: given, mtoken: "wrong" }), refused, String(given));
    assert.deepEqual(await send("/delete_requests/", { worker_id: given, mtoken: "wrong" }), refused, String(given));
  }
  assert.deepEqual(await send("/worker_status/", { id: id + 1, mtoken }), refused);
  assert.deepEqual(await send("/worker_status/", {}), refused);
  const done = { worker_id: id, mtoken };
  const requests = [{ request_idx: 5, success: true, status: "Success", entered_queue_at: 1, work_started_at: 2 }];
  assert.deepEqual(await send("/delete_requests/", { ...done, requests }), [200, "undefined"]);
  assert.deepEqual(await send("/delete_requests/", { ...done, request_idxs: [5, 6], success: true }), [
    200,
    "undefined",
  ]);
});

test("a worker can have requests sent to its own address only", async (t) => {
  const { world, host, id, row } = await aWorker(t);
  for (const url of [
    "http://198.51.100.7:40000",
    "http://192.0.2.1:22",
    "http://192.0.2.1:40000/path",
    "http://192.0.2.1:40000@198.51.100.7",
    "http://u:p@192.0.2.1:40000",
    "ftp://192.0.2.1:40000",
    "http://localhost:40000",
    "nonsense",
  ]) {
    const { status, body } = await sayStatus(world, host, id, { url, loadtime: 1 });
    assert.deepEqual([status, body.field], [400, "url"], url);
  }
  assert.deepEqual([(await row()).url, (await row()).ready_at], ["", null]);
  assert.equal((await sayStatus(world, host, id, { url: "https://192.0.2.1:40000/", loadtime: 1 })).status, 200);
  assert.equal((await row()).url, "https://192.0.2.1:40000");
});

test("a host in a private network serves workers once the operator answers for it", async (t) => {
  const { world, host, id, row } = await aWorker(t);
  const { pool } = world.env;
  await pool.query("update agent_credentials set is_trusted = false");
  await pool.query("update machines set verification = 'verified', is_verification_fixed = false");
  const refused = await sayStatus(world, host, id, { loadtime: 1 });
  assert.deepEqual([refused.status, refused.body.field, (await row()).url], [400, "url", ""]);
  assert.match(String(refused.body.msg), /private network/);
  await pool.query("update machines set is_verification_fixed = true");
  assert.equal((await sayStatus(world, host, id, { loadtime: 1 })).status, 200);
});

test("a worker that reports before its host did is asked to report again", async (t) => {
  const { world, host, id, row } = await aWorker(t);
  await world.env.pool.query("update instances set observed_state = 'starting' where id = $1", [id]);
  const early = await sayStatus(world, host, id, { loadtime: 1 });
  assert.deepEqual([early.status, early.body.error], [503, "address_unknown"]);
  await world.env.pool.query("update instances set observed_state = 'running' where id = $1", [id]);
  assert.equal((await sayStatus(world, host, id, { loadtime: 1 })).status, 200);
  assert.notEqual((await row()).ready_at, null);
});

test("reports without news are written now and then, and their counts are not lost", async (t) => {
  const { world, host, id, row } = await aWorker(t);
  await bringUp(world, host, [id]);
  const readyAt = (await row()).reported_at;
  world.clock.jump(1_000);
  await sayStatus(world, host, id, { additional_disk_usage: 0.5 });
  assert.deepEqual((await row()).reported_at, readyAt, "one second later");
  world.clock.jump(5_000);
  await sayStatus(world, host, id, { additional_disk_usage: 0.25, cur_load: 10, num_requests_working: 2 });
  const { reported_at: reportedAt, disk_usage_gb: disk, current_load: load, working_count: count } = await row();
  assert.deepEqual([reportedAt, disk, load, count], [world.clock.now(), 0.75, 10, 2]);
});

test("reports that are stored together keep the counts of each", async (t) => {
  const { world, host, id, row } = await aWorker(t);
  await bringUp(world, host, [id]);
  const { clock, app, env } = world;
  const { database } = env;
  const gatherMs = 60_000;
  const reports = new WorkerReports({ database, clock, routers: app.routers, gatherMs, onTurn: () => {} });
  const speaker = readSpeaker(identityOf(host, id), "id");
  await reports.requireWorker(speaker);
  const said = [
    { additional_disk_usage: 0.5, new_load: 3, cur_load: 3, num_requests_working: 1 },
    { additional_disk_usage: 0.25, cur_load: 7 },
  ];
  const reported: Promise<void>[] = [];
  for (const body of said) {
    clock.advance(10_000);
    reported.push(reports.report(speaker, readReport(body)));
    // The report itself is not delayed: by now it is among those that are gathered.
    await new Promise(setImmediate);
  }
  assert.equal((await row()).disk_usage_gb, 0, "they wait to be stored together");
  clock.advance(gatherMs);
  await Promise.all(reported);
  const { disk_usage_gb: disk, current_load: load, active_at: activeAt } = await row();
  assert.deepEqual([disk, load, activeAt], [0.75, 7, clock.now()]);
});

test("a worker that serves less than it claims is found out, and the measurement counts", async (t) => {
  const { world, host, fleet, id, row } = await aWorker(t);
  await sayStatus(world, host, id, { loadtime: 1, max_perf: 1000 });
  for (let second = 0; second < 16; second += 1) {
    world.clock.jump(1_000);
    await sayStatus(world, host, id, {
      max_perf: 1000,
      cur_perf: 100,
      new_load: 100,
      cur_load: 5_000,
      num_requests_working: 50,
    });
  }
  assert.ok(Math.abs((await row()).observed_perf - 100) < 1);
  const said = await sentencesOf(world, fleet);
  assert.equal(said.filter((sentence) => sentence.includes("what was seen counts")).length, 1, said.join("\n"));
});

test("a report of a destroyed worker is refused", async (t) => {
  const { world, owner, host, id, fleet } = await aWorker(t);
  await bringUp(world, host, [id]);
  const { mtoken, url } = identityOf(host, id);
  const { secret: key } = owner;
  await world.call({ method: "DELETE", url: `/api/v0/endptjobs/${fleet.endpointId}/`, secret: key, body: {} });
  world.clock.jump(10_000);
  const answer = await world.call({ method: "POST", url: "/worker_status/", body: { id, mtoken, url, cur_load: 1 } });
  assert.equal(answer.status, 401);
});

test("a restarted worker is reached by the ports of its present container, even if it does not report them", async (t) => {
  const { world, host, id, row } = await aWorker(t);
  await bringUp(world, host, [id]);
  const restartWith = (ports: object) =>
    world.env.pool.query(
      `update instances set generation = generation + 1, observed_generation = generation + 1, observed_ports = $2
       where id = $1`,
      [id, JSON.stringify(ports)],
    );
  const url = (await row()).url;
  await restartWith({ "3000/tcp": 40_000 });
  assert.equal((await sayStatus(world, host, id, { url: "", loadtime: 1 })).status, 200);
  assert.equal((await row()).url, url);
  await restartWith({ "3000/tcp": 40_007 });
  assert.equal((await sayStatus(world, host, id, { url: "", loadtime: 1 })).status, 200);
  assert.equal((await row()).url, "", "the port may be somebody else's by now");
  const said = await sayStatus(world, host, id, { url: "http://192.0.2.1:40007" });
  assert.deepEqual([said.status, (await row()).url], [200, "http://192.0.2.1:40007"]);
});

test("a worker that sends endless news is slowed down, and does not fill the log", async (t) => {
  const { world, host, fleet, id } = await aWorker(t);
  await bringUp(world, host, [id]);
  const statuses: number[] = [];
  for (let count = 0; count < 80; count += 1) {
    statuses.push((await sayStatus(world, host, id, { version: `of ${count}` })).status);
  }
  assert.deepEqual([statuses.at(0), statuses.at(-1)], [200, 429]);
  world.clock.jump(1_000);
  assert.equal((await sayStatus(world, host, id)).status, 200);
  assert.ok((await sentencesOf(world, fleet)).length < 10);
});
