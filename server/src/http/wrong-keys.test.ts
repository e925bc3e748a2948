import assert from "node:assert/strict";
import { test } from "node:test";
import { countedDatabase } from "../../../test/support/database/counted-database.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { aCaller, anUnknownKey } from "../../../test/support/fixtures.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { testHttp } from "../../../test/support/network/http.ts";
import { until } from "../../../test/support/until.ts";
import type { HttpScope } from "./server.ts";

const { database } = await testDatabase();

function routes({ app }: HttpScope): void {
  const config = { access: { operation: "api.thing.show", permission: "misc" } } as const;
  app.get("/api/v0/things/:id/", { config }, async () => ({}));
}

test("many wrong keys from one address are slowed down, and the right keys from there are served", async () => {
  const clock = new ManualClock();
  const guarded = await testHttp(database, routes, { clock });
  const guess = (from: string) => guarded.call({ url: "/api/v0/things/7/", secret: "wrong", from });
  for (let count = 0; count < 600; count += 1) assert.equal((await guess("192.0.2.9")).status, 401);
  assert.equal((await guess("192.0.2.9")).status, 429);
  assert.equal((await guess("192.0.2.10")).status, 401);
  const fresh = await aCaller(database);
  const call = (key: string) => guarded.call({ url: "/api/v0/things/7/", secret: key, from: "192.0.2.9" });
  assert.equal((await served(call(fresh.secret), clock)).status, 200);
  assert.equal((await call(fresh.secret)).status, 200, "at once while it is remembered");
});

test("an address beyond its limit of wrong keys asks the database once a second and connection", async () => {
  const clock = new ManualClock();
  const { database: watched, count } = countedDatabase(database);
  const guarded = await testHttp(watched, routes, { clock });
  const ask = (key: string | undefined) => guarded.call({ url: "/api/v0/things/7/", secret: key, from: "192.0.2.9" });
  for (let round = 0; round < 600; round += 1) await ask(undefined);
  const before = count();
  const guesses = Array.from({ length: 50 }, () => ask(anUnknownKey()));
  await ask(undefined);
  assert.equal(count(), before, "nothing was looked up yet");
  await served(Promise.all(guesses), clock);
  assert.equal(count(), before + 50);
});

/** The outcome of a call that may wait for the clock. */
async function served<T>(call: Promise<T>, clock: ManualClock): Promise<T> {
  let isDone = false;
  const done = call.finally(() => (isDone = true));
  await until("an answer", () => {
    clock.advance(1_000);
    return isDone;
  });
  return done;
}
