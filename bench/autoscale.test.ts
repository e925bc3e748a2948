import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { nanos } from "../server/src/base/money.ts";
import { measureAutoscaling, run } from "./autoscale.ts";
import { madeStartTimes, madeTrace, readStartTimes, readTraces } from "./support/autoscale/traces.ts";

const starts = madeStartTimes();
const model = {
  ...{ perf: 400, parallelCount: 1, firstStartsMs: starts, warmStartsMs: starts },
  ...{ priceNanosPerHour: nanos(1_000_000_000n), coldPriceNanosPerHour: nanos(0n) },
};

test("a small autoscaling benchmark runs to its end", async () => {
  await run(["--made-s", "900", "--warm-up-s", "300", "--workers", "12"]);
  await assert.rejects(run(["--data", "/nowhere"]), /no trace lies in/);
});

test("on traffic with bursts fewer are late than with either known rule, and changes are not taken back", () => {
  const { results, optimum } = measureAutoscaling(madeTrace(2_400), { model, workers: 30, warmUpMs: 600_000 });
  const of = (name: string) => results.find((each) => each.name === name)!.result;
  const ours = of("Berth");
  assert.ok(ours.lateShare < of("Knative's KPA").lateShare && ours.lateShare < of("queue delay").lateShare);
  assert.ok(ours.flapCount <= 1, `${ours.flapCount} changes were taken back`);
  assert.ok(ours.gpuHours > optimum.gpuHours, "who knows the future needs less");
  assert.ok(optimum.workGpuHours < optimum.gpuHours && optimum.lateShare < 0.01);
});

test("traces of files are read: times from the first request on, costs by tokens", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-traffic-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ["azure-llm-2023", "alibaba-genai-2026"]) mkdirSync(path.join(folder, name));
  const rows = ["TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:17:03.9799600,4800,10"];
  const file = path.join(folder, "azure-llm-2023/code_1816-1855.csv");
  writeFileSync(file, [...rows, "2023-11-16 18:17:04.4799600,100,8"].join("\n"));
  const [trace] = readTraces(folder);
  assert.deepEqual(trace?.arrivals, [
    { atMs: 0, load: 490 },
    { atMs: 500, load: 18 },
  ]);
  assert.deepEqual(readStartTimes(folder), starts);
});
