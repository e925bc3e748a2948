import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { MachineId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { putMachineBenchmarks, type MachineBenchmark } from "./store.ts";

const SPEED = { measuredBy: "server", gpuName: "RTX 4090", gpuCount: 2 } as const;

/** Two machines of which three speeds were measured, 100, 200 and 300 Mbit/s, and the disk of the second is declared. */
async function aMarket(t: TestContext) {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const [first, second] = [await world.host({ gpus: 1 }), await world.host({ gpus: 1 })];
  const put = (machineId: MachineId, given: Pick<MachineBenchmark, "type" | "value"> & Partial<MachineBenchmark>) =>
    withTransaction(world.env.database, world.clock, (tx) =>
      putMachineBenchmarks(tx, [{ ...SPEED, ...given, machineId }]),
    );
  await put(first.machineId, { type: "upload", value: 300 });
  await put(first.machineId, { type: "download", value: 100 });
  world.clock.jump(60_000);
  await put(second.machineId, { type: "upload", value: 200, gpuName: undefined, gpuCount: 0 });
  await put(second.machineId, { type: "disk", measuredBy: "agent", value: 2000, gpuName: undefined, gpuCount: 0 });
  const ask = (query: Readonly<Record<string, unknown>>) => search(world, secret, query);
  return { world, secret, ask, put, first: first.machineId, second: second.machineId };
}

async function search(world: TestApp, secret: string, query: Readonly<Record<string, unknown>>) {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => {
      return [name, typeof value === "string" ? value : JSON.stringify(value)];
    }),
  );
  return world.call({ url: `/api/v0/benchmarks/?${text.toString()}`, secret });
}

test("benchmarks are an object as the newest client reads it, with whose figure each is and when it was measured", async (t) => {
  const { world, ask, put, first, second } = await aMarket(t);
  const { status, body, text } = await ask({ select_cols: ["*"], select_filters: {} });
  assert.equal(status, 200, text);
  const { benchmarks, ...rest } = body;
  assert.deepEqual(rest, { success: true, benchmarks_found: 4, next_token: null });
  const of = {
    contract_id: null,
    image: null,
    launch_args: null,
    template_id: null,
    template_hash: null,
    dph_base: null,
  };
  const at = world.clock.now().getTime() / 1000;
  const [up, , , disk] = benchmarks;
  const server = { ...of, measured_by: "server" };
  assert.deepEqual(up, {
    ...{ ...server, id: up.id, machine_id: first, gpu_name: "RTX 4090", num_gpus: 2 },
    ...{ type: "upload", value: 300, last_update: at - 60 },
  });
  assert.deepEqual(disk, {
    ...{ ...of, id: disk.id, machine_id: second, gpu_name: null, num_gpus: 0 },
    ...{ type: "disk", value: 2000, measured_by: "agent", last_update: at },
  });

  world.clock.jump(3_600_000);
  await put(first, { type: "upload", value: 250 });
  const after = await ask({ select_filters: { machine_id: { eq: first }, type: { eq: "upload" } } });
  const [row, ...others] = after.body.benchmarks;
  assert.deepEqual([row.id, row.value, row.last_update, others.length], [up.id, 250, at + 3_600, 0]);
});

test("benchmarks are searched by every field, in both forms, and ordered", async (t) => {
  const { ask, first, second } = await aMarket(t);
  const values = async (query: Readonly<Record<string, unknown>>) => {
    const { status, body, text } = await ask(query);
    assert.equal(status, 200, text);
    return body.benchmarks.map(({ value }: { readonly value: number }) => value);
  };
  assert.deepEqual(await values({ select_filters: { machine_id: { eq: first } } }), [300, 100]);
  assert.deepEqual(await values({ select_filters: { value: { gte: "200", lt: 2000 } } }), [300, 200]);
  assert.deepEqual(await values({ select_filters: { gpu_name: { in: ["RTX 4090", "L4"] } } }), [300, 100]);
  assert.deepEqual(await values({ select_filters: { gpu_name: { eq: null } } }), [200, 2000]);
  assert.deepEqual(await values({ select_filters: { measured_by: { neq: "server" } } }), [2000]);
  assert.deepEqual(await values({ select_filters: { contract_id: { eq: 99_999_999_999 } } }), []);
  assert.deepEqual(await values({ select_filters: { launch_args: { eq: "x" }, dph_base: { gt: 1 } } }), []);
  assert.deepEqual(await values({ query: "score>150 type=upload" }), [300, 200]);
  assert.deepEqual(await values({ query: "machine_id=" + second, select_filters: { type: { eq: "disk" } } }), [2000]);
  const order_by = [
    { col: "gpu_name", dir: "desc" },
    { col: "value", dir: "asc" },
  ];
  assert.deepEqual(await values({ order_by }), [100, 300, 200, 2000], "without a value comes last");
  const { body } = await ask({ select_cols: ["type", "value"], limit: 1 });
  assert.deepEqual(body.benchmarks, [{ type: "upload", value: 300 }]);
});

test("pages of benchmarks have every row once, in any order", async (t) => {
  const { ask } = await aMarket(t);
  for (const order_by of [
    [],
    [{ col: "value", dir: "desc" }],
    [{ col: "gpu_name", dir: "asc" }],
    [
      { col: "gpu_name", dir: "desc" },
      { col: "type", dir: "desc" },
    ],
    [{ col: "last_update", dir: "desc" }],
    [{ col: "launch_args", dir: "desc" }],
  ]) {
    const whole = (await ask({ order_by })).body.benchmarks;
    const paged: unknown[] = [];
    let token: string | null = "";
    while (token !== null) {
      const { body, status, text } = await ask({ order_by, limit: 1, after_token: token });
      assert.equal(status, 200, text);
      paged.push(...body.benchmarks);
      token = body.next_token;
    }
    assert.deepEqual(paged, whole, JSON.stringify(order_by));
  }
});

test("a search of benchmarks that cannot be read is refused with the field", async (t) => {
  const { ask, world } = await aMarket(t);
  const token = (place: readonly unknown[], order = "id asc") =>
    Buffer.from(JSON.stringify([`benchmarks:${order}`, ...place])).toString("base64url");
  for (const [query, field, error] of [
    [{ select_filters: "{" }, "select_filters", "invalid_args"],
    [{ select_filters: { speed: { eq: 1 } } }, "select_filters.speed", "invalid_args"],
    [{ select_filters: { value: { eq: "fast" } } }, "select_filters.value.eq", "invalid_args"],
    [{ select_filters: { type: { in: "perf" } } }, "select_filters.type.in", "invalid_args"],
    [{ query: "speed>1" }, "query.speed", "invalid_args"],
    [{ query: "value" }, "query", "invalid_args"],
    [{ select_cols: ["speed"] }, "select_cols", "invalid_args"],
    [{ order_by: [{ col: "speed" }] }, "order_by[0]", "invalid_args"],
    [{ limit: 0 }, "limit", "invalid_args"],
    [{ after_token: "x" }, "after_token", "invalid_token"],
    [{ after_token: token([1, 1]) }, "after_token", "invalid_token"],
    [{ order_by: [["value"]], after_token: token(["fast", 1], "value asc:id asc") }, "after_token", "invalid_token"],
    [
      { order_by: [["gpu_name"]], after_token: token(["\0", 1], "gpu_name asc:id asc") },
      "after_token",
      "invalid_token",
    ],
    [{ order_by: [["value"]], after_token: token([1, 1], "value desc:id asc") }, "after_token", "invalid_token"],
    [{ after_token: token([1.5]) }, "after_token", "invalid_token"],
  ] as const) {
    const { status, body, text } = await ask(query);
    assert.deepEqual([status, body.field, body.error], [400, field, error], text);
  }
  assert.equal((await ask({ after_token: token([99_999_999_999]) })).body.benchmarks_found, 0);
  assert.equal((await world.call({ url: "/api/v0/benchmarks/" })).status, 401);
});
