import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { aFleet, sentencesOf } from "../../../../../test/support/serverless/workers.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { listEvents, recordEvents } from "./event-store.ts";
import { autoscaleLoops } from "./loops.ts";

const DAY_MS = 86_400_000;

test("events are kept for a week, and are read by level, newest first", async (t) => {
  const world = await testApp(t);
  const { clock, env, app } = world;
  const fleet = await aFleet(world, await world.caller());
  const note = (sentence: string, level: 0 | 3) =>
    withTransaction(env.database, clock, (tx) =>
      recordEvents(tx, [{ endpointGroupId: fleet.endpointId, kind: "change", level, sentence }]),
    );
  await note("old", 0);
  clock.jump(7 * DAY_MS - 1000);
  await note("seen", 3);
  await note("new \0 one", 0);
  const forget = autoscaleLoops({ database: env.database, clock, autoscaler: app.autoscaler }).find(
    ({ name }) => name === "forget-endpoint-events",
  );
  assert.deepEqual(await forget?.run(), { deleted: 0, fleets: 0 });
  clock.jump(2000);
  assert.deepEqual(await forget?.run(), { deleted: 1, fleets: 0 });
  assert.deepEqual(await sentencesOf(world, fleet), ["seen", "new  one"]);
  const read = async (level: 0 | 3, limit: number, before?: number) =>
    (await listEvents(env.database.kysely, fleet.endpointId, { level, limit, before })).map(({ sentence, id }) => ({
      sentence,
      id,
    }));
  const [newest, seen] = await read(3, 10);
  assert.deepEqual([newest?.sentence, seen?.sentence], ["new  one", "seen"]);
  assert.deepEqual(
    (await read(0, 10)).map(({ sentence }) => sentence),
    ["new  one"],
  );
  assert.deepEqual(await read(3, 1, newest?.id), [seen]);
});
