import assert from "node:assert/strict";
import { test } from "node:test";
import { soon, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { destroy, rent, rentAndRun } from "../../../../../../test/support/rentals.ts";
import { audit } from "../audit-service.ts";
import { listFindings } from "./finding-store.ts";

const MINUTE_MS = 60_000;
const SILENCE = { found: 0, repaired: 0, told: 0, alarmed: 0 };
const ONE_REPAIR = { found: 1, repaired: 1, told: 0, alarmed: 0 };
const ONE_ALARM = { found: 1, repaired: 0, told: 0, alarmed: 1 };
const ONE_ORDER = { found: 1, repaired: 0, told: 1, alarmed: 0 };

type Scene = {
  readonly world: TestApp;
  readonly host: FakeHost;
  readonly renter: TestCaller;
  readonly id: number;
  /** Lets a minute pass and runs the loop. */
  readonly next: () => Promise<unknown>;
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;
};

/** A running instance, settled three minutes after its start; the reconciliation finds nothing. */
async function aScene(t: Parameters<typeof testApp>[0]): Promise<Scene> {
  const world = await testApp(t);
  const renter = await world.caller();
  const host = await world.host({ gpus: 2 });
  const id = await rentAndRun(world, renter, host);
  for (let minute = 0; minute < 3; minute += 1) {
    world.clock.jump(MINUTE_MS);
    await host.obey();
    await world.runLoop("settle-runs");
  }
  const next = async () => {
    world.clock.jump(MINUTE_MS);
    return world.runLoop("reconcile");
  };
  assert.deepEqual(await next(), SILENCE);
  const sql: Scene["sql"] = async (text, values = []) => (await world.env.pool.query(text, [...values])).rows;
  return { world, host, renter, id, next, sql };
}

async function findingsOf({ world }: Scene) {
  const findings = await listFindings(world.env.database.kysely, 100);
  return findings.map(({ kind, subject, outcome, foundCount }) => ({ kind, subject, outcome, foundCount }));
}

test("a hold that no instance names is released once", async (t) => {
  const scene = await aScene(t);
  const { sql, next, id } = scene;
  const [hold] = await sql(
    `insert into ledger_holds (account_id, amount_nanos, cause, created_at)
     select id, 7, '{}', '2020-01-01' from ledger_accounts where kind = 'credit' and held_nanos > 0 returning id`,
  );
  await sql("update ledger_accounts set held_nanos = held_nanos + 7 where kind = 'credit' and held_nanos > 0");
  assert.deepEqual(await next(), ONE_REPAIR);
  assert.deepEqual(await sql("select state from ledger_holds where id = $1", [hold?.["id"]]), [{ state: "released" }]);
  assert.deepEqual(await next(), SILENCE);
  assert.deepEqual(await findingsOf(scene), [
    { kind: "stray_hold", subject: `hold ${String(hold?.["id"])}`, outcome: "repaired", foundCount: 1 },
  ]);
  const [instance] = await sql("select hold_id is not null as has_hold from instance_tabs where instance_id = $1", [
    id,
  ]);
  assert.deepEqual(instance, { has_hold: true }, "the hold of the instance is left alone");
  await scene.world.assertBooks();
});

test("a new hold is left alone, since its instance may be about to name it", async (t) => {
  const { world, sql, next } = await aScene(t);
  await sql(
    `insert into ledger_holds (account_id, amount_nanos, cause, created_at)
     select id, 7, '{}', $1 from ledger_accounts where kind = 'credit' and held_nanos > 0`,
    [world.clock.now()],
  );
  assert.deepEqual(await next(), SILENCE);
});

test("an instance that runs without a hold is settled at once, and has a hold again", async (t) => {
  const scene = await aScene(t);
  const { world, sql, next, id } = scene;
  const [before] = await sql("select hold_id from instance_tabs where instance_id = $1", [id]);
  await sql("update instance_tabs set hold_id = null, settle_at = $2 where instance_id = $1", [
    id,
    new Date(world.clock.now().getTime() + 30 * MINUTE_MS),
  ]);
  await sql("update ledger_holds set state = 'released', closed_at = created_at where id = $1", [before?.["hold_id"]]);
  await sql("update ledger_accounts set held_nanos = 0 where kind = 'credit'");
  assert.deepEqual(await next(), ONE_REPAIR);
  assert.deepEqual(
    await sql("select settle_at = $2 as is_due from instance_tabs where instance_id = $1", [id, world.clock.now()]),
    [{ is_due: true }],
  );
  await world.runLoop("settle-runs");
  assert.deepEqual(await next(), SILENCE);
  await world.assertBooks();
  assert.equal((await findingsOf(scene))[0]?.kind, "missing_hold");
});

test("an instance forgets a hold that is closed, and gets another one", async (t) => {
  const scene = await aScene(t);
  const { world, sql, next } = scene;
  await sql("update ledger_holds set state = 'released', closed_at = created_at where state = 'pending'");
  await sql("update ledger_accounts set held_nanos = 0 where kind = 'credit'");
  assert.deepEqual(await next(), ONE_REPAIR);
  await world.runLoop("settle-runs");
  assert.deepEqual(await next(), SILENCE);
  await world.assertBooks();
  assert.equal((await findingsOf(scene))[0]?.kind, "closed_hold");
});

test("an ended instance keeps its hold until it is settled, without a finding", async (t) => {
  const scene = await aScene(t);
  const { world, host, renter, sql, next, id } = scene;
  await destroy(world, renter, id);
  await host.obey();
  const [over] = await sql(
    "select phase, hold_id is not null as has_hold, settle_at from instances join instance_tabs on instance_id = id where id = $1",
    [id],
  );
  assert.deepEqual([over?.["phase"], over?.["has_hold"]], ["ended", true]);
  const report = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  assert.deepEqual(
    report.checks.flatMap(({ differences }) => differences),
    [],
  );
  for (let minute = 0; minute < 4; minute += 1) assert.deepEqual(await next(), SILENCE);
  assert.deepEqual(await sql("select count(*)::integer as n from ledger_holds where state = 'pending'"), [{ n: 1 }]);
  await world.runLoop("settle-runs");
  assert.deepEqual(await sql("select count(*)::integer as n from ledger_holds where state = 'pending'"), [{ n: 0 }]);
  assert.deepEqual(await next(), SILENCE);
  await world.assertBooks();
});

test("an instance that is over and settled to its end keeps no hold", async (t) => {
  const scene = await aScene(t);
  const { world, host, renter, sql, next, id } = scene;
  await destroy(world, renter, id);
  await host.obey();
  await sql("update instance_runs set charged_running_ms = running_ms");
  await sql("update instance_tabs set settle_at = null where instance_id = $1", [id]);
  // The instance forgets its hold, and the hold is released.
  assert.deepEqual(await next(), { found: 2, repaired: 2, told: 0, alarmed: 0 });
  assert.deepEqual(await sql("select state from ledger_holds where state = 'pending'"), []);
  assert.deepEqual(
    (await findingsOf(scene)).map(({ kind }) => kind).toSorted((a, b) => a.localeCompare(b)),
    ["closed_hold", "stray_hold"],
  );
  await world.assertBooks();
});

test("a hold that two instances name is an alarm: no rule knows whose it is", async (t) => {
  const scene = await aScene(t);
  const { world, host, renter, sql, id } = scene;
  const other = await rentAndRun(world, renter, host);
  await sql(
    "update instance_tabs set hold_id = (select hold_id from instance_tabs where instance_id = $1) where instance_id = $2",
    [id, other],
  );
  await scene.next();
  const shared = (await findingsOf(scene)).find(({ kind }) => kind === "shared_hold");
  const [{ hold_id: holdId } = {}] = await sql("select hold_id from instance_tabs where instance_id = $1", [id]);
  const subject = `hold ${String(holdId)}`;
  assert.deepEqual(shared, { kind: "shared_hold", subject, outcome: "alarmed", foundCount: 1 });
  assert.deepEqual(await sql("select state from ledger_holds where id = $1", [holdId]), [{ state: "pending" }]);
  assert.ok(world.complaints.some((line) => line.includes("shared_hold") && line.includes('"level":50')));
});

test("an instance that should run, never ran, and has no hold is an alarm", async (t) => {
  const scene = await aScene(t);
  const { world, host, renter, sql, next } = scene;
  const other = await rent(world, renter, host);
  await host.synced();
  // Its start takes long: it is not proven to run, and so not due for settlement.
  const [{ hold_id: holdId } = {}] = await sql("select hold_id from instance_tabs where instance_id = $1", [other]);
  await sql(
    `with tab as (update instance_tabs set hold_id = null where instance_id = $1)
     update instances set deadline_at = null where id = $1`,
    [other],
  );
  await sql(
    "update ledger_accounts set held_nanos = held_nanos - (select amount_nanos from ledger_holds where id = $1) where kind = 'credit' and held_nanos > 0",
    [holdId],
  );
  await sql("update ledger_holds set state = 'released', closed_at = created_at where id = $1", [holdId]);
  assert.deepEqual(await next(), SILENCE, "it has had no time yet");
  await next();
  assert.deepEqual(await next(), ONE_ALARM);
  const missing = (await findingsOf(scene)).find(({ kind }) => kind === "missing_hold");
  assert.deepEqual(missing, { kind: "missing_hold", subject: `instance ${other}`, outcome: "alarmed", foundCount: 1 });
  assert.ok(world.complaints.some((line) => line.includes("missing_hold") && line.includes('"level":50')));
});

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

test("a host with an unknown instance is sent its desired set again", async (t) => {
  const scene = await aScene(t);
  const { world, host, next } = scene;
  const told = () => host.received.filter(({ kind }) => kind === "desired").length;
  await host.report([...host.obedience(), { instance_id: 4711, generation: 3, state: "running" }]);
  const before = told();
  assert.deepEqual(await next(), ONE_ORDER);
  await soon("the host to be told again", () => told() > before);
  await host.obey();
  assert.deepEqual(await next(), SILENCE, "it has removed it");
  assert.deepEqual(await findingsOf(scene), [
    { kind: "stray_instance", subject: "instance 4711", outcome: "told", foundCount: 1 },
  ]);
  assert.equal(
    world.complaints.some((line) => line.includes("stray_instance")),
    true,
  );
});

test("a host with an instance of another machine, or with a deleted volume, is sent its desired set again", async (t) => {
  const { world, id, next } = await aScene(t);
  const other = await world.host();
  await other.report([{ instance_id: id, generation: 1, state: "running" }], {
    volumes: [{ volume_id: 99, state: "present", used_bytes: 0, message: "" }],
  });
  assert.deepEqual(await next(), { found: 2, repaired: 0, told: 2, alarmed: 0 });
  await other.report([{ instance_id: id, generation: 1, state: "absent" }]);
  assert.deepEqual(await next(), SILENCE);
});

test("a host without an instance that it should run is sent its desired set again, after a delay", async (t) => {
  const scene = await aScene(t);
  const { host, next, id } = scene;
  await host.report([]);
  assert.deepEqual(await next(), ONE_ORDER);
  await host.obey();
  assert.deepEqual(await next(), SILENCE);
  assert.deepEqual(await findingsOf(scene), [
    { kind: "missing_instance", subject: `instance ${id}`, outcome: "told", foundCount: 1 },
  ]);
});

test("a host that counts more than is possible is an alarm, and its count is not stored", async (t) => {
  const scene = await aScene(t);
  const { host, next, id, sql } = scene;
  const [seen] = host.obedience();
  assert.ok(seen);
  const counters = { running_ms: 90_000_000, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ ...seen, counters }]);
  assert.deepEqual(await next(), ONE_ALARM);
  const [run] = await sql("select running_ms < 600000 as is_small from instance_runs where instance_id = $1", [id]);
  assert.deepEqual(run, { is_small: true });
  assert.equal((await findingsOf(scene))[0]?.kind, "uncounted_time");
});

test("running time that a host counts and the server has not stored for minutes is an alarm", async (t) => {
  const scene = await aScene(t);
  const { host, next, id, sql } = scene;
  const [seen] = host.obedience();
  assert.ok(seen?.counters);
  // The host counted the same a moment ago: not every report's counters are stored.
  await host.report([{ ...seen, counters: { ...seen.counters, running_ms: seen.counters.running_ms + 90_000 } }]);
  assert.deepEqual(await next(), SILENCE);
  await sql("update instance_runs set last_counted_at = last_counted_at - interval '6 minutes'");
  assert.deepEqual(await next(), ONE_ALARM);
  assert.deepEqual(await findingsOf(scene), [
    { kind: "unbilled_time", subject: `instance ${id}`, outcome: "alarmed", foundCount: 1 },
  ]);
});

test("a machine that counts as away while its agent is connected counts as connected again, with a finding", async (t) => {
  const scene = await aScene(t);
  const { world, host, next, sql } = scene;
  const idle = await world.host();
  await sql("update machines set is_connected = false");
  assert.deepEqual(await next(), { found: 2, repaired: 2, told: 0, alarmed: 0 });
  assert.deepEqual(await sql("select distinct is_connected from machines"), [{ is_connected: true }]);
  const subjects = (await findingsOf(scene)).map(({ kind, subject }) => `${kind} ${subject}`).toSorted();
  assert.deepEqual(subjects, [host, idle].map(({ machineId }) => `false_absence machine ${machineId}`).toSorted());
  assert.deepEqual(await next(), SILENCE);
  await idle.disconnect();
  assert.deepEqual(await next(), SILENCE, "one that left is away");
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
