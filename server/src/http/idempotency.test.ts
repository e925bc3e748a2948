import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { aCaller, inTransaction } from "../../../test/support/fixtures.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { AppError, invalid } from "../base/errors.ts";
import type { ApiKeyId } from "../base/ids.ts";
import { onceEach, type Repeatable } from "../db/idempotency.ts";

function repeatable(apiKeyId: ApiKeyId, key: string, content = key): Repeatable {
  return {
    apiKeyId,
    key,
    requestSha256: createHash("sha256").update(content).digest(),
    encrypt: (response) => Buffer.from(JSON.stringify(response)),
    decrypt: (encrypted) => JSON.parse(encrypted.toString()) as unknown,
  };
}

type Request = { readonly name: string; readonly repeatable: Repeatable | undefined };

async function batchOf(t: Parameters<typeof testDatabase>[0]) {
  const { database } = await testDatabase(t);
  const { key } = await aCaller(database);
  const done: string[] = [];
  const run = (requests: readonly Request[]) =>
    inTransaction(database, async (tx) => {
      const outcomes = await onceEach(tx, requests, async (fresh) => {
        done.push(...fresh.map(({ name }) => name));
        return new Map(
          fresh.map((request) => [
            request,
            request.name.startsWith("bad") ? invalid("name", "bad") : { answered: request.name },
          ]),
        );
      });
      return requests.map((request) => {
        const outcome = outcomes.get(request);
        return outcome instanceof AppError ? outcome.code : outcome?.answered;
      });
    });
  return { run, done, key };
}

test("each key of a batch is done once, in the same batch and in later ones", async (t) => {
  const { run, done, key } = await batchOf(t);
  const first = { name: "first", repeatable: repeatable(key.id, "k1") };
  const twin = { name: "twin", repeatable: repeatable(key.id, "k1") };
  const keyless = { name: "keyless", repeatable: undefined };
  assert.deepEqual(await run([first, twin, keyless, { ...keyless }]), ["first", "first", "keyless", "keyless"]);
  assert.deepEqual(await run([twin, { name: "new", repeatable: repeatable(key.id, "k2") }]), ["first", "new"]);
  assert.deepEqual(done, ["first", "keyless", "keyless", "new"]);
});

test("a key that is used for something else is refused, in the same batch and in later ones", async (t) => {
  const { run, done, key } = await batchOf(t);
  const first = { name: "first", repeatable: repeatable(key.id, "k1", "this") };
  const other = { name: "other", repeatable: repeatable(key.id, "k1", "that") };
  assert.deepEqual(await run([first, other]), ["first", "idempotency_key_reused"]);
  assert.deepEqual(await run([other]), ["idempotency_key_reused"]);
  assert.deepEqual(done, ["first"]);
});

test("a refused request leaves its key free", async (t) => {
  const { run, key } = await batchOf(t);
  const refused = await run([{ name: "bad", repeatable: repeatable(key.id, "k1") }]);
  assert.notEqual(refused[0], undefined);
  assert.deepEqual(await run([{ name: "good", repeatable: repeatable(key.id, "k1") }]), ["good"]);
});

test("batches that race for one key do it once and give all of them its answer", async (t) => {
  const { run, done, key } = await batchOf(t);
  const racers = Array.from({ length: 6 }, () => run([{ name: "raced", repeatable: repeatable(key.id, "k1") }]));
  assert.deepEqual(await Promise.all(racers), Array(6).fill(["raced"]));
  // Those that came too late were rolled back and run again; what they did counts for nothing.
  assert.ok(done.length >= 1);
});
