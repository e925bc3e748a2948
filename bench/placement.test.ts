import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { measurePlacement, run } from "./placement.ts";
import { makeTraces, readTrace } from "./support/cluster-trace.ts";

test("a small placement benchmark runs to its end", async () => {
  await run(["--rounds", "1", "--machines", "20"]);
  await assert.rejects(run(["--rounds", "none"]), /there are: --rounds/);
});

test("a renter who takes the first offer of a search leaves whole machines to those who need them", () => {
  const [, trace] = makeTraces(120);
  assert.ok(trace !== undefined);
  const fillings = measurePlacement(trace, 1);
  const of = (name: string) => fillings.get(name)?.[0]?.atFirstRefusal ?? 0;
  const berth = of("Berth: the first result of a search");
  assert.ok(berth >= of("control: random") && berth >= of("the oldest offer"), `${berth}`);
  assert.ok(Math.abs(berth - of("control: best-fit")) < 0.05, "as good as best-fit");
});

test("a trace of files is read, packed or not: pods without GPUs are left out, parts of GPUs are whole ones", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-trace-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [nodes, pods] = [path.join(folder, "nodes.csv"), path.join(folder, "pods.csv.gz")];
  writeFileSync(nodes, "sn,cpu_milli,gpu,model\na,1,8,X\nb,1,0,\n");
  const lines = ["name,num_gpu,gpu_milli,gpu_spec", "p,1,300,", "q,0,0,", "r,8,1000,X|Y"];
  writeFileSync(pods, gzipSync(lines.join("\n")));
  assert.deepEqual(readTrace(nodes, pods), {
    name: "pods.csv.gz",
    nodes: [{ gpus: 8, model: "X" }],
    pods: [
      { gpus: 1, models: [] },
      { gpus: 8, models: ["X", "Y"] },
    ],
  });
});
