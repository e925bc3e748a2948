import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { systemClock } from "../base/clock.ts";
import { StatementNames } from "./prepared.ts";
import { inSnapshot, withTransaction, type Reader } from "./transaction.ts";

test("a statement is prepared when it comes again and again, always under its one name", () => {
  const names = new StatementNames();
  const seen = Array.from({ length: 4 }, () => names.nameOf("select $1"));
  assert.equal(seen[0], undefined);
  assert.equal(seen[1], undefined);
  assert.notEqual(seen[2], undefined);
  assert.equal(seen[3], seen[2]);
});

test("statements that never come again are neither prepared nor remembered without end", () => {
  const names = new StatementNames();
  for (let index = 0; index < 10_000; index += 1) assert.equal(names.nameOf(`select $1, ${index}`), undefined);
});

test("however many statements come again, only so many are prepared", () => {
  const names = new StatementNames();
  const prepared = new Set<string | undefined>();
  for (let index = 0; index < 1_000; index += 1) {
    for (let time = 0; time < 3; time += 1) prepared.add(names.nameOf(`select $1, ${index}`));
  }
  prepared.delete(undefined);
  assert.ok(prepared.size <= 250, `${prepared.size} statements`);
});

test("a prepared statement answers like an unprepared one, its failures and transactions included", async (t) => {
  const { database } = await testDatabase(t);
  for (let value = 1; value <= 6; value += 1) {
    const { rows } = await sql<{ half: number }>`select 12 / ${value}::integer as half`.execute(database.kysely);
    assert.deepEqual(rows, [{ half: Math.floor(12 / value) }]);
  }
  await assert.rejects(sql`select 12 / ${0}::integer as half`.execute(database.kysely), { code: "22012" });
  const { rows } = await database.kysely
    .transaction()
    .execute((tx) => sql<{ half: number }>`select 12 / ${4}::integer as half`.execute(tx));
  assert.deepEqual(rows, [{ half: 3 }]);
});

test("a column that a newer server adds fails no statement and no transaction of an older one", async (t) => {
  const { database, pool } = await testDatabase(t);
  await pool.query("create table grown (id integer); insert into grown values (1), (2)");
  const read = (db: Reader) => sql`select * from grown where id < ${9}::integer order by id`.execute(db);
  const inTransaction = async () => withTransaction(database, systemClock, async ({ db }) => (await read(db)).rows);
  const alone = async () => (await read(database.kysely)).rows;
  const snapshot = async () => inSnapshot(database, async (db) => (await read(db)).rows);
  for (const [index, way] of [alone, inTransaction, snapshot].entries()) {
    for (let time = 0; time < 12; time += 1) await Promise.all([way(), way(), way(), way()]);
    await pool.query(`alter table grown add column extra_${index} integer`);
    const rows = await Promise.all([way(), way(), way(), way()]);
    for (const each of rows) assert.equal(each.length, 2);
    assert.ok(rows.every(([first]) => Object.keys(Object(first)).includes(`extra_${index}`)));
  }
});

test("timestamps keep their instant, in every time zone of the session", async (t) => {
  const { database } = await testDatabase(t);
  const times = ["2026-05-01T10:00:00.000Z", "2026-12-31T23:59:59.123Z", "0044-03-15T12:00:00.500Z"];
  const client = await database.pool.connect();
  try {
    for (const zone of ["UTC", "Asia/Kolkata", "America/St_Johns"]) {
      await client.query(`set time zone '${zone}'`);
      for (const time of times) {
        const { rows } = await client.query("select $1::timestamptz as at", [time]);
        assert.equal((rows[0].at as Date).toISOString(), time, zone);
      }
    }
  } finally {
    client.release();
  }
});
