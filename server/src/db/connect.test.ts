import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { sql } from "kysely";
import { aFactKeeper } from "../../../test/support/database/facts.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { createLog } from "../base/log.ts";
import { connect } from "./connect.ts";

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

const LINE_LENGTH_MAX = 3_000;

test("an idle connection that breaks is logged in short lines without its client and its prepared statements", async (t) => {
  const { connection, database } = await testDatabase(t);
  const lines: string[] = [];
  const log = createLog("debug", { write: (line) => void lines.push(line) });
  const watched = connect({ ...connection, max: 1 }, log, aFactKeeper());
  t.after(() => watched.close());
  for (let column = 0; column < 40; column++) {
    const statement = sql`select ${"planted_value"}::text as ${sql.ref(`planted_column_${column}`)}`;
    for (let time = 0; time < 3; time++) await statement.execute(watched.kysely);
  }
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(watched.kysely);
  const broken = once(watched.pool, "error");
  await sql`select pg_terminate_backend(${rows[0]?.pid}, 10000)`.execute(database.kysely);
  await broken;
  const warned = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === "an idle database connection broke");
  assert.equal(warned.err.code, "57P01");
  assert.match(warned.err.stack, /terminating connection/);
  for (const line of lines) {
    assert.ok(line.length <= LINE_LENGTH_MAX, `a line has ${line.length} characters`);
    assert.doesNotMatch(line, /planted|"client"|parsedStatements|connectionParameters/);
  }
});
