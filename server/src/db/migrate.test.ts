import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { emptyTestDatabase, testDatabase, type TestDatabase } from "../../../test/support/database/postgres.ts";
import { systemClock } from "../base/clock.ts";
import { migrate, readSchemaState, tooNew } from "./migrate.ts";
import { MigrationError } from "./migration-files.ts";

async function migrationsDirectory(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "berth-migrations-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  for (const [file, sql] of Object.entries(files)) await writeFile(path.join(directory, file), sql);
  return directory;
}

async function listTables({ pool }: TestDatabase): Promise<readonly string[]> {
  const { rows } = await pool.query<{ tablename: string }>(
    "select tablename from pg_tables where schemaname = 'public' order by tablename",
  );
  return rows.map((row) => row.tablename);
}

test("migrations run in the order of their numbers, and a second run applies nothing", async (t) => {
  const db = await emptyTestDatabase(t);
  const directory = await migrationsDirectory(t, {
    "0002_fill.sql": "insert into berths (id) values (1);",
    "0001_berths.sql": "create table berths (id integer primary key);",
  });
  const now = new Date("2026-05-01T10:00:00Z");
  const clock = { ...systemClock, now: () => now };
  assert.deepEqual(await migrate(db.connection, { directory, clock }), ["0001_berths.sql", "0002_fill.sql"]);
  assert.deepEqual(await migrate(db.connection, { directory, clock }), []);
  const { rows } = await db.pool.query("select number, name, applied_at from schema_migrations order by number");
  assert.deepEqual(rows, [
    { number: 1, name: "berths", applied_at: now },
    { number: 2, name: "fill", applied_at: now },
  ]);
});

test("four runs at once apply each migration once, concurrent index builds included", async (t) => {
  const db = await emptyTestDatabase(t);
  const directory = await migrationsDirectory(t, {
    "0001_berths.sql": "create table berths (id integer primary key, name text); insert into berths values (1, 'a');",
    "0002_berths_name.sql":
      "-- no-transaction\ndrop index concurrently if exists berths_name;\ncreate index concurrently berths_name on berths (name);\n",
    "0003_more.sql": "insert into berths values (2, 'b');",
  });
  const runs = await Promise.all([1, 2, 3, 4].map(() => migrate(db.connection, { directory, clock: systemClock })));
  assert.deepEqual(runs.flat().toSorted(), ["0001_berths.sql", "0002_berths_name.sql", "0003_more.sql"]);
  const { rows } = await db.pool.query("select indisvalid from pg_index where indexrelid = 'berths_name'::regclass");
  assert.deepEqual(rows, [{ indisvalid: true }]);
});

test("a failing migration leaves nothing of itself and names its file and line", async (t) => {
  const db = await emptyTestDatabase(t);
  const directory = await migrationsDirectory(t, {
    "0001_berths.sql": "create table berths (id integer primary key);",
    "0002_broken.sql":
      "create table half (id integer);\ninsert into berths values (1);\ninsert into nowhere values (1);",
  });
  await assert.rejects(migrate(db.connection, { directory, clock: systemClock }), (error) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, /^0002_broken\.sql failed: .*nowhere.* \(line 3\)$/);
    return true;
  });
  assert.deepEqual(await listTables(db), ["berths", "schema_migrations"]);
  assert.equal((await db.pool.query("select from berths")).rowCount, 0);
  await writeFile(path.join(directory, "0002_broken.sql"), "create table whole (id integer);");
  assert.deepEqual(await migrate(db.connection, { directory, clock: systemClock }), ["0002_broken.sql"]);
});

test("an older version goes on with a newer database until a contract migration needs a later one", async (t) => {
  const db = await emptyTestDatabase(t);
  const first = { "0001_a.sql": "create table a (id integer, old integer);" };
  const older = await migrationsDirectory(t, first);
  const middle = await migrationsDirectory(t, { ...first, "0007_add.sql": "alter table a add column new integer;" });
  const newest = await migrationsDirectory(t, {
    ...first,
    "0007_add.sql": "alter table a add column new integer;",
    "0009_drop.sql": "-- contract: 0007\nalter table a drop column old;",
  });
  await migrate(db.connection, { directory: middle, clock: systemClock });
  assert.deepEqual(await migrate(db.connection, { directory: older, clock: systemClock }), []);
  await migrate(db.connection, { directory: newest, clock: systemClock });
  assert.deepEqual(await migrate(db.connection, { directory: middle, clock: systemClock }), []);
  for (const tried of [
    () => migrate(db.connection, { directory: older, clock: systemClock }),
    () => readSchemaState(db.connection, older),
  ]) {
    await assert.rejects(tried, {
      name: "MigrationError",
      message:
        "this Berth is too old for its database: it has schema 0001, and 0009_drop.sql of the database needs 0007 or later; start a newer Berth",
    });
  }
});

test("a database with a migration of another line is refused by name", async (t) => {
  const db = await emptyTestDatabase(t);
  const other = await migrationsDirectory(t, { "0001_a.sql": "select 1;", "0003_theirs.sql": "select 1;" });
  const own = await migrationsDirectory(t, { "0001_a.sql": "select 1;", "0004_ours.sql": "select 1;" });
  await migrate(db.connection, { directory: other, clock: systemClock });
  await assert.rejects(
    migrate(db.connection, { directory: own, clock: systemClock }),
    /0003_theirs\.sql.*another line/,
  );
});

test("a look at the schema changes nothing and says what the database lacks", async (t) => {
  const db = await emptyTestDatabase(t);
  const files = { "0001_a.sql": "create table a (id integer);", "0002_b.sql": "create table b (id integer);" };
  const directory = await migrationsDirectory(t, files);
  const before = await readSchemaState(db.connection, directory);
  assert.deepEqual(
    before.pending.map(({ file }) => file),
    Object.keys(files),
  );
  assert.deepEqual(await listTables(db), []);
  assert.match(tooNew(before), /^this Berth is too new .* has schema 0000 and lacks 2 migrations up to 0002; run /);
  await migrate(db.connection, { directory, clock: systemClock });
  assert.deepEqual(await readSchemaState(db.connection, directory), { pending: [], newest: 2 });
});

test("a contract migration is held back while a server runs that it would break", async (t) => {
  const db = await emptyTestDatabase(t);
  const directory = await migrationsDirectory(t, {
    "0001_a.sql": "create table a (id integer, old integer);",
    "0002_drop.sql": "-- contract: 0001\nalter table a drop column old;",
  });
  const asked: unknown[] = [];
  const requireServersFrom = async (schema: number, { file }: { readonly file: string }) => {
    asked.push([schema, file]);
    if (asked.length === 1) throw new MigrationError("an older server runs");
  };
  const means = { directory, clock: systemClock, requireServersFrom };
  await assert.rejects(migrate(db.connection, means), /an older server runs/);
  assert.deepEqual(await migrate(db.connection, means), ["0002_drop.sql"]);
  assert.deepEqual(asked, [
    [1, "0002_drop.sql"],
    [1, "0002_drop.sql"],
  ]);
});

test("a migration lets requests pass while a long transaction keeps its table", async (t) => {
  const db = await emptyTestDatabase(t);
  const directory = await migrationsDirectory(t, {
    "0001_a.sql": "create table a (id integer); insert into a values (1);",
  });
  await migrate(db.connection, { directory, clock: systemClock });
  await writeFile(path.join(directory, "0002_b.sql"), "alter table a add column more integer;");
  const reader = await db.pool.connect();
  await reader.query("begin; select * from a");
  // The clock's pause is the moment at which the migration waits for nothing: a request gets its answer then.
  const answers: unknown[] = [];
  const sleep = async () => {
    answers.push((await db.pool.query("select id from a")).rows);
    if (answers.length === 2) await reader.query("commit");
  };
  const clock = { ...systemClock, sleep };
  assert.deepEqual(await migrate(db.connection, { directory, clock }), ["0002_b.sql"]);
  assert.deepEqual(answers, [[{ id: 1 }], [{ id: 1 }]]);
  await reader.query("begin; select * from a");
  await writeFile(path.join(directory, "0003_c.sql"), "alter table a add column yet integer;");
  await assert.rejects(
    migrate(db.connection, { directory, clock: systemClock, lockTries: 1 }),
    /0003_c\.sql failed: a table was in use at each of 1 tries; process \d+ \(.*\) has had a transaction open/,
  );
  await reader.query("commit");
  reader.release();
});

test("a migration that was edited after it was applied is refused by name", async (t) => {
  const db = await emptyTestDatabase(t);
  const directory = await migrationsDirectory(t, { "0001_a.sql": "create table a (id integer);" });
  await migrate(db.connection, { directory, clock: systemClock });
  await writeFile(path.join(directory, "0001_a.sql"), "create table a (id bigint);");
  await assert.rejects(migrate(db.connection, { directory, clock: systemClock }), /0001_a\.sql was changed/);
});

test("a migration that arrives below the newest applied one is refused by name", async (t) => {
  const db = await emptyTestDatabase(t);
  const directory = await migrationsDirectory(t, { "0005_a.sql": "select 1;" });
  await migrate(db.connection, { directory, clock: systemClock });
  await writeFile(path.join(directory, "0004_late.sql"), "select 1;");
  await assert.rejects(migrate(db.connection, { directory, clock: systemClock }), /0004_late\.sql comes before 5/);
});

test("misnamed files and numbers used twice are refused before anything runs", async (t) => {
  const db = await emptyTestDatabase(t);
  const misnamed = await migrationsDirectory(t, { "1_a.sql": "select 1;" });
  await assert.rejects(migrate(db.connection, { directory: misnamed, clock: systemClock }), /1_a\.sql is not named/);
  const twice = await migrationsDirectory(t, { "0001_a.sql": "select 1;", "0001_b.sql": "select 1;" });
  await assert.rejects(migrate(db.connection, { directory: twice, clock: systemClock }), /0001_b\.sql.*0001_a\.sql/);
  assert.deepEqual(await listTables(db), []);
});

test("the migrations of Berth apply to an empty database as its own role, without a superuser", async (t) => {
  const db = await testDatabase(t);
  const { rows } = await db.pool.query("select rolsuper from pg_roles where rolname = current_user");
  assert.deepEqual(rows, [{ rolsuper: false }]);
  assert.ok((await listTables(db)).includes("schema_migrations"));
});
