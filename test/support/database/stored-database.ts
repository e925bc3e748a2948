// Databases that an older Berth wrote, kept as text: one line for each table, its rows as JSON.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { brotliDecompressSync } from "node:zlib";
import pg from "pg";
import type { TestDatabase } from "./postgres.ts";

const DIRECTORY = path.join(import.meta.dirname, "../../databases");

/**
 * Fills the tables of a database with the rows of a stored one, and returns the moment at which they were stored. The
 * database has the schema of the migrations that the stored one had.
 */
export async function fillWithStored({ url }: TestDatabase, name: string): Promise<Date> {
  const text = brotliDecompressSync(await readFile(path.join(DIRECTORY, `${name}.txt.br`))).toString();
  const [first = "", ...tables] = text.trimEnd().split("\n");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("begin");
    const keys = await dropForeignKeys(client);
    for (const line of tables) await fill(client, line);
    for (const { table, name: key, definition } of keys) {
      await client.query(`alter table ${table} add constraint ${key} ${definition}`);
    }
    await client.query("commit");
  } finally {
    await client.end();
  }
  return new Date(first.replace("at\t", ""));
}

type ForeignKey = { readonly table: string; readonly name: string; readonly definition: string };

/** Rows come in the order of their tables' names, and may point at rows that come later; the keys are checked at the end. */
async function dropForeignKeys(client: pg.Client): Promise<readonly ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}

async function fill(client: pg.Client, line: string): Promise<void> {
  const [table = ""] = line.split("\t", 1);
  await client.query(`alter table ${table} disable trigger user`);
  // Migrations have put rows into some tables.
  await client.query(`delete from ${table}`);
  await client.query(
    `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, $1::json)`,
    [line.slice(table.length + 1)],
  );
  await client.query(`alter table ${table} enable trigger user`);
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::text::regclass and attnum > 0 and not attisdropped
       and pg_get_serial_sequence($1::text, attname::text) is not null`,
    [table],
  );
  for (const { name } of rows) {
    await client.query(`select setval(pg_get_serial_sequence($1, $2), (select max(${name}) from ${table}))`, [
      table,
      name,
    ]);
  }
}
