import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { auditWorld } from "../../../../../test/support/money/audit-world.ts";
import { createLog } from "../../../base/log.ts";
import { AuditDesk } from "./audit-desk.ts";
import { CHECK_NAMES } from "./rules/difference.ts";

async function anAdmin(world: TestApp) {
  const admin = await world.caller();
  await world.env.pool.query("update users set is_admin = true where id = $1", [admin.id]);
  await world.settled();
  return admin;
}

test("an administrator sees every check and its differences", async (t) => {
  const world = await testApp(t);
  const admin = await anAdmin(world);
  const ask = (query = "") => world.call({ url: `/api/v0/admin/audit/${query}`, secret: admin.secret });
  const { status, body } = await ask();
  assert.equal(status, 200);
  assert.deepEqual([body.state, body.is_sound, body.is_full, body.sealed_until], ["finished", true, false, null]);
  assert.deepEqual(
    body.checks.map(({ name }: { readonly name: string }) => name),
    CHECK_NAMES,
  );
  assert.equal((await ask("?full=true")).body.is_full, true);
  await world.env.pool.query("update ledger_accounts set balance_nanos = balance_nanos + 1 where kind = 'credit'");
  const { body: broken } = await ask();
  assert.equal(broken.is_sound, false);
  const [balances] = broken.checks;
  assert.equal(balances.difference_count, 2);
  assert.deepEqual(balances.differences[0], {
    subject: "ledger",
    problem: "balances do not sum to zero",
    stored: "$0.000000001",
    expected: "$0",
  });
});

test("a flag that is neither true nor false is refused by the name of its field", async (t) => {
  const world = await testApp(t);
  const admin = await anAdmin(world);
  const { status, body } = await world.call({ url: "/api/v0/admin/audit/?full=yes", secret: admin.secret });
  assert.equal(status, 400);
  assert.match(body.msg, /full must be true or false/);
});

test("only administrators may run an audit", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  for (const name of ["audit", "reconciliation"]) {
    const { status } = await world.call({ url: `/api/v0/admin/${name}/`, secret: renter.secret });
    assert.equal(status, 403);
  }
});

test("a long audit goes on, and answers the next request", async (t) => {
  const { env, clock } = await auditWorld(t);
  const desk = new AuditDesk({ database: env.database, clock }, createLog("silent"));
  const blocker = await env.pool.connect();
  await blocker.query("begin");
  await blocker.query("lock table ledger_accounts in access exclusive mode");
  const startedAt = clock.now();
  const [first, second] = [desk.ask({ isFull: false }), desk.ask({ isFull: false })];
  clock.advance(20_000);
  assert.deepEqual(await first, { kind: "running", startedAt });
  assert.deepEqual(await second, { kind: "running", startedAt });
  const third = desk.ask({ isFull: false });
  await blocker.query("rollback");
  blocker.release();
  const answer = await third;
  assert.equal(answer.kind, "finished");
  assert.equal(answer.kind === "finished" && answer.report.isSound, true);
});

test("a failed audit is answered with its failure, and the next request starts another one", async (t) => {
  const { env, clock, sql } = await auditWorld(t);
  const desk = new AuditDesk({ database: env.database, clock }, createLog("silent"));
  await sql("alter table audit_seals rename to audit_seals_elsewhere");
  await assert.rejects(desk.ask({ isFull: true }));
  await sql("alter table audit_seals_elsewhere rename to audit_seals");
  assert.equal((await desk.ask({ isFull: true })).kind, "finished");
});

test("a report that nobody fetched in time is replaced by a new audit", async (t) => {
  const { env, clock } = await auditWorld(t);
  const desk = new AuditDesk({ database: env.database, clock }, createLog("silent"));
  const blocker = await env.pool.connect();
  await blocker.query("begin");
  await blocker.query("lock table ledger_accounts in access exclusive mode");
  const asked = desk.ask({ isFull: false });
  clock.advance(20_000);
  assert.equal((await asked).kind, "running");
  await blocker.query("rollback");
  blocker.release();
  await desk.idle();
  clock.advance(3_600_000);
  const answer = await desk.ask({ isFull: false });
  assert.equal(answer.kind === "finished" && answer.report.at.getTime(), clock.now().getTime());
});
