import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { aUser } from "../../../../../../test/support/fixtures.ts";
import { aMachine, anInstanceRow } from "../../../../../../test/support/hosts/machines.ts";
import { followMarketNews } from "../../../../../../test/support/hosts/market-news.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { testDatabase, type TestDatabase } from "../../../../../../test/support/database/postgres.ts";
import type { MachineId } from "../../../../base/ids.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { rentals } from "../../../rental/instances/for-assembly.ts";
import { insertMaintenance } from "../trust/maintenance-store.ts";
import { restartPresence } from "./presence-store.ts";
import { deleteOldFacts } from "../starts/start-store.ts";
import { accruePresence, rateMachines, reportReliability } from "../trust/service.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A market whose clock only the test moves; presence is counted up to now. */
async function market(t: TestContext, start = "2026-01-01T12:00:00Z") {
  const env = await testDatabase(t);
  const clock = new ManualClock(start);
  const run = <T>(work: (tx: Tx) => Promise<T>) => withTransaction(env.database, clock, work);
  const count = () => run((tx) => accruePresence(tx, rentals));
  const machine = () => run(async (tx) => aMachine(tx, (await aUser(tx)).id));
  const report = (id: MachineId) => reportReliability(env.database.kysely, id, clock.now());
  /** Lets minutes pass, with a count at the end of each. */
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      clock.advance(MINUTE_MS);
      await count();
    }
  };
  await count();
  return { env, clock, run, count, machine, report, pass };
}

const leave = ({ pool }: TestDatabase, id: MachineId) =>
  pool.query("update machines set is_connected = false where id = $1", [id]);

/** Days as `[day, online, offline, rented, maintenance]` in minutes, from the first. */
async function minutesOf({ pool }: TestDatabase, id: MachineId): Promise<readonly number[][]> {
  const { rows } = await pool.query<Record<string, bigint | number>>(
    "select * from machine_days where machine_id = $1 order by day",
    [id],
  );
  const minutes = (value: unknown) => Number(value) / MINUTE_MS;
  return rows.map((row) => [
    Number(row["day"]),
    minutes(row["online_ms"]),
    minutes(row["offline_ms"]),
    minutes(row["offline_rented_ms"]),
    minutes(row["maintenance_ms"]),
  ]);
}

test("each minute counts for its day and only once, with any number of counting processes", async (t) => {
  const { env, clock, count, machine, pass } = await market(t, "2026-01-01T23:58:00Z");
  const id = await machine();
  await pass(1);
  clock.advance(2 * MINUTE_MS);
  await Promise.all([count(), count(), count(), count()]);
  assert.deepEqual(await minutesOf(env, id), [
    [20_454, 2, 0, 0, 0],
    [20_455, 1, 0, 0, 0],
  ]);
});

test("a machine that is away was online until it was last heard; unknown time before a new connection counts neither way", async (t) => {
  const { env, clock, count, machine, pass } = await market(t);
  const id = await machine();
  await pass(10);
  await env.pool.query("update machines set is_connected = false, last_seen_at = $2 where id = $1", [
    id,
    new Date(clock.now().getTime() + MINUTE_MS / 2),
  ]);
  await pass(5);
  assert.deepEqual(await minutesOf(env, id), [[20_454, 10.5, 4.5, 0, 0]]);
  clock.advance(MINUTE_MS / 4);
  await env.pool.query("update machines set is_connected = true, connected_at = $2 where id = $1", [id, clock.now()]);
  clock.advance((MINUTE_MS * 3) / 4);
  await count();
  assert.deepEqual(await minutesOf(env, id), [[20_454, 11.25, 4.5, 0, 0]]);
});

test("downtime of the server counts against no machine, and after its start agents have time to reconnect", async (t) => {
  const { env, clock, run, machine, pass } = await market(t);
  const id = await machine();
  await pass(3);
  await leave(env, id);
  clock.advance(8 * HOUR_MS);
  await run(restartPresence);
  await pass(2);
  assert.deepEqual(await minutesOf(env, id), [[20_454, 3, 0, 0, 0]]);
  await pass(1);
  assert.deepEqual(await minutesOf(env, id), [[20_454, 3, 1, 0, 0]]);
  // The clock jumps without a count, as when the whole computer slept.
  clock.advance(8 * HOUR_MS);
  await pass(3);
  assert.deepEqual(await minutesOf(env, id), [[20_454, 3, 1, 0, 0]]);
});

test("only time in which it was listed or rented counts, and rented time by the share of its devices", async (t) => {
  const { env, run, machine, pass } = await market(t);
  const [idle, rented, listed] = [await machine(), await machine(), await machine()];
  const instance = await run(async (tx) => anInstanceRow(tx, (await aUser(tx)).id, rented));
  // One of its four cores is rented.
  await env.pool.query(
    `insert into leases (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at)
     select min(id), $1, $2, 1, false, 0, now() from devices where machine_id = $1`,
    [rented, instance],
  );
  await env.pool.query("update machines set is_listed = false where id = any($1)", [[idle, rented]]);
  for (const id of [idle, rented, listed]) await leave(env, id);
  await pass(8);
  assert.deepEqual(await minutesOf(env, idle), []);
  assert.deepEqual(await minutesOf(env, rented), [[20_454, 0, 8, 2, 0]]);
  assert.deepEqual(await minutesOf(env, listed), [[20_454, 0, 8, 0, 0]]);
});

test("a maintenance that was announced in time is counted apart; one that was not is an outage", async (t) => {
  const { env, clock, run, machine, pass } = await market(t);
  const [planned, hasty] = [await machine(), await machine()];
  const announce = (machineId: MachineId, inMs: number) =>
    run((tx) =>
      insertMaintenance(tx, {
        machineId,
        startAt: new Date(clock.now().getTime() + inMs),
        endAt: new Date(clock.now().getTime() + inMs + 5 * MINUTE_MS),
        category: "power",
        reason: "",
      }),
    );
  await announce(planned, HOUR_MS);
  clock.advance(59 * MINUTE_MS);
  await run(restartPresence);
  clock.advance(MINUTE_MS);
  await announce(hasty, 0);
  for (const id of [planned, hasty]) await leave(env, id);
  await pass(8);
  assert.deepEqual(await minutesOf(env, planned), [[20_454, 0, 3, 0, 4]]);
  assert.deepEqual(await minutesOf(env, hasty), [[20_454, 0, 7, 0, 0]]);
});

test("the shown reliability follows the facts, and the market hears only of visible changes", async (t) => {
  const { env, run, machine, report, pass } = await market(t);
  const [there, away, never] = [await machine(), await machine(), await machine()];
  await leave(env, away);
  await env.pool.query("update machines set is_listed = false where id = $1", [never]);
  await pass(3);
  // A hundred more hours of the same.
  await env.pool.query("update machine_days set online_ms = 360000000 where machine_id = $1", [there]);
  await env.pool.query("update machine_days set offline_ms = 36000000 where machine_id = $1", [away]);
  const told = await followMarketNews(t, env);
  const rate = (limit: number, afterId = 0) => run((tx) => rateMachines(tx, { afterId, limit }));
  const first = await rate(2);
  assert.deepEqual(first, { changed: 2, lastId: away });
  assert.deepEqual(await rate(2, away), { changed: 0, lastId: undefined });
  assert.deepEqual(await told(), [there, away]);
  const shown = async (id: MachineId) => {
    const { terms, shownPpm } = await report(id);
    assert.equal(shownPpm, terms.reliabilityPpm, "what is shown is what the public facts come to");
    return shownPpm;
  };
  assert.equal(await shown(there), 931_400);
  assert.ok((await shown(away)) < 500_000);
  assert.equal(await shown(never), 600_000);
  assert.deepEqual(await rate(10), { changed: 0, lastId: undefined });
  assert.equal((await told()).length, 2);
});

test("facts older than thirty days do not count, and a machine that does not exist has no report", async (t) => {
  const { env, clock, machine, report, pass } = await market(t);
  const id = await machine();
  await pass(5);
  assert.equal((await report(id)).days.length, 1);
  clock.advance(29 * 24 * HOUR_MS);
  assert.equal((await report(id)).days.length, 1);
  clock.advance(24 * HOUR_MS);
  const { days, terms } = await report(id);
  assert.deepEqual([days, terms.reliabilityPpm], [[], 600_000]);
  await assert.rejects(reportReliability(env.database.kysely, undefined, clock.now()), /no such machine/);
});

test("days older than the kept period are deleted, the others stay", async (t) => {
  const { env, clock, machine, pass, run } = await market(t);
  const id = await machine();
  await pass(5);
  clock.advance(3 * 24 * HOUR_MS);
  await pass(10);
  const [first, last] = await minutesOf(env, id);
  assert.ok(first !== undefined && last !== undefined);
  const before = new Date(clock.now().getTime() - 24 * HOUR_MS);
  assert.equal(await run((tx) => deleteOldFacts(tx, before, 10)), 1);
  assert.deepEqual(await minutesOf(env, id), [last]);
  assert.equal(await run((tx) => deleteOldFacts(tx, before, 10)), 0);
});
