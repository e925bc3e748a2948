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

test("a database that is gone is named, and asked once a second however many ask", async () => {
  const gone = connect({ host: "/nonexistent" }, createLog("silent"), aFactKeeper());
  const ports = { loops: { lateNames: () => [] }, freeBytes: async () => undefined };
  const { call } = await testHttp(gone, (scope) => registerHealth(scope, ports));
  const { status, body } = await call({ url: "/readyz" });
  assert.deepEqual([status, body], [503, { status: "the database does not answer" }]);
  assert.equal((await call({ url: "/healthz" })).status, 200);
  await gone.close();
});
