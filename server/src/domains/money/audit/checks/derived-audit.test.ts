// Rows that follow from charge lines, payments and ends of runs: the audit's findings after somebody wrote into them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addUpDays, aReturn } from "../../../../../../test/support/money/audit-rows.ts";
import { auditWorld, passHour, type AuditWorld } from "../../../../../../test/support/money/audit-world.ts";
import { audit } from "../audit-service.ts";

async function differencesIn(world: AuditWorld): Promise<readonly string[]> {
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: false });
  return checks.flatMap(({ name, differences }) =>
    differences.map(
      ({ subject, problem, stored, expected }) => `${name}: ${subject}: ${problem}: ${stored}, ${expected}`,
    ),
  );
}

test("returned payments and daily sums have no difference until somebody writes into them", async (t) => {
  const world = await auditWorld(t);
  await aReturn(world);
  await addUpDays(world);
  assert.deepEqual(await differencesIn(world), []);
  await passHour(world, 2_000_000_000n);
  assert.deepEqual(await differencesIn(world), [], "what is not added up yet is nobody's fault");
  await addUpDays(world);
  assert.deepEqual(await differencesIn(world), []);
  await world.sql("delete from payment_takings");
  await world.sql("update payment_returns set intent_id = 'pi_0', taken_nanos = 0, lost_nanos = 0, booked_count = 0");
  await world.plant(
    "ledger_transfers",
    `update ledger_transfers set cause = cause - 'return', key = key || 'x', code = 'credit_granted'
     where cause ? 'return'`,
  );
  // The newest facts, which the chain has just linked.
  const found = (await differencesIn(world)).filter((text) => !text.startsWith("facts: "));
  assert.deepEqual(found, [], "of a payment that is not known yet nothing is booked");
});

const MISTAKES: readonly {
  readonly what: string;
  readonly table: string;
  readonly statement: string;
  readonly problem: RegExp;
}[] = [
  {
    what: "a return with a larger amount than is booked",
    table: "payment_returns",
    statement: "update payment_returns set returned_cents = 2001",
    problem:
      /^returns: return refund:ch_9: the booked amount is not the amount that went back: 20000000000, 20010000000/,
  },
  {
    what: "a dispute that was won and is not booked back",
    table: "payment_returns",
    statement: "update payment_returns set is_reversed = true",
    problem: /^returns: .*not the amount that went back: 20000000000, 0/,
  },
  {
    what: "a return with a smaller taking and a larger loss",
    table: "payment_returns",
    statement: "update payment_returns set taken_nanos = taken_nanos - 1, lost_nanos = lost_nanos + 1",
    problem: /^returns: .*took another amount from credit: 15000000000, 14999999999/,
  },
  {
    what: "a return with another count of bookings",
    table: "payment_returns",
    statement: "update payment_returns set booked_count = 0, taken_nanos = 0, lost_nanos = 0, returned_cents = 0",
    problem: /^returns: .*took another amount from credit: 15000000000, 0/,
  },
  {
    what: "a taking from a host with a smaller amount",
    table: "payment_takings",
    statement: "update payment_takings set amount_nanos = amount_nanos - 1",
    problem: /^returns: return refund:ch_9: what was taken from earnings \d+ is not what its transfers took: 999, 1000/,
  },
  {
    what: "a taking from a host that is marked as given back",
    table: "payment_takings",
    statement: "update payment_takings set given_back_at = taken_at",
    problem: /^returns: .*what was taken from earnings \d+ is not what its transfers took: 0, 1000/,
  },
  {
    what: "a debt without a returned payment",
    table: "ledger_accounts",
    statement: "update ledger_accounts set debt_nanos = 15000000001 where kind = 'credit'",
    problem:
      /^returns: debt of user \d+: credit may be further below zero than the amount that returned payments took: 15000000001, 15000000000/,
  },
  {
    what: "a host from whom more was taken back than it had earned",
    table: "ledger_transfers",
    statement: "update ledger_transfers set amount_nanos = 900000000000 where code = 'taken_back'",
    problem:
      /^returns: transfer \d+: its taken_back took more from host \d+ than it had earned and not given back: 900000000000, at most \d+/,
  },
  {
    what: "an administrator's entry that took more from a host than a dispute had left",
    table: "ledger_transfers",
    statement: `update ledger_transfers t set code = 'earnings_taken_back', amount_nanos = (
      select sum(e.amount_nanos) + 1 from ledger_transfers e where e.credit_account_id = t.debit_account_id
    ) where code = 'taken_back'`,
    problem: /^returns: transfer \d+: its earnings_taken_back took more from host \d+/,
  },
  {
    what: "a return that is gone",
    table: "payment_returns",
    statement: "delete from payment_takings; delete from payment_returns",
    problem: /^returns: transfer \d+: no payment went back for which it was booked/,
  },
  {
    what: "a return with another amount than its transfer",
    table: "ledger_transfers",
    statement: "update ledger_transfers set amount_nanos = amount_nanos - 1 where code = 'write_off'",
    problem: /^returns: .*made another loss: 4999999999, 5000000000/,
  },
  {
    what: "a return of a payment that nobody made",
    table: "payments",
    statement: "update payments set intent_id = 'pi_8'",
    problem: /^returns: .*its transfer is another user's/,
  },
  {
    what: "a sum of another amount",
    table: "charge_days",
    statement:
      "update charge_days set amount_nanos = amount_nanos + 1 where component = 'gpu' and paid_from = 'credit'",
    problem:
      /^days: 2026-03-01 of user \d+: gpu of instance \d+ from credit: .*come to: amount_nanos 3000000001, amount_nanos 3000000000/,
  },
  {
    what: "a sum with another count of lines",
    table: "charge_days",
    statement: "update charge_days set line_count = line_count + 1, first_line_id = 0, highest_discount_ppm = 7",
    problem: /^days: .*: line_count 3, first_line_id 0, highest_discount_ppm 7, line_count 2/,
  },
  {
    what: "a sum that is gone",
    table: "charge_days",
    statement: "delete from charge_days where volume_id > 0",
    problem: /^days: .*disk of volume \d+ from credit: its sum is not there/,
  },
  {
    what: "a sum without lines",
    table: "charge_days",
    statement: "update charge_days set day = day + 1 where volume_id > 0",
    problem: /^days: 2026-03-02 .*disk of volume \d+ from credit: it has no lines/,
  },
  {
    what: "sums that are marked as reaching further than they do",
    table: "charge_days_clock",
    statement: "update charge_days_clock set counted_until_at = counted_until_at + interval '1 day'",
    problem: /^days: .*its sum is not what its lines come to/,
  },
  {
    what: "a hold of an instance that is over and settled to its end",
    table: "instances",
    statement: `with tabs as (update instance_tabs set settle_at = null)
      update instances set phase = 'ended', desired = 'destroyed', ended_at = created_at`,
    problem: /^holds: instance \d+: it is ended and names a hold/,
  },
];

test("two runs may not be charged for the same time, even when each is right by itself", async (t) => {
  const world = await auditWorld(t);
  await world.sql(
    `insert into instance_runs (instance_id, generation, started_at, last_counted_at, metered_from_at)
     select instance_id, 2, started_at, last_counted_at, metered_from_at + running_ms * interval '1 ms'
     from instance_runs where instance_id = $1`,
    [world.instanceId],
  );
  assert.deepEqual(await differencesIn(world), [], "the second begins where the first one ended");
  await world.sql("update instance_runs set metered_from_at = metered_from_at - interval '1 ms' where generation = 2");
  const [found = "", ...others] = await differencesIn(world);
  assert.match(
    found,
    /^intervals: line \d+: it reaches into the time of a later run: .*T12:00:00.000Z, until .*T11:59:59.999Z$/,
  );
  assert.deepEqual(others, []);
});

test("a run that began before its earliest possible start, or counted more than its evidence allows, is found", async (t) => {
  const world = await auditWorld(t);
  const find = async (statement: string) => {
    await world.sql("alter table instance_runs drop constraint if exists instance_runs_begin_after_word");
    await world.sql(`${statement} where instance_id = ${world.instanceId}`);
    const found = await differencesIn(world);
    await world.sql(
      "update instance_runs set started_at = metered_from_at, needs_evidence = false, evidence_at = null, not_running_at = null",
    );
    return found;
  };
  assert.deepEqual(await find("update instance_runs set needs_evidence = true"), [
    `counters: run 1 of instance ${world.instanceId}: it counted more than its host's word allows without evidence of its start: 7200000, at most 60000`,
  ]);
  const reached = "update instance_runs set needs_evidence = true, evidence_at = metered_from_at + interval";
  assert.deepEqual(await find(`${reached} '59 s'`), [], "but for a minute, all follows the evidence");
  assert.match(
    (await find(`${reached} '61 s'`)).join(""),
    /counted more than its host's word .*7200000, at most 7199000/,
  );
  assert.match(
    (await find("update instance_runs set started_at = metered_from_at + interval '1 s'")).join(""),
    /^intervals: run 1 of instance \d+: it costs something from before it began/,
  );
  assert.match(
    (await find("update instance_runs set not_running_at = metered_from_at + interval '1 s'")).join(""),
    /^intervals: run 1 of .*from when its host still said that it did not run/,
  );
  assert.match(
    (await find("update instance_runs set started_at = started_at - interval '2 minutes'")).join(""),
    /^intervals: run 1 of .*it began before it was ordered/,
  );
});

for (const { what, table, statement, problem } of MISTAKES) {
  test(`finds ${what}`, async (t) => {
    const world = await auditWorld(t);
    await aReturn(world);
    await addUpDays(world);
    await passHour(world, 2_000_000_000n);
    await world.plant(table, statement);
    const found = await differencesIn(world);
    assert.ok(
      found.some((text) => problem.test(text)),
      `it says: ${found.join("\n")}`,
    );
  });
}
