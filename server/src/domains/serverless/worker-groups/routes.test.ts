import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionDocument } from "../../../base/identity.ts";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aKey, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";

const PATH = "/api/v0/workergroups/";

async function anEndpoint(world: TestApp, owner: TestCaller, name = "e"): Promise<number> {
  const { body } = await world.call({
    method: "POST",
    url: "/api/v0/endptjobs/",
    secret: owner.secret,
    body: { endpoint_name: name, cold_workers: 0, min_load: 0 },
  });
  return Number(body["result"]);
}

async function listed(world: TestApp, owner: TestCaller, path = PATH) {
  const { body } = await world.call({ method: "GET", url: path, secret: owner.secret });
  return body["results"] as readonly Readonly<Record<string, unknown>>[];
}

test("requests of the published clients are understood, stored, and shown by both paths", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner, "bench run 1");
  const made = await world.call({
    method: "POST",
    url: "/api/v0/autojobs/",
    secret: owner.secret,
    body: {
      client_id: "me",
      endpoint_name: "bench run 1",
      endpoint_id: null,
      template_hash: null,
      template_id: null,
      search_params: "gpu_ram>=24 gpu_name in [RTX_4090,RTX_3090] verified=True rentable=True rented=False",
      launch_args: "--image ghcr.io/x/y:1 --env '-e A=b' --disk 40",
      gpu_ram: 24.0,
      test_workers: 1,
      cold_workers: 0,
      autoscaler_instance: "prod",
    },
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.deepEqual(Object.keys(made.body), ["success", "id", "result"]);
  assert.equal(made.body["id"], made.body["result"]);
  const [group] = await listed(world, owner);
  const { created_at: createdAt, search_query: query, ...record } = group ?? {};
  const { body: shown } = await world.call({ url: `/api/v0/endptjobs/${endpoint}/`, secret: owner.secret });
  assert.equal(typeof createdAt, "number");
  assert.deepEqual(query, {
    gpu_ram: { gte: 24_000 },
    gpu_name: { in: ["RTX 4090", "RTX 3090"] },
    verified: { eq: true },
    rentable: { eq: true },
    rented: { eq: false },
  });
  assert.deepEqual(record, {
    id: made.body["id"],
    endpoint_id: endpoint,
    endpoint_name: "bench run 1",
    user_id: owner.id,
    api_key: shown.result.api_key,
    template_hash: "",
    search_params: "gpu_ram>=24 gpu_name in [RTX_4090,RTX_3090] verified=True rentable=True rented=False",
    launch_args: "--image ghcr.io/x/y:1 --env '-e A=b' --disk 40",
    gpu_ram: 24,
    test_workers: 1,
    cold_workers: 0,
    max_workers: 20,
    is_max_dph_by_owner: false,
    min_load: 1,
    min_cold_load: 0,
    target_util: 0.9,
    cold_mult: 3,
    generation: 1,
    is_updating: false,
    failure_count: 0,
  } satisfies Record<keyof typeof record, unknown>);
  assert.deepEqual(await listed(world, owner, "/api/v0/autojobs/"), await listed(world, owner));
});

test("a key that may not list endpoints reads no key of theirs from their worker groups", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  const body = { endpoint_id: endpoint, launch_args: "--image alpine" };
  assert.equal((await world.call({ method: "POST", url: PATH, secret: owner.secret, body })).status, 200);
  const keysFor = async (misc: NonNullable<NonNullable<PermissionDocument["api"]>["misc"]>) => {
    const permissions = { api: { misc } };
    const narrow = await inTransaction(world.env.database, (tx) => aKey(tx, owner, { permissions }));
    return (await listed(world, { ...owner, secret: narrow.secret })).map((group) => typeof group["api_key"]);
  };
  assert.deepEqual(await keysFor({}), ["string"]);
  assert.deepEqual(await keysFor({ "api.workergroup.list": {} }), ["undefined"]);
});

test("endpoints and worker groups are made, changed and deleted with the key in the body, as published examples do", async (t) => {
  const world = await testApp(t);
  const [owner, stranger] = [await world.caller(), await world.caller()];
  const send = async (key: string, method: "POST" | "PUT" | "DELETE", url: string, members: object) => {
    const answer = await world.call({ method, url, body: { ...members, api_key: key } });
    return answer.status === 200 ? answer.body : answer.status;
  };
  const endpoint = await send(owner.secret, "POST", "/api/v0/endptjobs/", { endpoint_name: "e", cold_workers: 0 });
  const recipe = { endpoint_name: "e", launch_args: "--image alpine", search_params: "" };
  for (const path of [PATH, "/api/v0/autojobs/"]) {
    const group = await send(owner.secret, "POST", path, recipe);
    const own = `${path}${Number(group.id)}/`;
    assert.deepEqual(await send(owner.secret, "PUT", own, { gpu_ram: 8 }), { success: true });
    assert.equal(await send(stranger.secret, "DELETE", own, {}), 404);
    assert.equal(await send("wrong", "DELETE", own, {}), 401);
    assert.equal((await send(owner.secret, "DELETE", own, {})).success, true);
  }
  const own = `/api/v0/endptjobs/${Number(endpoint.result)}/`;
  assert.deepEqual(await send(owner.secret, "PUT", own, { min_load: 0 }), { success: true });
  assert.equal(await send(stranger.secret, "PUT", own, { min_load: 9 }), 400);
  assert.equal((await send(owner.secret, "DELETE", own, {})).success, true);
});

test("settings that no worker could be rented with are refused when the group is made, by the name of the field", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const stranger = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  await anEndpoint(world, owner, "twice");
  await anEndpoint(world, owner, "twice");
  const good = { endpoint_id: endpoint, launch_args: "--image alpine" };
  const wrong: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ launch_args: "--image alpine" }, "endpoint_name"],
    [{ ...good, endpoint_id: 2_000_000_000 }, "endpoint_id"],
    [{ ...good, endpoint_name: "other" }, "endpoint_id"],
    [{ launch_args: "--image alpine", endpoint_name: "twice" }, "endpoint_name"],
    [{ ...good, launch_args: "" }, "image"],
    [{ ...good, launch_args: "--imagine alpine" }, "launch_args"],
    [{ ...good, launch_args: "--image alpine --disk 1" }, "disk"],
    [{ ...good, launch_args: `--image alpine --label ${"x".repeat(300)}` }, "label"],
    [{ ...good, launch_args: "--image alpine --price 1000" }, "price"],
    [{ ...good, search_params: "gpu_nmae=RTX_4090" }, "gpu_nmae"],
    [{ ...good, search_params: "num_gpus >" }, "search_params"],
    [{ ...good, search_params: { num_gpus: { like: 1 } } }, "num_gpus.like"],
    [{ ...good, search_params: "x".repeat(9000) }, "search_params"],
    [{ ...good, template_hash: "0".repeat(32) }, '"field":"template_hash"'],
    [{ ...good, template_id: 2_000_000_000 }, "template_id"],
    [{ ...good, target_util: 1.5 }, "target_util"],
    [{ ...good, cold_mult: 0 }, "cold_mult"],
    [{ ...good, test_workers: -1 }, "test_workers"],
    [{ ...good, gpu_ram: -1 }, "gpu_ram"],
    [{ ...good, docker_login_user: "me" }, "docker_login_pass"],
  ];
  for (const [body, field] of wrong) {
    const refused = await world.call({ method: "POST", url: PATH, secret: owner.secret, body });
    assert.equal(refused.status >= 400 && refused.status < 500, true, JSON.stringify([body, refused.body]));
    assert.ok(JSON.stringify(refused.body).includes(field), JSON.stringify([body, refused.body]));
  }
  const foreign = await world.call({ method: "POST", url: PATH, secret: stranger.secret, body: good });
  assert.deepEqual(
    [foreign.status, foreign.body["error"], foreign.body["msg"]],
    [400, "invalid_args", "Please assign your workergroup to a valid endpoint identifier"],
  );
  assert.deepEqual(await listed(world, owner), []);
});

test("another recipe makes another generation and begins the update of workers; a wider search does not", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  const body = {
    endpoint_id: endpoint,
    launch_args: "--image alpine",
    docker_login_user: "me",
    docker_login_pass: "it's secret",
    docker_login_repo: "registry.example.com",
  };
  const { body: made } = await world.call({ method: "POST", url: PATH, secret: owner.secret, body });
  const change = async (changes: object) => {
    const { status, body: answer } = await world.call({
      method: "PUT",
      url: `${PATH}${String(made["id"])}/`,
      secret: owner.secret,
      body: { autojob_id: made["id"], ...changes },
    });
    assert.equal(status, 200, JSON.stringify(answer));
    const [group] = await listed(world, owner);
    return [group?.["generation"], group?.["is_updating"]];
  };
  assert.deepEqual(await change({ search_params: "num_gpus=1", max_workers: 3 }), [1, false]);
  assert.deepEqual(
    await change({
      docker_login_user: "me",
      docker_login_pass: "it's secret",
      docker_login_repo: "registry.example.com",
    }),
    [1, false],
  );
  assert.deepEqual(await change({ launch_args: "--image alpine:3" }), [2, true]);
  assert.deepEqual(await change({ docker_login_user: "me", docker_login_pass: "another" }), [3, true]);
  const [group] = await listed(world, owner);
  assert.deepEqual([group?.["max_workers"], group?.["search_params"]], [3, "num_gpus=1"]);
  assert.ok(!JSON.stringify(group).includes("another"), "a login is in no answer");
  const moved = await world.call({
    method: "PUT",
    url: `${PATH}${String(made["id"])}/`,
    secret: owner.secret,
    body: { endpoint_id: endpoint + 1 },
  });
  assert.deepEqual([moved.status, moved.body["error"]], [400, "invalid_args"]);
});

test("a change that leaves search and price alone is stored, and so is one of a group with a price of its owner's", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  const send = (method: "POST" | "PUT", url: string, body: object) =>
    world.call({ method, url, secret: owner.secret, body });
  const recipe = { endpoint_id: endpoint, launch_args: "--image alpine", search_params: "" };
  for (const price of [{}, { max_dph: 2.5 }]) {
    const { body: made } = await send("POST", PATH, { ...recipe, ...price });
    const own = `${PATH}${String(made["id"])}/`;
    assert.equal((await send("PUT", own, { max_workers: 4, gpu_ram: 8 })).status, 200);
    assert.equal((await send("PUT", own, { launch_args: "--image busybox" })).status, 200);
    const group = (await listed(world, owner)).at(-1);
    assert.deepEqual(
      [group?.["max_workers"], group?.["gpu_ram"], group?.["launch_args"], group?.["max_dph"]],
      [4, 8, "--image busybox", price.max_dph],
    );
  }
});

test("cold workers that are sent must fit into the group's cap; a lower cap later wins over those of before", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  const send = (method: "POST" | "PUT", url: string, body: object) =>
    world.call({ method, url, secret: owner.secret, body: { endpoint_id: endpoint, ...body } });
  const recipe = { launch_args: "--image alpine", search_params: "" };
  const refused = await send("POST", PATH, { ...recipe, cold_workers: 3, max_workers: 2 });
  assert.deepEqual(
    [refused.status, refused.body["error"], refused.body["field"]],
    [400, "invalid_args", "cold_workers"],
  );
  assert.match(String(refused.body["msg"]), /^cold_workers: 3 cold workers are more than max_workers, which is 2$/);
  const made = await send("POST", PATH, { ...recipe, cold_workers: null, max_workers: 2 });
  assert.equal(made.status, 200, made.text);
  const own = `${PATH}${String(made.body["id"])}/`;
  assert.equal((await send("PUT", own, { cold_workers: 3 })).status, 400);
  assert.equal((await send("PUT", own, { max_workers: 1, cold_workers: null })).status, 200);
  const [group] = await listed(world, owner);
  assert.deepEqual([group?.["cold_workers"], group?.["max_workers"]], [3, 1]);
});

test("another user's group looks like one that never existed", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const stranger = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  const { body: made } = await world.call({
    method: "POST",
    url: PATH,
    secret: owner.secret,
    body: { endpoint_id: endpoint, launch_args: "--image alpine" },
  });
  for (const id of [String(made["id"]), "2000000000"]) {
    const put = await world.call({
      method: "PUT",
      url: `${PATH}${id}/`,
      secret: stranger.secret,
      body: { max_workers: 1 },
    });
    assert.deepEqual(
      [put.status, put.body["error"], put.body["msg"]],
      [400, "invalid_args", "Workgroup not found for user"],
    );
    const gone = await world.call({ method: "DELETE", url: `${PATH}${id}/`, secret: stranger.secret });
    assert.deepEqual([gone.status, gone.body["error"], gone.body["id"]], [404, "no_such_workergroup", Number(id)]);
  }
  const deleted = await world.call({
    method: "DELETE",
    url: `${PATH}${String(made["id"])}/`,
    secret: owner.secret,
    body: { client_id: "me", autojob_id: made["id"] },
  });
  assert.deepEqual(deleted.body, {
    success: true,
    deleted_workers: [],
    failed_workers: [],
    msg: "Deleted workergroup and 0 workers",
  });
  assert.deepEqual(await listed(world, owner), []);
});

test("the groups of a deleted endpoint are gone with it", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  await world.call({
    method: "POST",
    url: PATH,
    secret: owner.secret,
    body: { endpoint_id: endpoint, launch_args: "--image alpine" },
  });
  await world.call({ method: "DELETE", url: `/api/v0/endptjobs/${endpoint}/`, secret: owner.secret });
  assert.deepEqual(await listed(world, owner), []);
});

test("a search may come as a list of conditions, and is shown as a text", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  const make = (search_params: unknown) =>
    world.call({
      method: "POST",
      url: PATH,
      secret: owner.secret,
      body: { endpoint_id: endpoint, launch_args: "--image i", search_params },
    });
  assert.equal((await make(["num_gpus>=2", "gpu_name=RTX_4090"])).status, 200);
  assert.equal((await make([])).status, 200);
  const groups = await listed(world, owner);
  assert.deepEqual(
    groups.map(({ search_params, search_query }) => [search_params, search_query]),
    [
      ["num_gpus>=2 gpu_name=RTX_4090", { num_gpus: { gte: "2" }, gpu_name: { eq: "RTX 4090" } }],
      ["", {}],
    ],
  );
  assert.equal((await make([{ num_gpus: 2 }])).status, 400);
});

test("an endpoint has a limited number of groups, as each is searched for", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  const body = { endpoint_id: endpoint, launch_args: "--image i" };
  const make = () => world.call({ method: "POST", url: PATH, secret: owner.secret, body });
  for (let count = 0; count < 20; count += 1) assert.equal((await make()).status, 200);
  const refused = await make();
  assert.deepEqual([refused.status, refused.body["field"]], [400, "endpoint_id"]);
  const [group] = await listed(world, owner);
  await world.call({ method: "DELETE", url: `${PATH}${String(group?.["id"])}/`, secret: owner.secret });
  assert.equal((await make()).status, 200);
});
