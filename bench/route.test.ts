import assert from "node:assert/strict";
import { test } from "node:test";
import { measureRouter, measureRoutes } from "./route.ts";

const SMALL = { workers: 5, requests: 40, rounds: 1, connections: 4, calls: 500 };

test("a small routing benchmark finds nothing wrong", async () => {
  assert.deepEqual(await measureRoutes(SMALL), []);
});

test("the audit voids the figures when a request was given twice", async () => {
  const twice = await measureRoutes(SMALL, (given) => {
    const [first] = given;
    if (first !== undefined) given[1] = first;
  });
  assert.match(twice[0] ?? "", /given twice/);
});

test("the router alone loses nothing", () => {
  assert.deepEqual(measureRouter(SMALL), []);
});
