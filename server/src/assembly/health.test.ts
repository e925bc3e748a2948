import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { testHttp } from "../../../test/support/network/http.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { createLog } from "../base/log.ts";
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
