import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { deployed, shown, someCode } from "../../../../../test/support/serverless/deployments.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { stubbornInstances } from "../../../../../test/support/database/stubborn-instances.ts";
import {
  anAutoscaler,
  bringUp,
  decideNow,
  orders,
  rentUpTo,
  sayStatus,
  workersOf,
} from "../../../../../test/support/serverless/workers.ts";
import { asId, type EndpointGroupId, type WorkerGroupId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Action } from "../autoscaling/rules/types.ts";
import { retryWorkerRemoval } from "../workers/retry-removal-loop.ts";
import { removeOwnDeployment } from "./deployment-service.ts";

const secret = randomBytes(32);

/** A deployment with one worker that is up and ready. */
async function aServing(world: TestApp, owner: TestCaller, more: Readonly<Record<string, unknown>> = {}) {
  const host = await world.host({ gpus: 1 });
  const code = someCode();
  const deployment = await deployed(world, owner, code, more);
  const fleet = {
    endpointId: asId<EndpointGroupId>(deployment.endpointId),
    groupId: asId<WorkerGroupId>(deployment.groupId),
  };
  const autoscaler = anAutoscaler(world, { secret, decide: rentUpTo(1), reportAddress: "https://gpu.example" });
  await decideNow(autoscaler, fleet);
  await host.synced();
  const [worker] = await workersOf(world, fleet);
  assert.ok(worker);
  const env = new Map(host.order(worker.instance_id)?.env.map(([name, value]) => [name, value]));
  return { host, code, deployment, fleet, autoscaler, workerId: worker.instance_id, env };
}

test("a worker learns its deployment, its key authorises that one alone, and a ready worker proves the version", async (t) => {
  const world = await testApp(t, { secret });
  const [owner, stranger] = [await world.caller(), await world.caller()];
  const { host, code, deployment, workerId, env } = await aServing(world, owner);
  const names = ["IS_DEPLOYMENT", "DEPLOYMENT_ID", "VAST_API_URL", "REPORT_ADDR"];
  assert.deepEqual(
    names.map((name) => env.get(name)),
    ["true", String(deployment.id), "https://gpu.example", "https://gpu.example"],
  );
  const key = env.get("CONTAINER_API_KEY");
  const linkOf = (id: number) => world.call({ url: `/api/v0/deployment/${id}/download_url/`, secret: key });
  const own = await linkOf(deployment.id);
  assert.equal(own.status, 200, own.text);
  assert.ok(code.bytes.equals((await world.call({ url: new URL(own.body.download_url).pathname })).bytes));
  const other = await deployed(world, owner, code, { name: "other" });
  const foreign = await deployed(world, stranger, code);
  const refusals = await Promise.all([other.id, foreign.id, 2_000_000_000, 0].map(linkOf));
  assert.deepEqual(new Set(refusals.map(({ status, body }) => `${status} ${body.msg}`)).size, 1);
  assert.equal(refusals[0]?.status, 403);
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["GET", "versions/"],
    ["POST", "stop/"],
    ["POST", "heartbeat/"],
  ] as const) {
    const url = `/api/v0/deployment/${deployment.id}/${path}`;
    assert.equal((await world.call({ method, url, secret: key })).status, 403, `${method} ${path}`);
  }
  await world.runLoop("tend-deployments");
  assert.equal((await shown(world, owner, deployment.id)).last_healthy_version_id, null);
  await bringUp(world, host, [workerId]);
  assert.deepEqual(await world.runLoop("tend-deployments"), { removed: 0, healthy: 1 });
  const {
    current_version_id: current,
    last_healthy_version_id: healthy,
    worker_count: count,
  } = await shown(world, owner, deployment.id);
  assert.deepEqual([healthy, count], [current, 1]);
});

test("a worker does not fetch code from a loopback address of its client, but from any other address that the client names", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const byDefault = ["https://gpu.example", "https://gpu.example"];
  const serverOf = async (name: string, options: string) => {
    const { env } = await aServing(world, owner, { name, env: options });
    return [env.get("REPORT_ADDR"), env.get("VAST_API_URL")];
  };
  const local = ["http://127.0.0.1:8080", "http://localhost:8080/", "http://[::1]:8080"];
  for (const [index, address] of local.entries()) {
    const options = `-p 3000:3000/tcp -e REPORT_ADDR=${address} -e VAST_API_URL=${address}`;
    assert.deepEqual(await serverOf(`local-${index}`, options), byDefault, address);
  }
  const own = "-e REPORT_ADDR=http://10.1.2.3:8080 -e VAST_API_URL=https://localhost.example";
  assert.deepEqual(await serverOf("own", own), ["http://10.1.2.3:8080", "https://localhost.example"]);
});

test("new code recreates a worker, and does not count as healthy before that worker is ready", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const { host, deployment, fleet, workerId } = await aServing(world, owner);
  await bringUp(world, host, [workerId]);
  await world.runLoop("tend-deployments");
  const before = (await shown(world, owner, deployment.id)).current_version_id;
  await deployed(world, owner, someCode());
  await world.runLoop("tend-deployments");
  const updated = await shown(world, owner, deployment.id);
  assert.notEqual(updated.current_version_id, before);
  assert.equal(updated.last_healthy_version_id, before);
  const obey = (kind: "drain" | "update") =>
    anAutoscaler(world, {
      secret,
      decide: ({ workers }) =>
        orders(
          ...workers.map(({ id }): Action =>
            kind === "drain"
              ? { kind, workerId: id, to: "update", why: "a test" }
              : { kind, workerId: id, why: "a test" },
          ),
        ),
    });
  await decideNow(obey("drain"), fleet);
  world.clock.jump(6_000);
  await sayStatus(world, host, workerId);
  const generation = host.order(workerId)?.generation;
  await decideNow(obey("update"), fleet);
  await host.synced();
  assert.notEqual(host.order(workerId)?.generation, generation, "its container is recreated");
  await bringUp(world, host, [workerId]);
  await world.runLoop("tend-deployments");
  const { last_healthy_version_id: healthy } = await shown(world, owner, deployment.id);
  assert.equal(healthy, updated.current_version_id);
});

test("a deployment is deleted with its endpoint, its workers and its code", async (t) => {
  const world = await testApp(t, { secret });
  const [owner, stranger] = [await world.caller(), await world.caller()];
  const { deployment, fleet, host, workerId } = await aServing(world, owner);
  await bringUp(world, host, [workerId]);
  const call = (method: "DELETE" | "POST", path: string, by = owner, body?: object) =>
    world.call({ method, url: `/api/v0/${path}`, secret: by.secret, body });
  const stopped = await call("POST", `deployment/${deployment.id}/stop/`);
  assert.deepEqual(stopped.body, { success: true, endpoint_state: "stopped" });
  assert.equal((await shown(world, owner, deployment.id)).endpoint_state, "stopped");
  assert.equal((await call("POST", `deployment/${deployment.id}/start/`)).body.endpoint_state, "active");
  for (const path of ["", "start/", "stop/", "heartbeat/"]) {
    const method = path === "" ? "DELETE" : "POST";
    const foreign = await call(method, `deployment/${deployment.id}/${path}`, stranger);
    assert.deepEqual([foreign.status, foreign.body.error], [404, "no_such_deployment"]);
  }
  const byStranger = await call("DELETE", "deployments/", stranger, { name: "square" });
  assert.deepEqual(byStranger.body, { success: true, count: 0 });
  await deployed(world, owner, someCode(), { tag: "blue" });
  const blue = await call("DELETE", "deployments/", owner, { name: "square", tag: "blue" });
  assert.deepEqual(blue.body, { success: true, count: 1 });
  assert.deepEqual((await call("DELETE", `deployment/${deployment.id}/`)).body, { success: true });
  assert.equal((await world.call({ url: `/api/v0/deployment/${deployment.id}/`, secret: owner.secret })).status, 404);
  assert.deepEqual(await workersOf(world, fleet), []);
  const { rows } = await world.env.pool.query("select desired from instances where id = $1", [workerId]);
  assert.deepEqual(rows, [{ desired: "destroyed" }]);
  // The versions and their code are deleted once the machines are free.
  const { database } = world.env;
  const means = { database, clock: world.clock, maxPerRun: 10 };
  await retryWorkerRemoval(means, world.clock.now());
  const { rows: left } = await world.env.pool.query(
    `select (select count(*) from deployments) + (select count(*) from deployment_versions)
       + (select count(*) from deployment_file_pieces) + (select count(*) from endpoint_groups) as count`,
  );
  assert.equal(Number(left[0].count), 0);
  await world.assertBooks();
});

test("a worker that cannot be removed stays tracked when its deployment is gone, and is tried again", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const { deployment, fleet } = await aServing(world, owner);
  const { database } = world.env;
  const stubborn = await stubbornInstances(world.env);
  const [worker] = await workersOf(world, fleet);
  await stubborn.refuse(Number(worker?.instance_id));
  await withTransaction(database, world.clock, (tx) =>
    removeOwnDeployment(tx, { userId: owner.id, id: deployment.id }),
  );
  assert.equal((await world.call({ url: `/api/v0/deployment/${deployment.id}/`, secret: owner.secret })).status, 404);
  assert.deepEqual(
    (await workersOf(world, fleet)).map(({ state }) => state),
    ["removing"],
  );
  await stubborn.allow(Number(worker?.instance_id));
  world.clock.jump(5_000);
  const means = { database, clock: world.clock, maxPerRun: 10 };
  const { removed, groupsDeleted } = await retryWorkerRemoval(means, world.clock.now());
  assert.deepEqual([removed, groupsDeleted, await workersOf(world, fleet)], [1, 1, []]);
});
