import assert from "node:assert/strict";
import { test } from "node:test";
import { epochSeconds } from "../../../base/clock.ts";
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

async function groupOf({ env }: TestApp, id: number) {
  const { rows } = await env.pool.query("select * from worker_groups where id = $1", [id]);
  return rows[0];
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

test("a deployment whose client is silent for longer than its ttl is deleted, and a heartbeat extends its time", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const mortal = await deployed(world, owner, someCode(), { ttl: 60 });
  await deployed(world, owner, someCode(), { name: "for ever" });
  const beat = () =>
    world.call({ method: "POST", url: `/api/v0/deployment/${mortal.id}/heartbeat/`, secret: owner.secret });
  assert.deepEqual((await beat()).body, { success: true, deployment_id: mortal.id });
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
  assert.equal(first.last_used_at, epochSeconds(world.clock.now()), "workers run it since its code is there");
  for (let count = 0; count < 10; count += 1) {
    const { evicted_versions: evicted } = (await put(world, owner, code, { env: `-e N=${count}` })).body;
    const { id: evictedId, version_label: label, file_hash: hash, file_size: size } = first;
    const expected = [{ id: evictedId, version_label: label, file_hash: hash, file_size: size }];
    assert.deepEqual(evicted, count < 9 ? undefined : expected);
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
