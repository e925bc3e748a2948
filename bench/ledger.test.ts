import assert from "node:assert/strict";
import { test } from "node:test";
import { measureLedger } from "./ledger.ts";

const SMALL = {
  small: 800,
  large: 1_600,
  machines: 2,
  "gpus-per-machine": 2,
  renters: 3,
  reads: 2,
  "full-max": 800,
};

test("a small ledger benchmark runs, with an audited checkpoint and with one that was put there, and nothing differs", async () => {
  assert.deepEqual(await measureLedger(SMALL), []);
});

test("the audit voids the figures when a charge was changed or a balance does not follow from its transfers", async () => {
  const problems = await measureLedger(SMALL, async ({ database: { pool } }) => {
    await pool.query("alter table charge_lines disable trigger all");
    await pool.query("update charge_lines set amount_nanos = amount_nanos + 1 where id = 1");
    await pool.query("update ledger_accounts set balance_nanos = balance_nanos - 1 where kind = 'issuance'");
  });
  const text = problems.join("\n");
  assert.match(text, /amounts: 1 differ/);
  assert.match(text, /balances: \d+ differ/);
  assert.match(text, /no checkpoint was stored/);
});
