import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { USAGE } from "./options.ts";

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const main = path.join(import.meta.dirname, "main.ts");
  return spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    env,
    encoding: "utf8",
  });
}

test("the program prints its usage, mistakes in its flags, and the reason why it cannot be a worker", () => {
  const help = run(["--help"]);
  assert.deepEqual([help.status, help.stdout], [0, `${USAGE}\n`]);
  const wrong = run(["--route", "nowhere"]);
  assert.deepEqual(
    [wrong.status, wrong.stderr],
    [2, `--route: a path such as /v1/completions, not nowhere\n\n${USAGE}\n`],
  );
  const nobody = run(["--route", "/x"], { CONTAINER_ID: "7", MASTER_TOKEN: "hidden-token" });
  assert.equal(nobody.status, 3);
  assert.match(nobody.stderr, /^berth worker: cannot be a worker here: REPORT_ADDR is not set/);
  assert.ok(!nobody.stderr.includes("hidden-token"));
});
