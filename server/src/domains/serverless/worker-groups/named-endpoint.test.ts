import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionDocument } from "../../../base/identity.ts";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aKey, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";

const PATH = "/api/v0/workergroups/";

async function anEndpoint(world: TestApp, { secret }: TestCaller, name: string): Promise<void> {
  const body = { endpoint_name: name, cold_workers: 0, min_load: 0 };
  const answer = await world.call({ method: "POST", url: "/api/v0/endptjobs/", secret, body });
  assert.equal(answer.status, 200, answer.text);
}

test("an unknown endpoint name creates the endpoint with the group's settings, once, and not when the group is refused", async (t) => {
  const world = await testApp(t);
  const [owner, stranger] = [await world.caller(), await world.caller()];
  await anEndpoint(world, stranger, "llama");
  const create = (body: object, secret = owner.secret) =>
    world.call({ method: "POST", url: PATH, secret, body: { launch_args: "--image alpine", ...body } });
  const endpoints = async () => {
    const { body } = await world.call({ url: "/api/v0/endptjobs/", secret: owner.secret });
    return body.results as readonly Readonly<Record<string, unknown>>[];
  };
  const refused = await create({ endpoint_name: "llama", launch_args: "--imagine alpine" });
  assert.equal(refused.status, 400, refused.text);
  assert.deepEqual((await create({ endpoint_name: " " })).body.field, "endpoint_name");
  assert.deepEqual((await create({ endpoint_id: 2_000_000_000, endpoint_name: "llama" })).status, 400);
  assert.deepEqual(await endpoints(), [], "all or nothing");
  const made = await Promise.all(
    [0, 1].map(() => create({ endpoint_name: "llama", cold_workers: 0, min_load: 0, max_workers: 3, gpu_ram: 8 })),
  );
  for (const { status, text } of made) assert.equal(status, 200, text);
  const [endpoint, ...others] = await endpoints();
  assert.deepEqual(others, []);
  const {
    endpoint_name: name,
    cold_workers: cold,
    min_load: load,
    max_workers: most,
    target_util: util,
  } = endpoint ?? {};
  assert.deepEqual([name, cold, load, most, util], ["llama", 0, 0, 3, 0.9]);
  const { body: listed } = await world.call({ url: PATH, secret: owner.secret });
  const groups = listed.results as readonly Readonly<Record<string, unknown>>[];
  assert.deepEqual(
    groups.map((group) => [group["endpoint_id"], group["max_workers"]]),
    [0, 1].map(() => [endpoint?.["id"], 3]),
  );
});

test("only a key that may create endpoints names a new one, within its constraints", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const rights = { "api.workergroup.create": {}, "api.instance.create": {} };
  const keyWith = (endpointRights: object) =>
    inTransaction(world.env.database, (tx) => {
      const api = { misc: { ...rights, ...endpointRights }, instance_write: { ...rights, ...endpointRights } };
      return aKey(tx, owner, { permissions: { api } as PermissionDocument });
    });
  const create = async (key: { readonly secret: string }, body: object) => {
    const sent = { launch_args: "--image alpine", cold_workers: 0, ...body };
    return (await world.call({ method: "POST", url: PATH, secret: key.secret, body: sent })).status;
  };
  const groupsOnly = await keyWith({});
  await anEndpoint(world, owner, "known");
  assert.equal(await create(groupsOnly, { endpoint_name: "known" }), 200);
  assert.equal(await create(groupsOnly, { endpoint_name: "new" }), 403);
  const bounded = await keyWith({ "api.endpoint.create": { constraints: { max_workers: { lte: 3 } } } });
  assert.equal(await create(bounded, { endpoint_name: "new" }), 403, "a default of 20 is above");
  assert.equal(await create(bounded, { endpoint_name: "new", max_workers: 4 }), 403);
  assert.equal(await create(bounded, { endpoint_name: "new", max_workers: 3 }), 200);
  assert.equal(await create(groupsOnly, { endpoint_name: "new" }), 200, "it is known now");
});
