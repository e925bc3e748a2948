import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../test/support/app.ts";

const READS = [
  ["GET", "/api/v0/clusters/", { clusters: {} }],
  ["PUT", "/api/v0/search/clusters/", { offers: [] }],
  ["GET", "/api/v0/overlay/", []],
] as const;

const WRITES = [
  ["POST", "/api/v0/cluster/", { subnet: "10.1.0.0/24", manager_id: 1 }, /no clusters yet\. List each machine/],
  ["PUT", "/api/v0/cluster/", { cluster_id: 1, machine_ids: [1] }, /no clusters yet/],
  ["DELETE", "/api/v0/cluster/", { cluster_id: 1 }, /no clusters yet/],
  ["DELETE", "/api/v0/cluster/remove_machine/", { cluster_id: 1, machine_id: 1 }, /no clusters yet/],
  ["POST", "/api/v0/overlay/", { cluster_id: 1, name: "n" }, /no overlay networks yet\. Instances reach/],
  ["PUT", "/api/v0/overlay/", { name: "n", instance_id: 1 }, /no overlay networks yet/],
  ["DELETE", "/api/v0/overlay/", { overlay_name: "n" }, /no overlay networks yet/],
] as const;

test("reads of clusters and overlays are empty in the published shape", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  for (const [method, url, expected] of READS) {
    const { status, text } = await world.call({ method, url, secret });
    assert.deepEqual([status, JSON.parse(text)], [200, expected], url);
  }
});

test("writes of clusters and overlays answer 501 with what to do instead, and are no failure of the server", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  for (const [method, url, body, sentence] of WRITES) {
    const answer = await world.call({ method, url, secret, body });
    const { success, error, msg } = answer.body;
    assert.deepEqual([answer.status, success, error], [501, false, "not_built"], `${method} ${url}: ${answer.text}`);
    assert.match(msg, sentence);
  }
  assert.deepEqual(world.complaints, []);
});

test("a write of what is not built names a wrong field before it is refused", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  for (const [method, url, body, field] of [
    ["POST", "/api/v0/cluster/", { subnet: "10.1.0.0/24" }, "manager_id"],
    ["PUT", "/api/v0/overlay/", { name: 5, instance_id: 1 }, "name"],
  ] as const) {
    const answer = await world.call({ method, url, secret, body });
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
});
