import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const group = {
  id: 4,
  endpoint_id: 7,
  endpoint_name: "chat",
  user_id: 1,
  template_hash: "abc",
  search_params: "num_gpus=1",
  search_query: {},
  launch_args: "",
  gpu_ram: 24,
  test_workers: 3,
  cold_workers: 3,
  max_workers: 20,
  min_load: 1,
  min_cold_load: 0,
  target_util: 0.9,
  cold_mult: 3,
  generation: 1,
  is_updating: false,
  failure_count: 2,
  created_at: 1_900_000_000,
};

test("an endpoint and its worker group are made of what is given and nothing else", async (t) => {
  const { received, berth } = await answer(t, {
    "POST /api/v0/endptjobs/": { body: { success: true, result: 7 } },
    "POST /api/v0/workergroups/": { body: { success: true, id: 4, result: 4 } },
    "PUT /api/v0/endptjobs/7/": { body: { success: true } },
    "PUT /api/v0/workergroups/4/": { body: { success: true } },
  });
  const made = await berth("endpoint", "create", "--name", "chat", "--min-load", "0", "--cold-workers", "0");
  assert.match(made.stdout, /^Endpoint group 7 is created\..*berth workergroup create --endpoint 7/);
  await berth("workergroup", "create", "--endpoint", "7", "--template", "abc", "--search", "num_gpus=1");
  await berth("endpoint", "update", "7", "--inactivity-timeout", "-1", "--state", "suspended");
  await berth("workergroup", "update", "4", "--launch-args", "--image i --disk 40");
  assert.deepEqual(received, [
    ["POST /api/v0/endptjobs/", { endpoint_name: "chat", min_load: 0, cold_workers: 0 }],
    ["POST /api/v0/workergroups/", { endpoint_id: 7, template_hash: "abc", search_params: "num_gpus=1" }],
    ["PUT /api/v0/endptjobs/7/", { inactivity_timeout: -1, endpoint_state: "suspended" }],
    ["PUT /api/v0/workergroups/4/", { launch_args: "--image i --disk 40" }],
  ]);
});

test("events are printed oldest first with their worker, and control characters are replaced", async (t) => {
  const events = [
    {
      id: 2,
      at: 1_900_000_060,
      kind: "worker",
      level: 1,
      sentence: "It is\u001b[31m ready.",
      worker_id: 12,
      detail: {},
    },
    {
      ...{ id: 1, at: 1_900_000_030, kind: "worker", level: 1, detail: {} },
      ...{ sentence: "Worker 12 is rented.", worker_id: 12 },
    },
    { id: 0, at: 1_900_000_000, kind: "decision", level: 1, sentence: "One worker is rented.", detail: {} },
  ];
  const { received, berth } = await answer(t, {
    "GET /api/v0/endptjobs/7/events/": { body: { success: true, events } },
  });
  const { stdout } = await berth("endpoint", "explain", "7", "--last", "2");
  assert.deepEqual(stdout.trimEnd().split("\n"), [
    "2030-03-17 17:46:40  One worker is rented.",
    "2030-03-17 17:47:10  Worker 12 is rented.",
    "2030-03-17 17:47:40  worker 12: It is [31m ready.",
  ]);
  assert.deepEqual(received[0]?.[0], "GET /api/v0/endptjobs/7/events/?level=1&limit=2");
});

test("worker groups show their problems, and roll their workers on demand", async (t) => {
  const { received, berth } = await answer(t, {
    "GET /api/v0/workergroups/": { body: { success: true, results: [group, { ...group, id: 5, failure_count: 0 }] } },
    "POST /update_workers/": { body: { success: true, cancelled: false, workers_to_update: 1 } },
    "DELETE /api/v0/workergroups/4/": {
      body: { success: true, deleted_workers: [9], failed_workers: [], msg: "Deleted workergroup and 1 worker" },
    },
  });
  const { stdout } = await berth("workergroup", "list");
  const [, first, second] = stdout.trimEnd().split("\n");
  assert.match(first ?? "", /^ *4 {2}7 chat +abc .*2 failed in a row$/);
  assert.match(second ?? "", /ready$/);
  assert.equal(
    (await berth("workergroup", "roll", "4")).stdout,
    "1 worker of an earlier recipe to update, one after the other.\n",
  );
  await berth("workergroup", "roll", "4", "--cancel");
  assert.equal((await berth("workergroup", "delete", "4")).stdout, "Deleted workergroup and 1 worker\n");
  assert.deepEqual(received.slice(1, 3), [
    ["POST /update_workers/", { workergroup_id: 4 }],
    ["POST /update_workers/", { workergroup_id: 4, cancel_update: true }],
  ]);
});

test("workers are shown with their state in words, their load and speeds, and what they cost", async (t) => {
  const workers = [
    {
      ...{ id: 12, status: "idle", created_at: 1_900_000_000, loaded_at: 1_900_000_060, cur_load: 40, reqs_working: 2 },
      ...{ measured_perf: 100, cur_perf: 61.23456, gpu_name: "RTX 4090", machine_id: 3, dph_total: 0.31 },
      url: "http://192.0.2.1:40000",
    },
    { id: 13, status: "error", created_at: 1_900_000_000, error_msg: "no\u001b[31m memory" },
  ];
  const { received, berth } = await answer(t, { "POST /get_endpoint_workers/": { body: workers } });
  const { code, stdout } = await berth("endpoint", "workers", "7");
  assert.equal(code, 0);
  assert.deepEqual(received, [["POST /get_endpoint_workers/", { id: 7 }]]);
  const [title, first, second] = stdout.split("\n");
  assert.match(title ?? "", /^WORKER +MACHINE +GPU +STATE +LOAD +CLAIMS +SERVES +PER HOUR +SINCE +URL$/);
  assert.match(first ?? "", /12 .*RTX 4090 .*busy .*40 in 2 .*100 .*61\.23 .*\$0\.31 .*http:\/\/192\.0\.2\.1:40000/);
  assert.match(second ?? "", /failed: no\uFFFD\[31m memory/);
});

test("an answer that breaks off is printed as far as it came, and reported as broken", async (t) => {
  const worker = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\ndata", () => response.destroy());
    });
  }).listen(0, "127.0.0.1");
  await once(worker, "listening");
  t.after(() => worker.close());
  const { port } = worker.address() as AddressInfo;
  const route = { endpoint: "chat", cost: 5, request_idx: 3, reqnum: 1, signature: "s" };
  const { berth } = await answer(t, {
    "GET /api/v0/endptjobs/7/": { body: { success: true, result: { endpoint_name: "chat", api_key: "endpoint-key" } } },
    "POST /route/": { body: { ...route, url: `http://127.0.0.1:${port}` } },
  });
  const { code, stdout, stderr } = await berth(
    "endpoint",
    "request",
    "7",
    "--route",
    "/x",
    "--cost",
    "5",
    "--data",
    "{}",
  );
  assert.deepEqual([code, stdout], [1, "data: 1\n\ndata\n"]);
  assert.match(stderr, /^error: the answer broke off: [^\n]+\nThe worker may have done the request; [^\n]+\n$/);
});

test("a request is routed with the endpoint's own key, and the worker's answer is printed", async (t) => {
  const worker = await answer(t, { "POST /v1/completions": { body: { text: "upon a time" } } });
  const { received, berth } = await answer(t, {
    "GET /api/v0/endptjobs/7/": { body: { success: true, result: { endpoint_name: "chat", api_key: "endpoint-key" } } },
    "POST /route/": {
      body: { ...{ endpoint: "chat", cost: 5, request_idx: 3, reqnum: 1, signature: "s" }, url: worker.url },
    },
  });
  const request = ["endpoint", "request", "7", "--route", "/v1/completions", "--cost", "5", "--data"];
  const { code, stdout } = await berth(...request, '{"prompt":"Once"}');
  assert.deepEqual([code, stdout], [0, '{"text":"upon a time"}\n']);
  assert.deepEqual(received.at(-1), [
    "POST /route/",
    { endpoint: "chat", api_key: "endpoint-key", cost: 5, request_idx: 0, replay_timeout: 60 },
  ]);
  const [[path, body] = []] = worker.received;
  assert.deepEqual(
    [path, (body as { readonly payload: unknown }).payload],
    ["POST /v1/completions", { prompt: "Once" }],
  );
  const wrong = await berth(...request, "[1]");
  assert.equal(wrong.code, 2);
});
