import assert from "node:assert/strict";
import { test } from "node:test";
import { differencesIn } from "../../../../../test/support/money/audit-differences.ts";
import { auditWorld, HOUR_MS } from "../../../../../test/support/money/audit-world.ts";

test("a charge line is checked against the terms of its time, although the price changed later", async (t) => {
  const world = await auditWorld(t);
  const { sql, clock, instanceId } = world;
  await sql("update instances set price_nanos_per_hour = 3000000000 where id = $1", [instanceId]);
  assert.match((await differencesIn(world)).join("\n"), /terms: line \d+: its price is not that of its time/);
  await sql(
    `insert into past_terms (instance_id, until_at, generation, until_running_ms, until_received_bytes, until_sent_bytes,
       price_nanos_per_hour, storage_nanos_per_gb_month, inet_up_nanos_per_gb, inet_down_nanos_per_gb, discount_ppm)
     values ($1, $2, 1, $3, 2000000000, 4000000000, 2000000000, 150000000, 2000000, 3000000, 0)`,
    [instanceId, clock.now(), 2 * HOUR_MS],
  );
  assert.deepEqual(await differencesIn(world), []);
});

test("free usage has no charge line, and its counter continues", async (t) => {
  const world = await auditWorld(t);
  const { sql, clock, instanceId } = world;
  await sql(
    `insert into past_terms (instance_id, until_at, generation, until_running_ms, until_received_bytes, until_sent_bytes,
       price_nanos_per_hour, storage_nanos_per_gb_month, inet_up_nanos_per_gb, inet_down_nanos_per_gb, discount_ppm)
     values ($1, $2, 1, $3, 2000000000, 4000000000, 2000000000, 150000000, 2000000, 3000000, 0)`,
    [instanceId, clock.now(), 2 * HOUR_MS],
  );
  await sql("update instances set price_nanos_per_hour = 0, inet_up_nanos_per_gb = 0 where id = $1", [instanceId]);
  await sql(
    `update instance_runs set running_ms = running_ms + 5000, charged_running_ms = charged_running_ms + 5000,
       sent_bytes = sent_bytes + 7, charged_sent_bytes = charged_sent_bytes + 7 where instance_id = $1`,
    [instanceId],
  );
  assert.deepEqual(await differencesIn(world), []);
});
