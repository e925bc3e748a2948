import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { testDatabase } from "../../../test/support/postgres.ts";

test("a connection that breaks in the middle of a transaction fails that transaction and nothing else", async (t) => {
  const { database } = await testDatabase(t);
  const broken = database.kysely.transaction().execute(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    await sql`select pg_terminate_backend(${rows[0]?.pid}, 10000)`.execute(database.kysely);
    await sql`select 1`.execute(tx);
  });
  await assert.rejects(broken);
  const { rows } = await sql<{ one: number }>`select 1 as one`.execute(database.kysely);
  assert.deepEqual(rows, [{ one: 1 }]);
});
