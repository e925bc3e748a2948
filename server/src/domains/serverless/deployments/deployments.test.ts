import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import {
  deployBody,
  deployed,
  put,
  shown,
  someCode,
  upload,
  versionsOf,
} from "../../../../../test/support/serverless/deployments.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import {
  anAutoscaler,
  bringUp,
  decideNow,
  orders,
  rentUpTo,
  sayStatus,
  workersOf,
} from "../../../../../test/support/serverless/workers.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { stubbornInstances } from "../../../../../test/support/database/stubborn-instances.ts";
import { retryWorkerRemoval } from "../workers/retry-removal-loop.ts";
import { removeOwnDeployment } from "./deployment-service.ts";
import type { Action } from "../autoscaling/rules/types.ts";
import { asId, type EndpointGroupId, type WorkerGroupId } from "../../../base/ids.ts";

const secret = randomBytes(32);

async function groupOf({ env }: TestApp, id: number) {
  const { rows } = await env.pool.query("select * from worker_groups where id = $1", [id]);
  return rows[0];
}

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

test("a request makes an endpoint at once, and workers once the code is there", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const code = someCode(2_500_000);
  const env = "-e A='b c' -p 8000:8000";
  const made = await put(world, owner, code, { tag: "blue", env, search_params: "num_gpus=1", ttl: 120 });
  assert.equal(made.status, 200, made.text);
  const { upload_url: _url, upload_fields: _fields, ...answer } = made.body;
  const { deployment_id: id, endpoint_id: endpointId } = answer;
  assert.deepEqual(answer, { success: true, action: "created", deployment_id: id, endpoint_id: endpointId });
  assert.equal((await shown(world, owner, id)).current_version_id, null);
  const { body: groups } = await world.call({ url: "/api/v0/workergroups/", secret: owner.secret });
  assert.deepEqual(groups.results, [], "no worker is paid for before it could run");

  assert.equal((await upload(world, made.body, code.bytes)).status, 200);
  const [version] = await versionsOf(world, owner, id);
  const deployment = await shown(world, owner, id);
  const { created_at: created, updated_at: updated, last_client_heartbeat: heartbeat, ...record } = deployment;
  for (const time of [created, updated, heartbeat]) assert.equal(typeof time, "number");
  assert.deepEqual(record, {
    id,
    name: "square",
    tag: "blue",
    image: "busybox",
    env,
    file_hash: code.hash,
    s3_key: `deployments/${id}/${code.hash}.tar.gz`,
    search_params: "num_gpus=1",
    storage: 10,
    ttl: 120,
    endpoint_id: endpointId,
    endpoint_state: "active",
    workergroup_id: record.workergroup_id,
    worker_count: 0,
    current_version_id: version.id,
    last_healthy_version_id: null,
  });
  assert.deepEqual([version.state, version.is_current, version.file_size], ["complete", true, 2_500_000]);
  const { body: shownEndpoint } = await world.call({
    url: `/api/v0/endptjobs/${endpointId}/`,
    secret: owner.secret,
  });
  assert.deepEqual([shownEndpoint.result.endpoint_name, shownEndpoint.result.max_workers], ["square-blue", 3]);

  const { body: link } = await world.call({
    url: `/api/v0/deployment/${id}/download_url/`,
    secret: owner.secret,
  });
  const fetched = await world.call({ url: new URL(link.download_url).pathname });
  assert.deepEqual([fetched.status, fetched.headers["content-type"]], [200, "application/gzip"]);
  assert.ok(code.bytes.equals(fetched.bytes), "the code comes back to the byte");
  world.clock.jump(601_000);
  assert.equal((await world.call({ url: new URL(link.download_url).pathname })).status, 404);
});

test("each change is answered with the action that follows from it, and a repeated request with no change", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const [first, second] = [someCode(), someCode()];
  const { id, endpointId, groupId } = await deployed(world, owner, first);
  const change = async (code: typeof first, more: object = {}) => {
    const { body } = await put(world, owner, code, { ...more });
    assert.deepEqual([body.deployment_id, body.endpoint_id, body.workergroup_id], [id, endpointId, groupId]);
    return [body.action, (await groupOf(world, groupId)).generation, body.upload_url !== undefined];
  };
  assert.deepEqual(await change(first), ["exists", 1, false]);
  assert.deepEqual(await change(first, { max_workers: 5 }), ["autoscale_update", 1, false]);
  assert.deepEqual(await change(first, { search_params: "num_gpus=1" }), ["autoscale_update", 1, false]);
  assert.deepEqual(await change(first, { search_params: "num_gpus=1", ttl: 60 }), ["autoscale_update", 1, false]);
  assert.deepEqual(await change(first, { max_workers: 3 }), ["autoscale_update", 1, false]);
  const other = await put(world, owner, second);
  assert.equal(other.body.action, "soft_update");
  assert.equal((await groupOf(world, groupId)).generation, 1, "workers keep their code until the new one is there");
  assert.deepEqual(await change(second), ["exists", 1, true]);
  assert.equal((await upload(world, other.body, second.bytes)).status, 200);
  const { generation, is_updating: isUpdating } = await groupOf(world, groupId);
  assert.deepEqual([generation, isUpdating], [2, true]);
  assert.deepEqual(await change(first), ["soft_update", 3, false], "code that is there is not asked for again");
  assert.deepEqual(await change(first, { image: "alpine" }), ["soft_update", 4, false]);
  assert.deepEqual(await change(first, { image: "alpine", env: "-e A=b" }), ["soft_update", 5, false]);
  const login = { docker_login_user: "me", docker_login_pass: "it's secret" };
  assert.deepEqual(await change(first, { ...login, image: "alpine", env: "-e A=b" }), ["soft_update", 6, false]);
  assert.deepEqual(await change(first, { ...login, image: "alpine", env: "-e A=b" }), ["exists", 6, false]);
  const listed = await world.call({ url: "/api/v0/workergroups/", secret: owner.secret });
  const group = listed.body.results.find((one: { readonly id: number }) => one.id === groupId);
  assert.equal(group.launch_args, "--image 'alpine' --disk 10 --env '-e A=b' --args");
  const everything = JSON.stringify([await shown(world, owner, id), await versionsOf(world, owner, id)]);
  assert.ok(!everything.includes("secret"), "a login is in no answer");
  assert.equal((await put(world, owner, first, { tag: "green" })).body.action, "created");
});

test("an invalid request is refused by the name of its field, and makes nothing", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const code = someCode();
  const wrong: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ name: "" }, "name"],
    [{ name: "a\nb" }, "name"],
    [{ tag: "x".repeat(51) }, "tag"],
    [{ file_hash: "abc" }, "file_hash"],
    [{ file_size: 0 }, "file_size"],
    [{ file_size: 300_000_000 }, "file_size"],
    [{ image: "" }, "image"],
    [{ image: "not an image" }, "image"],
    [{ env: `-e A=${"b".repeat(25_000)}` }, "env"],
    [{ storage: 1 }, "storage"],
    [{ ttl: 0 }, "ttl"],
    [{ search_params: "gpu_nmae=x" }, "gpu_nmae"],
    [{ max_workers: 0 }, "max_workers"],
    [{ endpoint_state: "asleep" }, "endpoint_state"],
    [{ docker_login_user: "me" }, "docker_login_pass"],
  ];
  for (const [more, field] of wrong) {
    const refused = await put(world, owner, code, more);
    assert.equal(refused.status, 400, `${JSON.stringify(more)} ${refused.text}`);
    assert.ok(refused.text.includes(field), `${JSON.stringify(more)} ${refused.text}`);
  }
  const { body } = await world.call({ url: "/api/v0/deployments/", secret: owner.secret });
  assert.deepEqual(body, { success: true, deployments: [] });
  const { body: endpoints } = await world.call({ url: "/api/v0/endptjobs/", secret: owner.secret });
  assert.deepEqual(endpoints.results, []);
});

test("two concurrent requests make one deployment", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const code = someCode();
  const both = await Promise.all([put(world, owner, code), put(world, owner, code)]);
  assert.deepEqual(new Set(both.map(({ body }) => body.action)), new Set(["created", "exists"]));
  const { body } = await world.call({ url: "/api/v0/endptjobs/", secret: owner.secret });
  assert.equal(body.results.length, 1);
});

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

test("a deployment whose client is silent for longer than its ttl is deleted, and a heartbeat extends its time", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const mortal = await deployed(world, owner, someCode(), { ttl: 60 });
  await deployed(world, owner, someCode(), { name: "for ever" });
  const beat = () =>
    world.call({ method: "POST", url: `/api/v0/deployment/${mortal.id}/heartbeat/`, secret: owner.secret });
  const names = async () => {
    const { body } = await world.call({ url: "/api/v0/deployments/", secret: owner.secret });
    return body.deployments.map((one: { readonly name: string }) => one.name);
  };
  world.clock.jump(59_000);
  assert.equal((await beat()).status, 200);
  world.clock.jump(59_000);
  assert.deepEqual(await world.runLoop("tend-deployments"), { removed: 0, healthy: 0 });
  world.clock.jump(1_000);
  const runs = await Promise.all([world.runLoop("tend-deployments"), world.runLoop("tend-deployments")]);
  assert.deepEqual(new Set(runs.map((run) => (run as { readonly removed: number }).removed)), new Set([0, 1]));
  assert.deepEqual(await names(), ["for ever"]);
  assert.equal((await beat()).status, 404);
});

test("the newest ten versions are kept, with the running one and the last healthy one", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const code = someCode();
  const { id } = await deployed(world, owner, code);
  const [first] = await versionsOf(world, owner, id);
  for (let count = 0; count < 10; count += 1) {
    assert.equal(
      (await put(world, owner, code, { env: `-e N=${count}` })).body.evicted_versions === undefined,
      count < 9,
    );
  }
  const versions = await versionsOf(world, owner, id);
  assert.equal(versions.length, 10);
  assert.ok(!versions.some((version: { readonly id: number }) => version.id === first.id));
  const current = (await shown(world, owner, id)).current_version_id;
  for (let count = 0; count < 12; count += 1) await put(world, owner, someCode());
  assert.equal((await shown(world, owner, id)).current_version_id, current, "what runs stays until another could");
  assert.equal((await versionsOf(world, owner, id)).length, 11);
});

test("an endpoint that was deleted separately is made again", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const code = someCode();
  const { id, endpointId } = await deployed(world, owner, code);
  await world.call({ method: "DELETE", url: `/api/v0/endptjobs/${endpointId}/`, secret: owner.secret });
  const without = await shown(world, owner, id);
  assert.deepEqual([without.endpoint_id, without.endpoint_state, without.worker_count], [null, null, 0]);
  const started = await world.call({ method: "POST", url: `/api/v0/deployment/${id}/start/`, secret: owner.secret });
  assert.deepEqual([started.status, started.body.error], [404, "no_such_endpoint"]);
  const { body } = await put(world, owner, code);
  assert.deepEqual([body.action, body.deployment_id, body.endpoint_id === endpointId], ["created", id, false]);
  assert.equal(typeof body.workergroup_id, "number");
  assert.equal(deployBody(code).name, (await shown(world, owner, id)).name);
});
