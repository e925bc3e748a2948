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
import { destroy, rent, rentAndRun } from "../../../../../../test/support/rentals.ts";
import { audit } from "../audit-service.ts";

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
