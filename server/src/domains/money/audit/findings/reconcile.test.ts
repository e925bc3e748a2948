import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MINUTE_MS,
  ONE_ALARM,
  ONE_REPAIR,
  SILENCE,
  aScene,
  findingsOf,
} from "../../../../../../test/support/money/reconciliation.ts";

test("an instance that may still cost something and has no date for its settlement is made due", async (t) => {
  const scene = await aScene(t);
  const { world, sql, next, id } = scene;
  await sql("update instance_tabs set settle_at = null");
  assert.deepEqual(await next(), ONE_REPAIR);
  assert.deepEqual(
    await sql("select settle_at = $2 as is_due from instance_tabs where instance_id = $1", [id, world.clock.now()]),
    [{ is_due: true }],
  );
  await world.runLoop("settle-runs");
  assert.deepEqual(await next(), SILENCE);
  assert.equal((await findingsOf(scene))[0]?.kind, "unscheduled");
});

test("a rental that cannot be settled is an alarm after ten minutes, although each attempt postpones it", async (t) => {
  const scene = await aScene(t);
  const { world, host, sql, next } = scene;
  await sql(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no lines'; end $$`);
  await sql("create trigger refuse before insert on charge_lines for each row execute function refuse()");
  await sql("update instance_tabs set settle_at = $1", [world.clock.now()]);
  for (let minute = 0; minute < 10; minute += 1) {
    world.clock.jump(MINUTE_MS);
    await host.count();
    await world.runLoop("settle-runs").catch(() => {});
    if (minute < 9) assert.deepEqual(await world.runLoop("reconcile"), SILENCE);
  }
  assert.deepEqual(await next(), ONE_ALARM);
  assert.equal((await findingsOf(scene))[0]?.kind, "late_settlement");
  await sql("drop trigger refuse on charge_lines");
  await sql("update instance_tabs set settle_at = $1", [world.clock.now()]);
  await world.runLoop("settle-runs");
  assert.deepEqual(await next(), SILENCE);
});

test("GPU grants of an ended instance are an alarm, and no rule frees them", async (t) => {
  const scene = await aScene(t);
  const { world, sql, next, id } = scene;
  await sql(
    `with tab as (update instance_tabs set hold_id = null where instance_id = $1)
     update instances set phase = 'ended', ended_at = $2, desired = 'destroyed' where id = $1`,
    [id, world.clock.now()],
  );
  await sql("update ledger_holds set state = 'released', closed_at = created_at where state = 'pending'");
  await sql("update ledger_accounts set held_nanos = 0 where kind = 'credit'");
  const found = (await next()) as typeof SILENCE;
  assert.ok(found.alarmed >= 1);
  assert.equal(found.repaired, 0);
  assert.deepEqual(await sql("select count(*)::integer as n from leases where released_at is null"), [{ n: 1 }]);
  const lease = (await findingsOf(scene)).find(({ kind }) => kind === "wrong_lease");
  assert.deepEqual(lease, { kind: "wrong_lease", subject: `instance ${id}`, outcome: "alarmed", foundCount: 1 });
  assert.ok(world.complaints.some((line) => line.includes("wrong_lease") && line.includes('"level":50')));
});

test("an instance past its deadline is an alarm each minute, and a single finding", async (t) => {
  const scene = await aScene(t);
  const { world, sql, next, id } = scene;
  await sql("update instances set deadline_at = $2 where id = $1", [
    id,
    new Date(world.clock.now().getTime() - 11 * MINUTE_MS),
  ]);
  assert.deepEqual(await next(), ONE_ALARM);
  assert.deepEqual(await next(), ONE_ALARM);
  assert.deepEqual(await findingsOf(scene), [
    { kind: "stuck_phase", subject: `instance ${id}`, outcome: "alarmed", foundCount: 2 },
  ]);
  await sql("update instances set deadline_at = null");
  assert.deepEqual(await next(), SILENCE);
});

test("an instance whose settlement is late is an alarm until it is settled", async (t) => {
  const scene = await aScene(t);
  const { world, sql, next, id } = scene;
  await sql("update instance_tabs set settle_at = $2 where instance_id = $1", [
    id,
    new Date(world.clock.now().getTime() - 11 * MINUTE_MS),
  ]);
  assert.deepEqual(await next(), ONE_ALARM);
  await world.runLoop("settle-runs");
  assert.deepEqual(await next(), SILENCE);
  assert.equal((await findingsOf(scene))[0]?.kind, "late_settlement");
});

test("two processes check the database once a minute between them", async (t) => {
  const scene = await aScene(t);
  const { world, sql } = scene;
  await sql(
    `insert into ledger_holds (account_id, amount_nanos, cause, created_at)
     select id, 7, '{}', '2020-01-01' from ledger_accounts where kind = 'credit' and held_nanos > 0`,
  );
  await sql("update ledger_accounts set held_nanos = held_nanos + 7 where kind = 'credit' and held_nanos > 0");
  world.clock.jump(MINUTE_MS);
  const runs = await Promise.all([world.runLoop("reconcile"), world.runLoop("reconcile")]);
  assert.deepEqual(
    runs.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    [SILENCE, ONE_REPAIR].toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
  );
});

test("administrators see findings with their counts", async (t) => {
  const { world, sql, next } = await aScene(t);
  await sql("update instance_tabs set settle_at = null");
  await next();
  const admin = await world.caller();
  await sql("update users set is_admin = true where id = $1", [admin.id]);
  await world.settled();
  const { body } = await world.call({ url: "/api/v0/admin/reconciliation/", secret: admin.secret });
  assert.deepEqual(body.last_found, { unscheduled: 1 });
  assert.equal(body.last_run_at, world.clock.now().getTime() / 1000);
  assert.equal(body.findings[0].outcome, "repaired");
  const { text } = await world.call({ url: "/metrics", secret: admin.secret });
  assert.match(text, /berth_reconciliation_findings\{kind="unscheduled",outcome="repaired"\} 1/);
});

test("the audit of a finished day stores a checkpoint when nothing differs, and alarms when something does", async (t) => {
  const scene = await aScene(t);
  const { world, sql } = scene;
  world.clock.jump(24 * 60 * MINUTE_MS);
  await sql("update ledger_accounts set balance_nanos = balance_nanos + 1 where kind = 'earnings'");
  assert.deepEqual(await world.runLoop("seal-audits"), { sealed: 0, differences: 2 });
  assert.deepEqual(await findingsOf(scene), [
    { kind: "audit_difference", subject: "check balances", outcome: "alarmed", foundCount: 1 },
  ]);
  assert.ok(world.complaints.some((line) => line.includes("the audit found rows that differ")));
  await sql("update ledger_accounts set balance_nanos = balance_nanos - 1 where kind = 'earnings'");
  assert.deepEqual(await world.runLoop("seal-audits"), { sealed: 1, differences: 0 });
  assert.deepEqual(await world.runLoop("seal-audits"), { sealed: 0, differences: 0 }, "that day is done");
});
