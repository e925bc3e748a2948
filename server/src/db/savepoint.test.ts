import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { aUser, inTransaction } from "../../../test/support/fixtures.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { inSavepoint } from "./savepoint.ts";

test("a part that fails takes back its own writes and wishes only, and the transaction goes on", async (t) => {
  const { database } = await testDatabase(t);
  const done: string[] = [];
  await inTransaction(database, async (tx) => {
    const part = (name: string, end: () => void) =>
      inSavepoint(tx, async (inner) => {
        inner.afterCommit(() => done.push(name));
        await aUser(inner, { email: `${name}@example.com` });
        end();
      });
    await part("first", () => {});
    const failing = part("lost", () => {
      throw new Error("no");
    });
    await assert.rejects(failing, /^Error: no$/);
    await part("second", () => {});
    assert.deepEqual(done, [], "nothing before the commit");
  });
  const rows = await database.kysely
    .selectFrom("users")
    .select("email")
    .where("email", "like", "%@example.com")
    .execute();
  const emails = rows.map(({ email }) => email).toSorted();
  assert.deepEqual(emails, ["first@example.com", "second@example.com"]);
  assert.deepEqual(done, ["first", "second"]);
});

test("a statement that PostgreSQL refuses in a part does not spoil the rest", async (t) => {
  const { database } = await testDatabase(t);
  await inTransaction(database, async (tx) => {
    const { id, email } = await aUser(tx);
    await assert.rejects(inSavepoint(tx, (part) => sql`select 1 / 0`.execute(part.db)));
    const row = await tx.db.selectFrom("users").select("email").where("id", "=", id).executeTakeFirst();
    assert.equal(row?.email, email);
  });
});

test("a part that meets another transaction has the whole run again, not itself alone", async (t) => {
  const { database } = await testDatabase(t);
  for (const state of ["40001", "40P01"]) {
    const emails: string[] = [];
    await inTransaction(database, async (tx) => {
      const { email } = await aUser(tx);
      emails.push(email);
      await inSavepoint(tx, async (part) => {
        const refuse = sql.raw(`do $$ begin raise exception 'met another' using errcode = '${state}'; end $$`);
        if (emails.length === 1) await refuse.execute(part.db);
      });
    });
    const rows = await database.kysely.selectFrom("users").select("email").where("email", "in", emails).execute();
    assert.deepEqual([emails.length, rows.map(({ email }) => email)], [2, emails.slice(1)], state);
  }
});
