// Sessions end with the key that opened them, however that one ends.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { sql } from "kysely";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { aCaller, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import type { ApiKeyId } from "../../../../base/ids.ts";
import { bootstrapAdmin } from "../admin/bootstrap.ts";
import { hashSecret, newKey } from "./rules/keys.ts";
import { insertSession, listSessions } from "./session-store.ts";
import { findIdentity } from "./identity-store.ts";
import { endSessionsOpenedBy } from "./store.ts";

const DAY_MS = 86_400_000;

const { database } = await testDatabase();

type Holder = Pick<TestCaller, "id">;

const open = (user: Holder, by?: ApiKeyId, expiresInMs = DAY_MS) =>
  inTransaction(database, (tx) =>
    insertSession(tx, {
      userId: user.id,
      memberId: undefined,
      key: newKey(randomBytes),
      kind: "tfa",
      permissions: undefined,
      ipAddress: "192.0.2.1",
      expiresAt: new Date(tx.now.getTime() + expiresInMs),
      openedByKeyId: by,
    }),
  );

async function openMany(user: Holder, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) await open(user);
}

const liveOf = async ({ id }: Holder) => {
  const sessions = await listSessions(database.kysely, { userId: id, memberId: undefined }, new Date());
  return new Set(sessions.map((session) => session.id));
};

test("a session that gives way to newer ones takes the sessions along that it opened", async () => {
  const user = await aCaller(database);
  const outer = await open(user);
  await openMany(user, 47);
  const inner = await open(user, outer);
  const innermost = await open(user, inner);
  assert.equal((await liveOf(user)).size, 50);
  await open(user);
  const live = await liveOf(user);
  assert.deepEqual([live.size, live.has(outer), live.has(inner), live.has(innermost)], [48, false, false, false]);
});

test("a session that was over takes none along when it gives way", async () => {
  const user = await aCaller(database);
  const over = await open(user, undefined, 0);
  await openMany(user, 48);
  const inner = await open(user, over);
  await open(user);
  assert.deepEqual([(await liveOf(user)).size, (await liveOf(user)).has(inner)], [50, true]);
});

test("the oldest of fifty sessions opens another one, and a session that has nothing to do with it gives way", async () => {
  const user = await aCaller(database);
  const oldest = await open(user);
  const [second, third] = [await open(user, oldest), await open(user)];
  await openMany(user, 47);
  const newest = await open(user, second);
  const live = await liveOf(user);
  const kept = [oldest, second, third, newest].map((id) => live.has(id));
  assert.deepEqual([live.size, ...kept], [50, true, true, false, true]);
});

test("sessions of an administrator's key end when a new one takes its place", async () => {
  const start = () =>
    inTransaction(database, (tx) =>
      bootstrapAdmin(tx, { email: "admin@berth.local", hasKey: false, random: randomBytes }),
    );
  const { userId, secret = "" } = await start();
  const key = await findIdentity(database.kysely, hashSecret(secret));
  const [bySession, byPassword] = [await open({ id: userId }, key?.apiKeyId), await open({ id: userId })];
  await start();
  const live = await liveOf({ id: userId });
  assert.deepEqual([live.has(bySession), live.has(byPassword)], [false, true]);
});

test("sessions that a key opened are found by an index", async () => {
  const user = await aCaller(database);
  const scans = await inTransaction(database, async (tx) => {
    const countScans = async () => {
      const count = sql<{ scans: number }>`
        select pg_stat_get_xact_numscans('api_keys_opened_by_key_id'::regclass)::integer as scans
      `;
      return (await count.execute(tx.db)).rows[0]?.scans ?? 0;
    };
    // A table of a few rows is read as a whole otherwise.
    await sql`set local enable_seqscan = off`.execute(tx.db);
    const before = await countScans();
    await endSessionsOpenedBy(tx, [user.key.id]);
    return (await countScans()) - before;
  });
  assert.equal(scans, 1);
});
