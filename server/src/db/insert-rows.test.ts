import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction, aUser } from "../../../test/support/fixtures.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { insertRows } from "./insert-rows.ts";

test("rows arrive as they were given: bytes, bigints, dates, nulls, and defaults for what is not named", async (t) => {
  const { database } = await testDatabase(t);
  const now = new Date("2026-05-01T10:00:00.123Z");
  const sha256 = Buffer.from("00ff10'\"\\ä");
  await inTransaction(database, async (tx) => {
    const user = await aUser(tx);
    const common = { user_id: user.id, key_prefix: "berth_x", created_at: now };
    await insertRows(tx, "api_keys", [
      {
        ...common,
        name: 'it\'s "a" key \\ ü',
        key_sha256: sha256,
        permissions: { api: { misc: {} } },
        instance_id: null,
      },
      { ...common, name: "second", key_sha256: Buffer.alloc(32), permissions: null, instance_id: 7 },
    ]);
    const rows = await tx.db
      .selectFrom("api_keys")
      .select(["name", "key_sha256", "permissions", "key_params", "instance_id", "created_at"])
      .where("user_id", "=", user.id)
      .orderBy("id")
      .execute();
    const shared = { key_params: "", created_at: now };
    assert.deepEqual(rows, [
      {
        name: 'it\'s "a" key \\ ü',
        key_sha256: sha256,
        permissions: { api: { misc: {} } },
        instance_id: null,
        ...shared,
      },
      { name: "second", key_sha256: Buffer.alloc(32), permissions: null, instance_id: 7, ...shared },
    ]);
    const largest = 9_007_199_254_740_993n;
    await insertRows(tx, "ledger_accounts", [{ user_id: user.id, kind: "earnings", balance_nanos: largest }]);
    const account = await tx.db
      .selectFrom("ledger_accounts")
      .select(["balance_nanos", "held_nanos"])
      .where("user_id", "=", user.id)
      .where("kind", "=", "earnings")
      .executeTakeFirst();
    assert.deepEqual(account, { balance_nanos: largest, held_nanos: 0n });
  });
});

test("no rows make no statement", async (t) => {
  const { database } = await testDatabase(t);
  await inTransaction(database, (tx) => insertRows(tx, "api_keys", []));
});
