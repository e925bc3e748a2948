import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { createLog } from "../../../../base/log.ts";
import { createIpHistory } from "./ip-history.ts";
import { listIpAccesses } from "./store.ts";

const { database, pool } = await testDatabase();
const log = createLog("silent");

async function countsOf(userId: UserId): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ ip_address: string; request_count: bigint }>(
    "select ip_address, request_count from ip_accesses where user_id = $1 order by ip_address",
    [userId],
  );
  return Object.fromEntries(rows.map((row) => [row.ip_address, Number(row.request_count)]));
}

test("requests are counted per user and address over several flushes, newest address first", async () => {
  const clock = new ManualClock();
  const history = createIpHistory({ database, clock, log });
  const [caller, other] = [await aCaller(database), await aCaller(database)];
  const start = clock.now();
  history.record(caller.identity, "192.0.2.1");
  clock.advance(1_000);
  history.record(caller.identity, "192.0.2.1");
  history.record(other.identity, "192.0.2.1");
  history.record(caller.identity, "2001:db8::1");
  assert.deepEqual(await history.flush(), { written: 3, dropped: 0 });
  clock.advance(1_000);
  history.record(caller.identity, "192.0.2.1");
  await history.flush();
  assert.deepEqual(await countsOf(caller.id), { "192.0.2.1": 3, "2001:db8::1": 1 });
  assert.deepEqual(await countsOf(other.id), { "192.0.2.1": 1 });
  const [newest, oldest] = await listIpAccesses(database.kysely, caller.id, 10);
  assert.equal(newest?.ipAddress, "192.0.2.1");
  assert.deepEqual([newest?.firstSeenAt, newest?.lastSeenAt], [start, clock.now()]);
  assert.equal(oldest?.ipAddress, "2001:db8::1");
});

test("writing the same address again and again uses up no ids", async () => {
  const history = createIpHistory({ database, clock: new ManualClock(), log });
  const caller = await aCaller(database);
  const idOf = async (address: string) => {
    history.record(caller.identity, address);
    await history.flush();
    return (await listIpAccesses(database.kysely, caller.id, 10)).find((record) => record.ipAddress === address)!.id;
  };
  const first = await idOf("192.0.2.1");
  for (let round = 0; round < 5; round += 1) assert.equal(await idOf("192.0.2.1"), first);
  assert.equal(await idOf("192.0.2.2"), first + 1);
});

test("several processes that write the same addresses at once lose no request", async () => {
  const callers = await Promise.all(Array.from({ length: 5 }, () => aCaller(database)));
  const histories = Array.from({ length: 4 }, () => createIpHistory({ database, clock: new ManualClock(), log }));
  for (let round = 0; round < 5; round += 1) {
    for (const [index, history] of histories.entries()) {
      const order = index % 2 === 0 ? callers : callers.toReversed();
      for (const { identity } of order) history.record(identity, "198.51.100.7");
    }
    await Promise.all(histories.map((history) => history.flush()));
  }
  for (const { id } of callers) assert.deepEqual(await countsOf(id), { "198.51.100.7": 20 });
});

test("rows that the database refuses are kept for the next flush", async () => {
  const caller = await aCaller(database);
  const history = createIpHistory({ database, clock: new ManualClock(), log });
  await pool.query("alter table ip_accesses rename to ip_accesses_away");
  history.record(caller.identity, "192.0.2.1");
  await assert.rejects(history.flush());
  history.record(caller.identity, "192.0.2.1");
  await pool.query("alter table ip_accesses_away rename to ip_accesses");
  assert.deepEqual(await history.flush(), { written: 1, dropped: 0 });
  assert.deepEqual(await countsOf(caller.id), { "192.0.2.1": 2 });
});

test("memory is bounded: dropped requests are counted, and known addresses are still recorded", async () => {
  const caller = await aCaller(database);
  const history = createIpHistory({ database, clock: new ManualClock(), log, waitingMax: 2 });
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.1"]) history.record(caller.identity, address);
  assert.deepEqual(await history.flush(), { written: 2, dropped: 1 });
  assert.deepEqual(await countsOf(caller.id), { "192.0.2.1": 2, "192.0.2.2": 1 });
});

test("a user that does not exist does not keep the others' history from being written", async () => {
  const caller = await aCaller(database);
  const history = createIpHistory({ database, clock: new ManualClock(), log });
  history.record({ ...caller.identity, userId: asId<UserId>(999_999) }, "192.0.2.1");
  history.record(caller.identity, "192.0.2.1");
  await history.flush();
  assert.deepEqual(await countsOf(caller.id), { "192.0.2.1": 1 });
});

test("an account with ever new addresses keeps those that it used last", async () => {
  const clock = new ManualClock();
  const history = createIpHistory({ database, clock, log });
  const [caller, other] = [await aCaller(database), await aCaller(database)];
  history.record(other.identity, "192.0.2.1");
  for (let flush = 0; flush < 3; flush += 1) {
    for (let count = 0; count < 600; count += 1) history.record(caller.identity, `2001:db8::${flush}:${count}`);
    await history.flush();
    clock.advance(1_000);
  }
  const addresses = Object.keys(await countsOf(caller.id));
  assert.equal(addresses.length, 1_000);
  assert.equal(addresses.filter((address) => address.startsWith("2001:db8::2:")).length, 600);
  assert.deepEqual(await countsOf(other.id), { "192.0.2.1": 1 });
});
