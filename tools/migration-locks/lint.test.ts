import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { lintMigrations, lintTree } from "./lint.ts";

const ROOT = path.join(import.meta.dirname, "../..");

/** The rules that one new migration breaks. */
async function rulesOf(text: string, earlier: readonly string[] = []): Promise<readonly string[]> {
  const texts = [...earlier, text];
  const migrations = texts.map((each, index) => ({ name: `${9000 + index}_change.sql`, text: each }));
  const complaints = await lintMigrations(migrations);
  const last = migrations.at(-1)?.name ?? "";
  return complaints.filter((line) => line.includes(last)).map((line) => /\(([a-z-]+)\)$/.exec(line)?.[1] ?? line);
}

test("migrations that keep nobody waiting pass", async () => {
  for (const text of [
    "create table a (id integer primary key, b integer references instances); create index a_b on a (b); insert into a values (1, 2);",
    "alter table instances add column b text, add column c integer not null default 5, add column d text[] not null default '{}';",
    "alter table instances add column at timestamptz not null default now(), add column host integer references machines;",
    "alter table instances add constraint c check (b > 1) not valid, add constraint d foreign key (b) references machines not valid;",
    "alter table instances alter column b set default 5, alter column c drop not null, drop constraint d;",
    "alter table instances add constraint instances_b_key unique using index instances_b;",
    "drop index instances_b; alter index c rename to d; create trigger t before update on instances execute function f();",
    "-- no-transaction\ndrop index concurrently if exists x;\ncreate index concurrently x on instances (b);\n",
    "-- no-transaction\nalter table instances validate constraint c;\n",
    "-- few-rows: installation\nupdate installation set a = 1; create index x on installation (a);",
  ]) {
    assert.deepEqual(await rulesOf(text), [], text);
  }
});

test("each statement that would lock a large table for long is named by its rule", async () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "create index x on instances (b);": ["index"],
    "create index concurrently x on instances (b);": ["transaction"],
    "alter table instances add column id2 bigint generated always as identity;": ["rewrite"],
    "alter table instances add column id2 bigserial;": ["rewrite"],
    "alter table instances add column u uuid default gen_random_uuid();": ["rewrite"],
    "alter table instances add column at timestamptz default clock_timestamp();": ["rewrite"],
    "alter table instances add column b integer not null;": ["not-null"],
    "alter table instances add column b integer check (b > 0);": ["scan"],
    "alter table instances add column b integer unique;": ["index"],
    "alter table instances add column b integer default 1 references machines;": ["scan"],
    "alter table instances alter column b set not null;": ["not-null"],
    "alter table instances alter column b type bigint;": ["rewrite"],
    "alter table instances add constraint c check (b > 1);": ["scan"],
    "alter table instances add constraint c foreign key (b) references machines;": ["scan"],
    "alter table instances add constraint c unique (b);": ["index"],
    "alter table instances validate constraint c;": ["scan"],
    "alter table instances drop column b, drop column c;": ["drop", "drop"],
    "alter table instances set logged;": ["unknown"],
    "drop table instances;": ["drop"],
    "drop view offers;": ["drop"],
    "alter table instances rename column b to c;": ["rename"],
    "alter table instances rename to rentals;": ["rename"],
    "update instances set b = 1;": ["rows"],
    "delete from instances where b = 1;": ["rows"],
    "create table n (b integer); insert into n select b from instances;": ["rows"],
    "truncate instances;": ["lock"],
    "lock table instances;": ["lock"],
    "reindex table instances;": ["lock"],
    "set lock_timeout = '10min'; select 1;": ["timeout"],
    "do $$ begin update instances set b = 1; end $$;": ["unknown"],
    "-- no-transaction\ncreate index concurrently x on instances (b);\n": ["transaction"],
    "-- no-transaction\nupdate instances set b = 1;\n": ["transaction"],
    "create index half built on;": [
      'server/migrations/9000_change.sql: PostgreSQL cannot read it (syntax error at or near "built")',
    ],
  };
  for (const [text, rules] of Object.entries(cases)) assert.deepEqual(await rulesOf(text), rules, text);
});

test("a contract migration may take things away, and names an earlier schema", async () => {
  const earlier = ["create table a (id integer);"];
  assert.deepEqual(await rulesOf("-- contract: 9000\nalter table instances drop column b; drop table c;", earlier), []);
  for (const from of ["9001", "8999", "9002"]) {
    assert.deepEqual(await rulesOf(`-- contract: ${from}\ndrop table c;`, earlier), ["drop"]);
  }
  assert.deepEqual(await rulesOf("-- contract: 9000\ncreate table c (id integer);", earlier), ["drop"]);
});

test("a column becomes not null when an earlier migration has validated a check that says so", async () => {
  const add = "alter table instances add constraint b_is_set check (b is not null) not valid;";
  const validate = "-- no-transaction\nalter table instances validate constraint b_is_set;\n";
  const set = "alter table instances alter column b set not null;";
  assert.deepEqual(await rulesOf(set, [add]), ["not-null"]);
  assert.deepEqual(await rulesOf(set, [add, validate]), []);
  assert.deepEqual(await rulesOf(set.replace("column b", "column c"), [add, validate]), ["not-null"]);
});

test("a rule is broken on purpose with a reason only, and not without need", async () => {
  const text = "alter table instances set logged;";
  assert.deepEqual(await rulesOf(`-- allow unknown: the table is empty until 2.0\n${text}`), []);
  assert.deepEqual(await rulesOf(`-- allow unknown:\n${text}`), ["unknown"]);
  assert.deepEqual(await rulesOf("-- allow drop: because\nselect 1;"), [
    'server/migrations/9000_change.sql: nothing in it breaks the rule "drop" that it allows',
  ]);
  assert.deepEqual(await rulesOf("-- few-rows: machines\nselect 1;"), [
    "server/migrations/9000_change.sql: says that machines has few rows, and does nothing with it",
  ]);
});

test("the new migrations of this tree pass", async () => {
  assert.deepEqual(await lintTree(ROOT), []);
});
