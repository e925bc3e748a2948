import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import {
  aFleet,
  anAutoscaler,
  decideNow,
  rentUpTo,
  sayStatus,
  workersOf,
} from "../../../../../test/support/serverless/workers.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { recordNews } from "./report-news-service.ts";
import { readReport } from "./rules/worker-report.ts";

const secret = randomBytes(32);

/** A worker from a template whose container was brought up, on a machine of a stranger unless the owner hosts it. */
async function aWorker(t: TestContext, { isPrivate = false, isOwnMachine = false } = {}) {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1, ...(isOwnMachine ? { owner } : {}) });
  const made = await world.call({
    method: "POST",
    url: "/api/v0/template/",
    secret: owner.secret,
    body: { name: "serving", image: "busybox", env: "-e TOKEN=a-secret", private: isPrivate },
  });
  const { id: templateId, hash_id: templateHash } = made.body.template;
  const group = { template_hash: templateHash, launch_args: "--disk 10" };
  const fleet = await aFleet(world, owner, { group });
  await decideNow(anAutoscaler(world, { secret, decide: rentUpTo(1) }), fleet);
  await host.obey();
  const id = (await workersOf(world, fleet))[0]?.instance_id;
  assert.ok(id !== undefined);
  return { world, owner, host, id, template: { template_id: templateId, template_hash: templateHash } };
}

async function benchmarksSeenBy(world: TestApp, { secret: key }: TestCaller) {
  const { status, body, text } = await world.call({ url: "/api/v0/benchmarks/", secret: key });
  assert.equal(status, 200, text);
  return body.benchmarks;
}

test("the performance that a worker reports is a benchmark, and says that it is the worker's figure", async (t) => {
  const { world, owner, host, id, template } = await aWorker(t);
  await sayStatus(world, host, id, { max_perf: 0 });
  assert.deepEqual(await benchmarksSeenBy(world, owner), [], "nothing was measured yet");
  world.clock.jump(42_000);
  await sayStatus(world, host, id, { loadtime: 3.5, max_perf: 250 });
  const shown = {
    contract_id: id,
    machine_id: host.machineId,
    gpu_name: "RTX 4090",
    num_gpus: 1,
    launch_args: null,
    ...template,
    type: "perf",
    measured_by: "worker",
    dph_base: 0.3,
  };
  const [first, ...others] = await benchmarksSeenBy(world, owner);
  const firstAt = world.clock.now().getTime() / 1000;
  assert.deepEqual(first, { ...shown, id: first.id, image: "busybox:latest", value: 250, last_update: firstAt });
  assert.deepEqual(others, []);

  world.clock.jump(60_000);
  await sayStatus(world, host, id, { max_perf: 300 });
  const stranger = await world.caller();
  const next = { ...shown, id: first.id, image: null, value: 300, last_update: firstAt + 60 };
  assert.deepEqual(await benchmarksSeenBy(world, stranger), [next], "the last figure counts, and the image is hidden");
});

test("a private template is shown to its worker's renter only, and nobody finds it by searching", async (t) => {
  const { world, owner, host, id, template } = await aWorker(t, { isPrivate: true });
  await sayStatus(world, host, id, { loadtime: 3.5, max_perf: 250 });
  const stranger = await world.caller();
  const [own] = await benchmarksSeenBy(world, owner);
  assert.deepEqual([own.template_id, own.template_hash], [template.template_id, template.template_hash]);
  const [foreign] = await benchmarksSeenBy(world, stranger);
  assert.deepEqual([foreign.value, foreign.template_id, foreign.template_hash], [250, null, null]);
  const filters = encodeURIComponent(JSON.stringify({ template_hash: { eq: template.template_hash } }));
  const url = `/api/v0/benchmarks/?select_filters=${filters}`;
  const count = async ({ secret: key }: TestCaller) =>
    (await world.call({ url, secret: key })).body.benchmarks_found as number;
  assert.deepEqual([await count(owner), await count(stranger)], [1, 0]);
});

test("a host's own worker on the host's own machine is no benchmark", async (t) => {
  const { world, owner, host, id } = await aWorker(t, { isOwnMachine: true });
  const said = await sayStatus(world, host, id, { loadtime: 3.5, max_perf: 1e9 });
  assert.equal(said.status, 200, said.text);
  assert.deepEqual(await benchmarksSeenBy(world, owner), []);
});

test("a worker that was seen to serve less than it claims has a benchmark of what was seen", async (t) => {
  const { world, owner, id } = await aWorker(t);
  const say = (max_perf: number, observedPerf: number | undefined) =>
    withTransaction(world.env.database, world.clock, (tx) =>
      recordNews(tx, [{ instanceId: id, report: readReport({ max_perf }), observedPerf }]),
    );
  await say(1000, undefined);
  assert.equal((await benchmarksSeenBy(world, owner))[0].value, 1000);
  await say(1000, 10);
  assert.equal((await benchmarksSeenBy(world, owner))[0].value, 10);
});

test("a worker that fails leaves no benchmark", async (t) => {
  const { world, owner, host, id } = await aWorker(t);
  await sayStatus(world, host, id, { max_perf: 250, error_msg: "no model" });
  assert.deepEqual(await benchmarksSeenBy(world, owner), []);
});
