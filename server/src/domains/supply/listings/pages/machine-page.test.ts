import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { rentAndRun } from "../../../../../../test/support/rentals.ts";

const read = (world: TestApp, by: TestCaller, query: Readonly<Record<string, unknown>> = {}) => {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return world.call({ url: `/api/v1/machines/?${new URLSearchParams(texts).toString()}`, secret: by.secret });
};
const idsOf = (answer: { readonly body: { readonly machines: readonly { readonly id: number }[] } }) =>
  answer.body.machines.map(({ id }) => id);

test("a host's machines come page by page with the records of the whole list, in any order, and narrowed by filters", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const hosts = [1, 3, 2].map((gpus) => world.host({ owner, gpus }));
  const [one, three, two] = (await Promise.all(hosts)) as [
    Awaited<(typeof hosts)[number]>,
    Awaited<(typeof hosts)[number]>,
    Awaited<(typeof hosts)[number]>,
  ];
  await world.host();
  await rentAndRun(world, await world.caller(), three, { size: 2 });
  const whole = await read(world, owner);
  const { body: legacy } = await world.call({ url: "/api/v0/machines/", secret: owner.secret });
  assert.deepEqual(whole.body, {
    success: true,
    total_machines: 3,
    machines_found: 3,
    machines: legacy.machines,
    next_token: null,
  });
  const order = { order_by: [{ col: "num_gpus", dir: "desc" }] };
  const first = await read(world, owner, { ...order, limit: 2 });
  assert.deepEqual(
    [idsOf(first), first.body.total_machines, first.body.machines_found],
    [[three.machineId, two.machineId], 3, 2],
  );
  const second = await read(world, owner, { ...order, limit: 2, after_token: first.body.next_token });
  assert.deepEqual([idsOf(second), second.body.next_token], [[one.machineId], null]);
  const crossed = await read(world, owner, { order_by: ["hostname"], limit: 2, after_token: first.body.next_token });
  assert.deepEqual([crossed.status, crossed.body.field], [400, "after_token"], "a token is for lists of its order");
  const rented = await read(world, owner, {
    select_filters: { rented_devices: { gte: 2 } },
    select_cols: ["id", "listed"],
  });
  assert.deepEqual(rented.body.machines, [{ id: three.machineId, listed: true }]);
  assert.deepEqual((await read(world, await world.caller())).body.machines, []);
});

test("a page of machines that cannot be read is refused by its parameter", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  for (const [field, query] of [
    ["limit", { limit: 0 }],
    ["limit", { limit: 101 }],
    ["limit", { limit: "many" }],
    ["after_token", { after_token: "x" }],
    ["order_by[0]", { order_by: ["magic"] }],
    ["select_cols", { select_cols: ["magic"] }],
    ["select_filters.magic", { select_filters: { magic: { eq: 1 } } }],
    ["select_filters.num_gpus.eq", { select_filters: { num_gpus: { eq: "two" } } }],
  ] as const) {
    const answer = await read(world, owner, query);
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  const scoped = await world.caller({ permissions: { api: { instance_read: {} } } });
  assert.equal((await read(world, scoped)).status, 403);
});
