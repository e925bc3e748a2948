import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { answer } from "../test/answering-server.ts";
import { readClock } from "./clock.ts";

const present = {
  requests: 1_200,
  unserved: 0,
  late_share: 0.0371,
  wait_p50: 0,
  wait_p95: 0.4,
  wait_p99: 12.25,
  hot_hours: 30.5,
  cold_hours: 60,
  cost: 12.5,
  cost_per_1000_requests: 10.416667,
  workers_max: 5,
  starts: 7,
  stops: 8,
  flaps: 1,
};
const proposed = { ...present, late_share: 1, wait_p99: null, cost: 0.25, cost_per_1000_requests: null };
const simulated = { success: true, sentence: "It would have been cheaper.", present, proposed };
const answers = { "POST /api/v0/endptjobs/7/simulate/": { body: simulated } };

function fileOf(t: TestContext, text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-trace-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "trace.csv");
  writeFileSync(file, text);
  return file;
}

test("a simulation shows both sides of each figure and the sentence that compares them", async (t) => {
  const { received, berth } = await answer(t, answers);
  const nowS = () => Math.floor(readClock().getTime() / 1000);
  const beforeS = nowS();
  const { stdout } = await berth("endpoint", "simulate", "7", "--min-load", "0", "--hours", "6", "--state", "active");
  assert.deepEqual(stdout.trimEnd().split("\n"), [
    "                         PRESENT  PROPOSED",
    "cost                     $12.50   $0.25",
    "cost per 1,000 requests  $10.42   -",
    "requests                 1200     1200",
    "waited over a second     3.71 %   100 %",
    "never served             0        0",
    "median wait              0 s      0 s",
    "wait of 95 in 100        0.4 s    0.4 s",
    "wait of 99 in 100        12.25 s  for ever",
    "worker-hours running     30.50    30.50",
    "worker-hours stopped     60.00    60.00",
    "most workers             5        5",
    "starts and stops         7 and 8  7 and 8",
    "reversed in a minute     1        1",
    "",
    "It would have been cheaper.",
  ]);
  const [[, body] = []] = received;
  const { from, ...others } = body as { readonly from: number };
  assert.deepEqual(others, { min_load: 0, endpoint_state: "active" });
  assert.ok(from >= beforeS - 6 * 3_600 && from <= nowS() - 6 * 3_600);
});

test("a trace of a file is replayed as it stands there, and a line that is none is named", async (t) => {
  const { received, berth } = await answer(t, answers);
  const good = fileOf(t, "seconds,cost\n0,50\r\n1.5, 12\n\n");
  await berth("endpoint", "simulate", "7", "--trace", good, "--worker", '{"perf":100}');
  assert.deepEqual(received, [
    [
      "POST /api/v0/endptjobs/7/simulate/",
      {
        trace: [
          [0, 50],
          [1.5, 12],
        ],
        worker: { perf: 100 },
      },
    ],
  ]);
  const wrong = await berth("endpoint", "simulate", "7", "--trace", fileOf(t, "0,50\n1;50\n"));
  assert.match(wrong.stderr, /Line 2 of .*trace\.csv is not seconds,cost/);
  const absent = await berth("endpoint", "simulate", "7", "--trace", path.join(tmpdir(), "berth-no-such-file.csv"));
  assert.match(absent.stderr, /cannot be read: ENOENT/);
  assert.match(
    (await berth("endpoint", "simulate", "7", "--hours", "3", "--trace", good)).stderr,
    /cannot be used with/,
  );
  assert.equal(received.length, 1);
});

test("a simulation is JSON when that is asked for", async (t) => {
  const { berth } = await answer(t, answers);
  const { stdout } = await berth("endpoint", "simulate", "7", "--json");
  assert.deepEqual(JSON.parse(stdout), simulated);
});
