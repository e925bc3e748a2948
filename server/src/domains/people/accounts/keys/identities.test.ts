import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { countedDatabase } from "../../../../../../test/support/database/counted-database.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { aCaller, aKey, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { systemClock } from "../../../../base/clock.ts";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { createLog } from "../../../../base/log.ts";
import { listen } from "../../../../db/listener.ts";
import { API_KEYS_CHANNEL, createIdentities } from "./identities.ts";
import { deleteApiKey, deleteInstanceKeys, insertInstanceKeys } from "./store.ts";
import { newKey } from "./rules/keys.ts";

const { database, connection, pool } = await testDatabase();
const log = createLog("silent");

test("a key is looked up once and then remembered, also by requests that come at the same time", async () => {
  const caller = await aCaller(database);
  const { database: watched, count } = countedDatabase(database);
  const identities = createIdentities({ database: watched, clock: new ManualClock(), random: randomBytes });
  const answers = await Promise.all(Array.from({ length: 20 }, () => identities.authenticate(caller.secret)));
  for (const answer of [...answers, await identities.authenticate(caller.secret)]) {
    assert.deepEqual(answer, caller.identity);
  }
  assert.equal(count(), 1);
});

test("a text that cannot be a key is refused without asking the database, and a wrong key is not remembered", async () => {
  const { database: watched, count } = countedDatabase(database);
  const identities = createIdentities({ database: watched, clock: new ManualClock(), random: randomBytes });
  assert.equal(await identities.authenticate("berth_guess"), undefined);
  assert.equal(count(), 0);
  const { secret } = newKey(randomBytes);
  assert.equal(await identities.authenticate(secret), undefined);
  assert.equal(await identities.authenticate(secret), undefined);
  assert.equal(count(), 2);
});

test("memory is bounded, and a remembered key is asked for again after a minute", async () => {
  const clock = new ManualClock();
  const callers = await Promise.all([aCaller(database), aCaller(database), aCaller(database)]);
  const { database: watched, count } = countedDatabase(database);
  const identities = createIdentities({ database: watched, clock, random: randomBytes, rememberedMax: 2 });
  for (const { secret } of callers) await identities.authenticate(secret);
  await identities.authenticate(callers[2].secret);
  assert.equal(count(), 3);
  await identities.authenticate(callers[0].secret);
  assert.equal(count(), 4);
  clock.advance(60_000);
  await identities.authenticate(callers[0].secret);
  assert.equal(count(), 5);
});

test("a forgotten key is invalid at once, even when it was being looked up", async () => {
  const caller = await aCaller(database);
  const identities = createIdentities({ database, clock: new ManualClock(), random: randomBytes });
  await identities.authenticate(caller.secret);
  await inTransaction(database, async (tx) => {
    assert.ok(await deleteApiKey(tx, caller.identity, caller.key.id));
    tx.afterCommit(() => identities.forget(caller.key.id));
  });
  assert.equal(await identities.authenticate(caller.secret), undefined);

  // A lookup that read the key before its deletion answers its own request and leaves nothing in memory.
  const other = await aCaller(database);
  const early = identities.authenticate(other.secret);
  identities.forget(other.key.id);
  await early;
  await inTransaction(database, (tx) => deleteApiKey(tx, other.identity, other.key.id));
  assert.equal(await identities.authenticate(other.secret), undefined);
});

test("deletions elsewhere reach this process: of keys, of users, and of instances' keys", async (context) => {
  const identities = createIdentities({ database, clock: systemClock, random: randomBytes });
  let heard = 0;
  const handler = {
    onGap: () => identities.channelHandler.onGap(),
    onMessage: (payload: string) => {
      identities.channelHandler.onMessage(payload);
      heard += 1;
    },
  };
  const listener = await listen(connection, new Map([[API_KEYS_CHANNEL, handler]]), { clock: systemClock, log });
  context.after(() => listener.close());
  const untilHeard = async (expected: number) => {
    while (heard < expected) await new Promise((resolve) => setImmediate(resolve));
  };

  const caller = await aCaller(database);
  const second = await inTransaction(database, (tx) => aKey(tx, caller));
  const instanceId = asId<InstanceId>(77);
  const instanceKey = newKey(randomBytes);
  await inTransaction(database, (tx) => insertInstanceKeys(tx, [{ userId: caller.id, instanceId, ...instanceKey }]));
  for (const { secret } of [caller, second, instanceKey]) assert.ok(await identities.authenticate(secret));
  assert.equal((await identities.authenticate(instanceKey.secret))?.instanceId, instanceId);

  await pool.query("update api_keys set deleted_at = now() where id = $1", [caller.key.id]);
  await untilHeard(1);
  assert.equal(await identities.authenticate(caller.secret), undefined);
  assert.ok(await identities.authenticate(second.secret));

  const deleted = await inTransaction(database, (tx) => deleteInstanceKeys(tx, [instanceId]));
  assert.equal(deleted.length, 1);
  await untilHeard(2);
  assert.equal(await identities.authenticate(instanceKey.secret), undefined);

  await pool.query("update users set deleted_at = now() where id = $1", [caller.id]);
  await untilHeard(3);
  assert.equal(await identities.authenticate(second.secret), undefined);
});

test("after a gap in the notifications no remembered identity counts", async () => {
  const caller = await aCaller(database);
  const { database: watched, count } = countedDatabase(database);
  const identities = createIdentities({ database: watched, clock: new ManualClock(), random: randomBytes });
  await identities.authenticate(caller.secret);
  identities.channelHandler.onGap();
  await identities.authenticate(caller.secret);
  identities.channelHandler.onMessage("something new");
  await identities.authenticate(caller.secret);
  assert.equal(count(), 3);
});
