import assert from "node:assert/strict";
import { test } from "node:test";
import { measureMetering } from "./metering.ts";

const SMALL = {
  machines: 20,
  "gpus-per-machine": 5,
  renters: 7,
  rounds: 2,
  "heard-seconds": 1,
  "control-count": 10,
};

test("a small metering benchmark runs and its audit finds nothing", async () => {
  assert.deepEqual(await measureMetering(SMALL), []);
});

test("the audit voids the figures when something is charged that was not counted, or money is lost", async () => {
  const problems = await measureMetering({ ...SMALL, rounds: 1 }, async ({ database: { pool } }) => {
    await pool.query("update instance_runs set charged_running_ms = charged_running_ms - 1 where instance_id = 1");
    await pool.query("update ledger_accounts set balance_nanos = balance_nanos + 1 where kind = 'earnings'");
  });
  const text = problems.join("\n");
  assert.match(text, /counters: 1 differ/);
  assert.match(text, /balances: \d+ differ/);
});
