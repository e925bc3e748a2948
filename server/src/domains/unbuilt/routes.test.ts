import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../test/support/app.ts";

const READS = [
  ["GET", "/api/v0/users/cloud_integrations/", []],
  ["GET", "/api/v0/users/cloud/", []],
  ["GET", "/api/v0/clusters/", { clusters: {} }],
  ["PUT", "/api/v0/search/clusters/", { offers: [] }],
  ["GET", "/api/v0/overlay/", []],
  ["GET", "/api/v0/instance_backups/", { success: true, backups: [] }],
  ["GET", "/api/v0/instance_backups/?contract_id=7", { success: true, backups: [] }],
] as const;

const CONNECTION = { provider: "s3", user_given_name: "b", access_key: "k", secret_access_key: "a-storage-secret" };
const COPY = { src: "/a", dst: "/b", instance_id: "7", selected: "3", transfer: "Instance to Cloud", flags: [] };

const WRITES = [
  ["POST", "/api/v0/users/cloud/", CONNECTION, /no cloud connections yet, so nothing was stored\. Run /],
  ["DELETE", "/api/v0/users/cloud/", { id: 3 }, /no cloud connections yet/],
  ["POST", "/api/v0/commands/rclone/", COPY, /no copies to and from cloud storage yet\. Run /],
  ["DELETE", "/api/v0/commands/rclone/", { dst_id: 7 }, /no copies to and from cloud storage yet/],
  ["POST", "/api/v0/cluster/", { subnet: "10.1.0.0/24", manager_id: 1 }, /no clusters yet\. List each machine/],
  ["PUT", "/api/v0/cluster/", { cluster_id: 1, machine_ids: [1] }, /no clusters yet/],
  ["DELETE", "/api/v0/cluster/", { cluster_id: 1 }, /no clusters yet/],
  ["DELETE", "/api/v0/cluster/remove_machine/", { cluster_id: 1, machine_id: 1 }, /no clusters yet/],
  ["POST", "/api/v0/overlay/", { cluster_id: 1, name: "n" }, /no overlay networks yet\. Instances reach/],
  ["PUT", "/api/v0/overlay/", { name: "n", instance_id: 1 }, /no overlay networks yet/],
  ["DELETE", "/api/v0/overlay/", { overlay_name: "n" }, /no overlay networks yet/],
] as const;

test("reads of clouds, clusters, overlays and backups are empty in the published shape", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  for (const [method, url, expected] of READS) {
    const { status, text } = await world.call({ method, url, secret });
    assert.deepEqual([status, JSON.parse(text)], [200, expected], url);
  }
});

test("writes of clouds, clusters and overlays answer 501 with what to do instead, and are no failure of the server", async (t) => {
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
    ["POST", "/api/v0/users/cloud/", { provider: "floppy" }, "provider"],
    ["POST", "/api/v0/users/cloud/", {}, "provider"],
    ["POST", "/api/v0/cluster/", { subnet: "10.1.0.0/24" }, "manager_id"],
    ["DELETE", "/api/v0/commands/rclone/", {}, "dst_id"],
    ["PUT", "/api/v0/overlay/", { name: 5, instance_id: 1 }, "name"],
  ] as const) {
    const answer = await world.call({ method, url, secret, body });
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
});

test("a backup that nobody made is 404 with what to do instead, and a wrong contract is named", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const ask = async (url: string) => world.call({ url, secret });
  const { status, body } = await ask("/api/v0/instance_backups/77/download/");
  assert.deepEqual([status, body.error], [404, "no_such_backup"]);
  assert.match(body.msg, /^Contract 77 has no backup: .* Keep files on a volume, or copy them elsewhere/);
  for (const url of [
    "/api/v0/instance_backups/?contract_id=x",
    "/api/v0/instance_backups/?contract_id=0",
    "/api/v0/instance_backups/x/download/",
    "/api/v0/instance_backups/99999999999/download/",
  ]) {
    const answer = await ask(url);
    assert.deepEqual([answer.status, answer.body.field], [400, "contract_id"], answer.text);
  }
});

test("a copy from a backup is refused with the reason", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const body = { src_id: "vast.77", dst_id: "C.78", src_path: "/upper", dst_path: "/" };
  const answer = await world.call({ method: "PUT", url: "/api/v0/commands/copy_direct/", secret, body });
  assert.deepEqual([answer.status, answer.body.field], [400, "src_id"], answer.text);
  assert.match(answer.body.msg, /this service makes no backups by itself/);
});
