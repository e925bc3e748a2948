import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { testHttp } from "../../../test/support/network/http.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { createLog } from "../base/log.ts";
import { connect } from "../db/connect.ts";
import { aFactKeeper } from "../../../test/support/database/facts.ts";
import { LoopDriver } from "../base/loop-driver.ts";
import { asId, type ServerId } from "../base/ids.ts";
import { Draining } from "../http/draining.ts";
import { drainServer } from "./drain.ts";
import { freeBytesOf, registerHealth } from "./health.ts";

const { database } = await testDatabase();

test("a server whose disk is almost full is not ready, and is again when there is room", async () => {
  const loops = new LoopDriver([], { clock: new ManualClock(), log: createLog("silent") });
  let left: number | undefined = 64 * 1_048_576 - 1;
  const { call } = await testHttp(database, (scope) => registerHealth(scope, { loops, freeBytes: async () => left }));
  const full = await call({ url: "/readyz" });
  assert.deepEqual([full.status, full.body], [503, { status: "the disk of the data directory is almost full" }]);
  assert.equal((await call({ url: "/healthz" })).status, 200, "the process itself answers all the same");
  for (left of [64 * 1_048_576, undefined]) {
    assert.deepEqual((await call({ url: "/readyz" })).body, { status: "ok" });
  }
  assert.ok((await freeBytesOf(tmpdir())) > 0);
});

test("each trouble of the service has its sentence, and the process answers all the same", async () => {
  const late: string[] = [];
  let newestMigration = 1;
  const ports = {
    loops: { lateNames: () => late },
    freeBytes: async () => undefined,
    get newestMigration() {
      return newestMigration;
    },
  };
  const ready = async () => {
    const { call } = await testHttp(database, (scope) => registerHealth(scope, ports));
    const { status, body } = await call({ url: "/readyz" });
    return [status, body.status];
  };
  assert.deepEqual(await ready(), [200, "ok"]);
  late.push("settle-usage", "a", "b", "c", "d", "e");
  assert.deepEqual(await ready(), [503, "background loops fail or hang: settle-usage, a, b, c, d and 1 more"]);
  newestMigration = 1_000_000;
  assert.match(
    String((await ready())[1]),
    /^the database lacks migrations of this version: start .*; background loops/,
  );
});

test("a server that will stop says so first, and its answers end their connections", async () => {
  const draining = new Draining();
  const ports = { loops: { lateNames: () => [] }, freeBytes: async () => undefined, draining };
  const { call } = await testHttp(database, (scope) => registerHealth(scope, ports), { draining });
  const before = await call({ url: "/readyz" });
  assert.deepEqual([before.status, before.headers["connection"]], [200, "keep-alive"]);
  draining.begin();
  const after = await call({ url: "/readyz" });
  assert.deepEqual(
    [after.status, after.body],
    [503, { status: "this server is stopping: send requests to another one" }],
  );
  const other = await call({ url: "/healthz" });
  assert.deepEqual([other.status, other.headers["connection"]], [200, "close"], "it still answers");
});

test("a server is told by the database that it is too old to go on", async (t) => {
  const { database: later, pool } = await testDatabase(t);
  const ready = async (newestMigration: number) => {
    const ports = { loops: { lateNames: () => [] }, freeBytes: async () => undefined, newestMigration };
    const { call } = await testHttp(later, (scope) => registerHealth(scope, ports));
    return (await call({ url: "/readyz" })).body.status;
  };
  const add = (number: number, servesFrom: number) =>
    pool.query("insert into schema_migrations values ($1, 'change', 'x', now(), $2)", [number, servesFrom]);
  await add(9000, 0);
  assert.equal(await ready(700), "ok");
  await add(9001, 800);
  assert.equal(await ready(800), "ok");
  assert.equal(
    await ready(700),
    "this Berth is too old for its database: it has schema 0700, and 9001_change.sql of the database needs 0800 or later; start a newer Berth",
  );
});

test("a server waits for its proxies only when another one takes over, and not when it is hurried", async () => {
  const waits: number[] = [];
  const clock = Object.assign(new ManualClock(), { sleep: async (ms: number) => void waits.push(ms) });
  const stop = async (others: readonly ServerId[], { drainMs = 5_000, isHurried = false } = {}) => {
    const draining = new Draining();
    const server = { listOthers: async () => others };
    const signal = isHurried ? AbortSignal.abort() : new AbortController().signal;
    await drainServer({ draining, server, clock, drainMs, signal });
    assert.equal(draining.isDraining, true);
  };
  const other = asId<ServerId>(2);
  await stop([]);
  await stop([other], { drainMs: 0 });
  await stop([other], { isHurried: true });
  assert.deepEqual(waits, []);
  await stop([other]);
  assert.deepEqual(waits, [5_000]);
});

test("a database that is gone is named, and asked once a second however many ask", async () => {
  const gone = connect({ host: "/nonexistent" }, createLog("silent"), aFactKeeper());
  const ports = { loops: { lateNames: () => [] }, freeBytes: async () => undefined };
  const { call } = await testHttp(gone, (scope) => registerHealth(scope, ports));
  const { status, body } = await call({ url: "/readyz" });
  assert.deepEqual([status, body], [503, { status: "the database does not answer" }]);
  assert.equal((await call({ url: "/healthz" })).status, 200);
  await gone.close();
});
