import assert from "node:assert/strict";
import { test } from "node:test";
import { upEnvironment } from "./up.ts";

const plain = { port: 8080, host: "127.0.0.1", dataDir: "/data", agent: true };

test("the server gets the given options, and the data directory as an absolute path", () => {
  assert.deepEqual(upEnvironment(plain), { BERTH_PORT: "8080", BERTH_HOST: "127.0.0.1", BERTH_DATA_DIR: "/data" });
  assert.deepEqual(upEnvironment({ ...plain, dataDir: ".berth" })["BERTH_DATA_DIR"], `${process.cwd()}/.berth`);
  assert.equal(upEnvironment({ ...plain, simulate: 3 })["BERTH_SIMULATE"], "3");
  assert.equal(upEnvironment({ ...plain, agent: false })["BERTH_NO_AGENT"], "1");
  assert.equal(upEnvironment({ ...plain, declareGpus: "RTX 4090:2" })["BERTH_DECLARE_GPUS"], "RTX 4090:2");
});

test("options that contradict each other are refused", () => {
  const mistakes = [
    { ...plain, host: " " },
    { ...plain, simulate: 2, agent: false },
    { ...plain, simulate: 2, declareGpus: "RTX 4090:2" },
    { ...plain, agent: false, declareGpus: "RTX 4090:2" },
  ];
  for (const options of mistakes) assert.throws(() => upEnvironment(options), { name: "UserError", exitCode: 2 });
});
