import assert from "node:assert/strict";
import { test } from "node:test";
import { measureOutbids } from "./outbid.ts";

const SMALL = { hosts: 4, "gpus-per-host": 2, users: 3, connections: 4, rounds: 2, "notice-seconds": 1 };

test("a small outbid benchmark runs, with notices, and its audit finds nothing", async () => {
  assert.deepEqual(await measureOutbids(SMALL), []);
});

test("the audit voids the figures when a device is leased twice or a bid moved twice", async () => {
  const problems = await measureOutbids(
    { ...SMALL, rounds: 1, "notice-seconds": 0 },
    async ({ database: { pool } }) => {
      await pool.query("drop index leases_one_live_per_device");
      await pool.query(`
      insert into leases (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at)
      select device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at
      from leases where released_at is null limit 1`);
      await pool.query(`
      insert into instance_events (instance_id, at, actor, cause, from_phase, to_phase, generation)
      select instance_id, at, actor, cause, from_phase, to_phase, generation from instance_events
      where cause = 'on_demand' limit 1`);
    },
  );
  const text = problems.join("\n");
  assert.match(text, /devices with two live leases: 1 instead of 0/);
  assert.match(text, /leases that began before the one before had ended: 1 instead of 0/);
  assert.match(text, /bids that moved more often, or not: 1 instead of 0/);
});
