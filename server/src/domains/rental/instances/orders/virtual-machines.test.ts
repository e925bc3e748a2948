import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";

type Method = "PUT" | "POST";
type Body = Readonly<Record<string, unknown>>;

/** Each way to ask for an instance, with what it needs besides the launch settings. */
function waysToRent(offerId: number): readonly (readonly [Method, string, Body])[] {
  return [
    ["PUT", `/api/v0/asks/${offerId}/`, {}],
    ["PUT", `/api/v0/asks/${offerId}/`, { dry_run: true }],
    ["POST", `/api/v0/asks/${offerId}/`, {}],
    ["POST", "/api/v0/asks/bulk/", { ids: [offerId] }],
    ["PUT", "/api/v0/launch_instance/", { num_gpus: 1 }],
    ["POST", "/api/v0/standing_requests/", { q: { num_gpus: { eq: 1 } }, max_dph: 1 }],
  ];
}

async function ask(world: TestApp, { secret }: TestCaller, [method, url, body]: readonly [Method, string, Body]) {
  const { status, body: answer, text } = await world.call({ method, url, secret, body: { disk: 10, ...body } });
  return { status, error: answer.error, field: answer.field, text };
}

test("a request for a virtual machine is refused by its field on every way to rent, and nothing starts", async (t) => {
  const world = await testApp(t);
  const [renter, host] = [await world.caller(), await world.host({ gpus: 2 })];
  const offerId = Number((await world.offersOf(host)).get(1));
  const made = await world.call({
    method: "POST",
    url: "/api/v0/template/",
    secret: renter.secret,
    body: { name: "a virtual machine", image: "docker.io/vastai/kvm", tag: "ubuntu" },
  });
  assert.equal(made.status, 200, made.text);
  const wrong: readonly (readonly [string, Body])[] = [
    ["vm", { image: "busybox", vm: true }],
    ["vm", { image: "busybox", vm: "yes" }],
    ["runtype", { image: "busybox", runtype: "vm" }],
    ["image", { image: "docker.io/vastai/kvm:ubuntu" }],
    ["image", { image: "vastai/kvm" }],
    ["image", { template_hash_id: made.body.template.hash_id }],
  ];
  for (const [method, url, more] of waysToRent(offerId)) {
    for (const [field, body] of wrong) {
      const answer = await ask(world, renter, [method, url, { ...body, ...more }]);
      assert.deepEqual([answer.status, answer.error, answer.field], [400, "invalid_args", field], answer.text);
    }
  }
  const { rows } = await world.env.pool.query(
    `select (select count(*) from instances)::int as instances, (select count(*) from ledger_holds)::int as holds,
       (select count(*) from standing_requests)::int as requests`,
  );
  assert.deepEqual(rows, [{ instances: 0, holds: 0, requests: 0 }]);
});

test("the explicit false that clients always send rents a container", async (t) => {
  const world = await testApp(t);
  const [renter, host] = [await world.caller(), await world.host({ gpus: 1 })];
  const offerId = Number((await world.offersOf(host)).get(1));
  const answer = await ask(world, renter, ["PUT", `/api/v0/asks/${offerId}/`, { image: "busybox", vm: false }]);
  assert.equal(answer.status, 200, answer.text);
});

test("worker groups refuse the option, and the template, of a virtual machine", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const post = (url: string, body: Body) => world.call({ method: "POST", url, secret, body });
  const endpoint = await post("/api/v0/endptjobs/", { endpoint_name: "e", cold_workers: 0, min_load: 0 });
  const template = await post("/api/v0/template/", { name: "a virtual machine", image: "vastai/kvm" });
  const common = { endpoint_id: endpoint.body.result, cold_workers: 0, search_params: "num_gpus=1" };
  for (const [field, recipe] of [
    ["launch_args", { launch_args: "--image busybox --vm" }],
    ["image", { template_hash: template.body.template.hash_id }],
  ] as const) {
    const { status, body, text } = await post("/api/v0/workergroups/", { ...common, ...recipe });
    assert.deepEqual([status, body.field], [400, field], text);
  }
});
