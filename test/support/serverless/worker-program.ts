// The program in the image of `worker-image.ts`: a backend of a fixed speed, and the worker before it. Its variables:
//   TEST_UNITS_PER_SECOND  how fast the backend works, one request after the other (100)
//   TEST_LOAD_MS           how long it loads before it is well (0)
//   TEST_CLAIMED_PERF      units a second that the worker claims instead of measuring: what a liar says
//   TEST_CRASH_AFTER       the container ends with code 1 at this many requests, the benchmark's included
//   TEST_SILENT_AFTER      the worker stands still, without ending, at this many requests
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

const BACKEND_PORT = 8000;
const MAIN = "/app/worker/src/main.ts";
const BENCHMARK_UNITS = 10;

const read = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);

const unitsPerSecond = read("TEST_UNITS_PER_SECOND", 100);
const crashAfter = read("TEST_CRASH_AFTER", Number.POSITIVE_INFINITY);
const silentAfter = read("TEST_SILENT_AFTER", Number.POSITIVE_INFINITY);
const wellAtMs = performance.now() + read("TEST_LOAD_MS", 0);
const run = randomUUID();
const ids = new Set<string>();
let [requests, repeated] = [0, 0];
let freeAtMs = 0;

/** How many requests that bear an id came since the program started, and how many of them had come before. */
function countOf(id: string) {
  if (ids.has(id)) repeated += 1;
  ids.add(id);
  return { run, served: ids.size, repeated };
}

const backend = createServer((request, response) => {
  if (request.url === "/health") return void response.writeHead(performance.now() < wellAtMs ? 503 : 200).end();
  return void text(request).then((body) => {
    requests += 1;
    if (requests >= crashAfter) process.exit(1);
    if (requests >= silentAfter) worker.kill("SIGSTOP");
    const { units, id } = JSON.parse(body) as { readonly units: number; readonly id?: string };
    const counts = id === undefined ? {} : { id, ...countOf(id) };
    const nowMs = performance.now();
    freeAtMs = Math.max(nowMs, freeAtMs) + (units / unitsPerSecond) * 1000;
    const answer = JSON.stringify({ worker: Number(process.env["CONTAINER_ID"]), units, ...counts });
    setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end(answer), freeAtMs - nowMs);
  });
});
backend.listen(BACKEND_PORT, "127.0.0.1");

const claimed = process.env["TEST_CLAIMED_PERF"];
const benchmark = ["--benchmark", JSON.stringify({ units: BENCHMARK_UNITS }), "--benchmark-requests", "4"];
const perf = claimed === undefined ? benchmark : ["--perf", claimed];
const flags = ["--backend", `http://127.0.0.1:${BACKEND_PORT}`, "--route", "/work=units", ...perf];
const worker = spawn(process.execPath, [...process.execArgv, MAIN, ...flags], { stdio: "inherit" });
worker.once("exit", (code) => process.exit(code ?? 1));
process.on("SIGTERM", () => worker.kill("SIGTERM"));
