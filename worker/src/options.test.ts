import assert from "node:assert/strict";
import { test } from "node:test";
import { readOptions, type SidecarOptions } from "./options.ts";

function read(argv: readonly string[], variables: Readonly<Record<string, string>> = {}): SidecarOptions {
  const reading = readOptions(argv, variables);
  assert.ok(reading.ok, reading.ok ? "" : reading.problem);
  return reading.options;
}

test("the units of a route are the client's cost, its tokens, a number, or a member of the request", () => {
  const routes = ["/a", "/b=tokens", "/c=7", "/d=steps"].flatMap((route) => ["--route", route]);
  const { calculateLoad, routes: paths } = read(routes);
  assert.deepEqual(paths, ["/a", "/b", "/c", "/d"]);
  const load = (route: string, payload: Readonly<Record<string, unknown>>) =>
    calculateLoad({ route, payload, cost: 3 });
  assert.equal(load("/a", { max_tokens: 9 }), 3);
  assert.deepEqual([load("/b", { max_tokens: 9 }), load("/b", {}), load("/b", { max_tokens: "9" })], [9, 512, 512]);
  assert.equal(load("/c", {}), 7);
  assert.deepEqual([load("/d", { steps: 20 }), load("/d", { steps: -1 })], [20, 3]);
});

test("flags override variables, and variables override defaults", () => {
  const variables = {
    BERTH_WORKER_BACKEND: "http://127.0.0.1:1",
    BERTH_WORKER_ROUTES: "/x, /y=5",
    BERTH_WORKER_PERF: "12",
  };
  const given = read(["--backend", "http://127.0.0.1:2", "--at-once", "2"], variables);
  assert.equal(given.backendUrl, "http://127.0.0.1:2");
  assert.deepEqual([given.routes, given.benchmark, given.atOnce], [["/x", "/y"], { perf: 12 }, 2]);
  const plain = read(["--route", "/x=tokens", "--benchmark", '{"max_tokens":64}']);
  assert.ok("load" in plain.benchmark);
  assert.deepEqual([plain.benchmark.load, plain.benchmark.requests, plain.healthPath], [64, 8, "/health"]);
  assert.equal(plain.atOnce, Number.POSITIVE_INFINITY);
});

test("a mistake is named by its flag", () => {
  for (const [argv, problem] of [
    [[], /--route/],
    [["--route", "x"], /--route/],
    [["--route", "/x", "--backend", "nowhere"], /--backend/],
    [["--route", "/x", "--perf", "-1"], /--perf/],
    [["--route", "/x", "--perf", "Infinity"], /--perf/],
    [["--route", "/x", "--at-once", "many"], /--at-once/],
    [["--route", "/x", "--benchmark-requests", "0.5"], /--benchmark-requests: a whole number/],
    [["--route", "/x", "--benchmark", "["], /--benchmark/],
    [["--route", "/x", "--what"], /--what/],
  ] as const) {
    const reading = readOptions(argv, {});
    assert.ok(!reading.ok);
    assert.match(reading.problem, problem);
  }
});
