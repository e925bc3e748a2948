import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { aCaller, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { until } from "../../../../../../test/support/until.ts";
import { deleteApiKey } from "../../accounts/keys/store.ts";
import { listSessions } from "../../accounts/keys/session-store.ts";
import { openKeySession } from "./open-session.ts";

const DAY_MS = 86_400_000;

const { database, pool } = await testDatabase();

test("a key opens no session while it is being deleted", async () => {
  const caller = await aCaller(database);
  let isOver = false;
  const opening = await inTransaction(database, async (tx) => {
    await deleteApiKey(tx, caller.identity, caller.key.id);
    const opened = inTransaction(database, (other) =>
      openKeySession(other, caller.identity, "192.0.2.1", randomBytes),
    ).finally(() => (isOver = true));
    opened.catch(() => {});
    await until("the session waits for the deletion", async () => {
      const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      return isOver || (await pool.query(waiting)).rows.length > 0;
    });
    return { opened };
  });
  await assert.rejects(opening.opened, { code: "auth_error" });
  const { rows } = await pool.query("select 1 from api_keys where opened_by_key_id = $1 and deleted_at is null", [
    caller.key.id,
  ]);
  assert.deepEqual(rows, []);
});

test("a session ends no later than the session that opened it", async () => {
  const { identity } = await aCaller(database);
  const endOf = (expiresInMs: number | undefined) =>
    inTransaction(database, async (tx) => {
      const expiresAt = expiresInMs === undefined ? undefined : new Date(tx.now.getTime() + expiresInMs);
      const opener =
        expiresAt === undefined ? identity : { ...identity, session: { kind: "session", expiresAt } as const };
      const { keyId } = await openKeySession(tx, opener, "192.0.2.1", randomBytes);
      const sessions = await listSessions(tx.db, identity, tx.now);
      const end = sessions.find(({ id }) => id === keyId)?.expiresAt.getTime() ?? NaN;
      return end - tx.now.getTime();
    });
  assert.deepEqual([await endOf(60_000), await endOf(30 * DAY_MS), await endOf(undefined)], [60_000, DAY_MS, DAY_MS]);
});
