import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { createLog } from "../base/log.ts";
import { Mirror } from "./mirror.ts";

function aMirror(read: (keys: readonly number[]) => Promise<void>) {
  const log = createLog("silent");
  return new Mirror<number>({ clock: new ManualClock(), log, name: "rows", listAll: async () => [1, 2], read });
}

test("a key announced during a read is read once more", async () => {
  const reads: (readonly number[])[] = [];
  const mirror = aMirror(async (keys) => {
    reads.push(keys);
    if (reads.length === 1) mirror.channel.onMessage("2");
  });
  await mirror.load();
  assert.deepEqual(reads, [[1, 2], [2]]);
});

test("a stopped mirror ends although it cannot read, and reads nothing more", async () => {
  let attempts = 0;
  const mirror = aMirror(async () => {
    attempts += 1;
    throw new Error("the database is closed");
  });
  const loading = mirror.load();
  await mirror.stop();
  await loading;
  const before = attempts;
  mirror.channel.onMessage("3");
  mirror.channel.onGap();
  await mirror.settled();
  assert.equal(attempts, before);
});
