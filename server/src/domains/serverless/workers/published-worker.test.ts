import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import {
  aFleet,
  anAutoscaler,
  decideNow,
  identityOf,
  rentUpTo,
  sentencesOf,
  workersOf,
} from "../../../../../test/support/serverless/workers.ts";

const secret = randomBytes(32);

type Figures = {
  readonly loadtime?: string;
  readonly maxPerf?: string;
  readonly served?: string;
  readonly current?: string;
  readonly working?: readonly (number | null)[];
  readonly addedDisk?: string;
  readonly error?: string;
};

/** A worker whose container runs, and the requests of the published program in it, byte by byte. */
async function aPublishedWorker(t: TestContext, group: Readonly<Record<string, unknown>> = {}) {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner, { group });
  const autoscaler = anAutoscaler(world, { secret, decide: rentUpTo(1) });
  await decideNow(autoscaler, fleet);
  await host.obey();
  const id = Number((await workersOf(world, fleet))[0]?.instance_id);
  const { mtoken, url } = identityOf(host, id);
  const headers = {
    accept: "*/*",
    "accept-encoding": "gzip, deflate",
    "user-agent": "Python/3.11 aiohttp/3.14.5",
    connection: "close",
  };
  const post = (url: string, text: string) => world.call({ method: "POST", url, text, headers });
  /**
   * A report as Python's encoder writes it: a space after each colon and comma, and fractions for all measured
   * numbers.
   */
  const status = (said: Figures = {}) =>
    post(
      "/worker_status/",
      `{"id": ${id}, "mtoken": "${mtoken}", "version": "1.1.0", "loadtime": ${said.loadtime ?? "0.0"}, ` +
        `"cur_load": ${said.current ?? "0"}, "rej_load": 0, "new_load": ${said.served ?? "0.0"}, ` +
        `"error_msg": "${said.error ?? ""}", "max_perf": ${said.maxPerf ?? "0.0"}, "cur_perf": ${said.served ?? "0"}, ` +
        `"cur_capacity": 0, "max_capacity": 0, "num_requests_working": ${said.working?.length ?? 0}, ` +
        `"num_requests_recieved": 7, "additional_disk_usage": ${said.addedDisk ?? "0.0"}, ` +
        `"disk_usage": 41.25, "working_request_idxs": ${JSON.stringify(said.working ?? []).replaceAll(",", ", ")}, ` +
        `"url": "${url}"}`,
    );
  const row = async () => {
    const { rows } = await world.env.pool.query("select * from endpoint_workers where instance_id = $1", [id]);
    return rows[0];
  };
  const env = new Map(host.order(id)?.env.map(([name, value]) => [name, value]));
  return { world, fleet, id, mtoken, env, post, status, row };
}

test("the published start script is told not to request a certificate from its maker, unless the renter wants it to", async (t) => {
  const { env, id } = await aPublishedWorker(t);
  assert.deepEqual(
    ["USE_SSL", "WORKER_PORT", "CONTAINER_ID", "SERVERLESS"].map((name) => env.get(name)),
    ["false", "3000", String(id), "true"],
  );
  const own = await aPublishedWorker(t, { launch_args: "--image busybox --disk 10 --env '-e USE_SSL=true'" });
  assert.equal(own.env.get("USE_SSL"), "true");
});

test("a failure before the program runs is known from the short report of its start script", async (t) => {
  const { world, fleet, id, mtoken, post } = await aPublishedWorker(t);
  const said =
    `{\n  "id": ${id},\n  "mtoken": "${mtoken}",\n  "version": "0",\n` +
    '  "error_msg": "Failed to install Python requirements",\n  "url": ""\n}';
  assert.equal((await post("/worker_status/", said)).status, 200);
  const told = await sentencesOf(world, fleet);
  assert.ok(
    told.some((sentence) => sentence.includes("it says: Failed to install Python requirements")),
    told.join("\n"),
  );
});

test("a worker that repeats the duration of its start in every report became ready once", async (t) => {
  const { world, fleet, status, row } = await aPublishedWorker(t);
  assert.equal((await status()).status, 200);
  world.clock.jump(30_000);
  assert.equal((await status({ loadtime: "28.913462400436401", maxPerf: "1000.0" })).status, 200);
  const { ready_at: readyAt, first_start_ms: tookMs } = await row();
  assert.deepEqual([readyAt, Number(tookMs)], [world.clock.now(), 30_000]);
  const again = async () => {
    world.clock.jump(1_000);
    assert.equal((await status({ loadtime: "28.913462400436401", maxPerf: "1000.0" })).status, 200);
    return (await row()).reported_at;
  };
  const toldAt = await again();
  assert.deepEqual([await again(), await again()], [toldAt, toldAt], "it said nothing new");
  assert.deepEqual((await row()).ready_at, readyAt);
  const said = await sentencesOf(world, fleet);
  assert.equal(said.filter((sentence) => sentence.includes("is ready")).length, 1, said.join("\n"));
});

test("the performance of a worker is measured although it repeats the duration of its start in every report", async (t) => {
  const { world, fleet, status, row } = await aPublishedWorker(t);
  for (let second = 0; second < 16; second += 1) {
    world.clock.jump(1_000);
    const said = { loadtime: "5.5", maxPerf: "1000.0", served: "100.0", current: "5000.0", working: [4, 5] };
    assert.equal((await status(said)).status, 200);
  }
  assert.ok(Math.abs((await row()).observed_perf - 100) < 1);
  const lies = (await sentencesOf(world, fleet)).filter((sentence) => sentence.includes("what was seen counts"));
  assert.equal(lies.length, 1);
});

test("a worker that was stopped and is started again becomes ready again", async (t) => {
  const { world, id, status, row } = await aPublishedWorker(t);
  await status({ loadtime: "5.5", maxPerf: "10.0" });
  await world.env.pool.query(
    "update instances set generation = generation + 1, observed_generation = generation + 1 where id = $1",
    [id],
  );
  world.clock.jump(60_000);
  await status();
  world.clock.jump(10_000);
  await status({ loadtime: "9.25", maxPerf: "10.0" });
  const { ready_at: readyAt, warm_start_ms: warmMs } = await row();
  assert.deepEqual([readyAt, warmMs !== null], [world.clock.now(), true]);
});

test("two starts of the same duration, to the second, are two starts", async (t) => {
  const { world, id, status, row } = await aPublishedWorker(t);
  await status({ loadtime: "12", maxPerf: "10.0" });
  await world.env.pool.query(
    "update instances set generation = generation + 1, observed_generation = generation + 1 where id = $1",
    [id],
  );
  world.clock.jump(60_000);
  await status({ loadtime: "12", maxPerf: "10.0" });
  assert.deepEqual((await row()).ready_at, world.clock.now());
});

test("a start that was not accepted in its first report is accepted in the next one", async (t) => {
  const { world, id, status, row } = await aPublishedWorker(t);
  const setPhase = (phase: string) =>
    world.env.pool.query("update instances set phase = $2 where id = $1", [id, phase]);
  await setPhase("scheduled");
  assert.equal((await status({ loadtime: "5.5", maxPerf: "10.0" })).status, 200);
  assert.equal((await row()).ready_at, null);
  await setPhase("running");
  assert.equal((await status({ loadtime: "5.5", maxPerf: "10.0" })).status, 200);
  assert.deepEqual((await row()).ready_at, world.clock.now());
});

test("disk that is given back is subtracted, and never more than there was", async (t) => {
  const { world, status, row } = await aPublishedWorker(t);
  await status({ loadtime: "5.5", maxPerf: "10.0", addedDisk: "2.5" });
  world.clock.jump(6_000);
  await status({ loadtime: "5.5", maxPerf: "10.0", addedDisk: "-1.0" });
  assert.equal((await row()).disk_usage_gb, 1.5);
  world.clock.jump(6_000);
  await status({ loadtime: "5.5", maxPerf: "10.0", addedDisk: "-7.0" });
  assert.equal((await row()).disk_usage_gb, 0);
});

test("a list of finished requests is taken whole, at any length and with any ids that clients chose", async (t) => {
  const { mtoken, id, post } = await aPublishedWorker(t);
  const entry = (idx: string, status: string) =>
    `{"request_idx": ${idx}, "success": ${status === "Success" ? "true" : "false"}, "status": "${status}", ` +
    `"entered_queue_at": 1763781234.1234567, "work_started_at": 0.0, "work_completed_at": 0.0}`;
  const send = (entries: readonly string[]) =>
    post("/delete_requests/", `{"worker_id": ${id}, "mtoken": "${mtoken}", "requests": [${entries.join(", ")}]}`);
  // A session is opened with any data that its client sends along.
  const odd = [
    entry("null", "SessionActive"),
    entry('"x"', "Started"),
    entry("1.5", "Cancelled"),
    entry("3", "Success"),
  ];
  assert.equal((await send(odd)).status, 200);
  // Finished requests that could not be reported for a while come all at once, and again until they are taken.
  const many = Array.from({ length: 20_000 }, (_, index) => entry(String(index + 1), "Success"));
  assert.equal((await send(many)).status, 200);
});
