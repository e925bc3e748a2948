import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { listedHost, prepay } from "../../../../../../test/support/money/contracts.ts";
import { put, someCode } from "../../../../../../test/support/serverless/deployments.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import type { TestAnswer } from "../../../../../../test/support/network/http.ts";
import { changeBid, destroy, rent, rentAndRun, setState, stored } from "../../../../../../test/support/rentals.ts";

/** A caller of the same account with another key, which has a cap of this many dollars if one is given. */
async function keyOf(world: TestApp, user: TestCaller, limit?: number): Promise<TestCaller> {
  const made = await world.call({
    method: "POST",
    url: "/api/v0/auth/apikeys/",
    secret: user.secret,
    body: { name: "k" },
  });
  assert.equal(made.status, 200, made.text);
  const body = { scope: "key", scope_id: made.body.id, period: "total", limit };
  const capped = limit && (await world.call({ method: "PUT", url: "/api/v0/caps/", secret: user.secret, body }));
  if (capped) assert.equal(capped.status, 200, capped.text);
  return { ...user, secret: String(made.body.key) };
}

function assertRefused({ status, body, text }: TestAnswer): void {
  assert.deepEqual([status, body.error], [403, "not_authorized"], text);
  assert.match(body.msg, /has a cap/);
}

function assertDone({ status, text }: TestAnswer): void {
  assert.equal(status, 200, text);
}

test("a key with a cap spends nothing under another key: it starts, bids for and prepays only what it rented", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 4 });
  const owner = await world.caller();
  const [capped, free] = [await keyOf(world, owner, 5), await keyOf(world, owner)];
  const change = (as: TestCaller, id: number, body: object) =>
    world.call({ method: "PUT", url: `/api/v0/instances/${id}/`, secret: as.secret, body });
  const id = await rentAndRun(world, owner, host);
  const bid = await rent(world, owner, host, { price: 0.2 });
  assertDone(await setState(world, capped, id, "stopped"));
  await host.obey();

  assertRefused(await setState(world, capped, id, "running"));
  const bulk = { method: "PUT", url: "/api/v0/instances/", secret: capped.secret } as const;
  assertRefused(await world.call({ ...bulk, body: { ids: [id], state: "running" } }));
  const start = { method: "POST", url: "/api/v0/instances/start/", secret: capped.secret } as const;
  assertRefused(await world.call({ ...start, body: { IDs: [id] } }));
  assert.equal((await stored(world, id)).desired, "stopped");
  assertRefused(await changeBid(world, capped, bid, 0.9));
  assertRefused(await prepay(world, capped, id, 50));
  assertRefused(await change(capped, id, { traffic_limit: 90 }));
  assertDone(await change(capped, id, { label: "seen" }));
  const { rows } = await world.env.pool.query(
    `insert into pending_price_increases (instance_id, host_id, price_nanos_per_hour, storage_nanos_per_gb_month,
       inet_up_nanos_per_gb, inet_down_nanos_per_gb, end_at, created_at)
     select i.id, m.host_id, 2000000000, 0, 0, 0, i.end_at + interval '1 day', $2
     from instances i join machines m on m.id = i.machine_id where i.id = $1 returning id`,
    [id, world.clock.now()],
  );
  const url = "/api/v0/instances/accept-price-increase/";
  const increase = { pending_price_increase_id: rows[0].id };
  assertRefused(await world.call({ method: "PUT", url, secret: capped.secret, body: increase }));

  assertDone(await setState(world, free, id, "running"));
  assertDone(await changeBid(world, free, bid, 0.3));
  assertDone(await world.call({ method: "PUT", url, secret: free.secret, body: increase }));
  assertDone(await change(free, id, { traffic_limit: 9 }));
  assertDone(await destroy(world, capped, bid));
  await host.obey();

  const own = await rentAndRun(world, capped, host);
  assertDone(await setState(world, capped, own, "stopped"));
  await host.obey();
  assertDone(await change(capped, own, { state: "running", traffic_limit: 2 }));
  await world.assertBooks();
});

test("a key with a cap changes no endpoint, worker group or deployment that spends under another key", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const capped = await keyOf(world, owner, 5);
  const call = (as: TestCaller, method: "POST" | "PUT" | "DELETE", url: string, body: object = {}) =>
    world.call({ method, url, secret: as.secret, body });
  const anEndpoint = async (as: TestCaller) => {
    const made = await call(as, "POST", "/api/v0/endptjobs/", { cold_workers: 0, min_load: 0 });
    return Number(made.body.result);
  };
  const aGroup = async (as: TestCaller, endpoint: number) => {
    const body = { endpoint_id: endpoint, launch_args: "--image alpine", cold_workers: 0 };
    const made = await call(as, "POST", "/api/v0/workergroups/", body);
    assert.equal(made.status, 200, made.text);
    return Number(made.body.id);
  };
  const endpoint = await anEndpoint(owner);
  const group = await aGroup(owner, endpoint);
  assertRefused(await call(capped, "PUT", `/api/v0/endptjobs/${endpoint}/`, { cold_workers: 20 }));
  assertRefused(await call(capped, "PUT", `/api/v0/workergroups/${group}/`, { max_dph: 90 }));
  assertRefused(await call(capped, "POST", "/update_workers/", { workergroup_id: group }));

  const own = await anEndpoint(capped);
  const ownGroup = await aGroup(capped, own);
  assertDone(await call(capped, "PUT", `/api/v0/endptjobs/${own}/`, { cold_workers: 1 }));
  assertDone(await call(capped, "PUT", `/api/v0/workergroups/${ownGroup}/`, { max_workers: 2 }));
  assertDone(await call(capped, "POST", "/update_workers/", { workergroup_id: ownGroup }));
  await aGroup(owner, own);
  assertRefused(await call(capped, "PUT", `/api/v0/endptjobs/${own}/`, { cold_workers: 9 }));
  assertDone(await call(owner, "PUT", `/api/v0/endptjobs/${own}/`, { cold_workers: 2 }));

  const code = someCode();
  const deployed = await put(world, owner, code);
  assertDone(deployed);
  const deployment = `/api/v0/deployment/${Number(deployed.body.deployment_id)}`;
  assertRefused(await put(world, capped, code, { cold_workers: 3 }));
  assertRefused(await call(capped, "POST", `${deployment}/start/`));
  assertDone(await call(capped, "POST", `${deployment}/stop/`));
  assertDone(await put(world, capped, code, { name: "other" }));
  assertDone(await call(capped, "DELETE", `/api/v0/workergroups/${group}/`));
});
