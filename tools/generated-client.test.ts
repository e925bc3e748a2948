// Clients that a public tool generates from the description have named models, and compile.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "..");
const GENERATOR = path.join(ROOT, "node_modules/openapi-typescript-codegen/bin/index.js");
const COMPILER = path.join(ROOT, "node_modules/.bin/tsc");
const MODELS = ["Instance", "Offer", "Machine", "Volume", "Endpoint", "ChargeLine", "Invoice", "NewInstance", "Error"];

test("a client that is generated from the description has named models, and compiles without a warning", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-client-"));
  t.after(() => rm(folder, { recursive: true }));

  const document = path.join(ROOT, "server/openapi.json");
  const said = await run(process.execPath, [GENERATOR, "--input", document, "--output", folder]);
  assert.deepEqual(said, { stdout: "", stderr: "" });

  const files = await readdir(path.join(folder, "models"));
  assert.deepEqual(
    MODELS.filter((name) => !files.includes(`${name}.ts`)),
    [],
  );
  // A tool numbers the models that have no name.
  assert.deepEqual(
    files.filter((name) => /\d\.ts$|Inline|^Body/.test(name)),
    [],
  );
  const service = await readFile(path.join(folder, "services/InstancesService.ts"), "utf8");
  assert.match(service, /CancelablePromise<\(?NewInstance \| RentalForecast\)?>/);

  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
  };
  await writeFile(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...compilerOptions, types: [] } }),
  );
  await run(COMPILER, ["-p", folder]);
});
