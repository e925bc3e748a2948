import assert from "node:assert/strict";
import { test } from "node:test";
import { measureRents } from "./rents.ts";

const SMALL = {
  hosts: 40,
  "gpus-per-host": 2,
  users: 10,
  connections: 8,
  rents: 16,
  rounds: 1,
  replays: 10,
  "control-ms": 100,
};

test("a small rent benchmark runs and its audit finds nothing", async () => {
  assert.deepEqual(await measureRents(SMALL), []);
});

test("the audit voids the figures when a device is sold twice, a hold is lost or an instance is not as answered", async () => {
  const problems = await measureRents(SMALL, async ({ database: { pool } }) => {
    await pool.query("drop index leases_one_live_per_device");
    await pool.query(`
      insert into leases (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at)
      select device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at
      from leases limit 1`);
    await pool.query(
      "update ledger_accounts set held_nanos = held_nanos - 1 where id = (select min(account_id) from ledger_holds)",
    );
    await pool.query("update idempotency_keys set response = null");
  });
  const text = problems.join("\n");
  assert.match(text, /devices with two live leases: 1 instead of 0/);
  assert.match(text, /answers whose instance is not as promised: 1 instead of 0/);
  assert.match(text, /money held on accounts/);
  assert.match(text, /ledger: held_differs/);
  assert.match(text, /repeated orders had another answer/);
});
