import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { sql } from "kysely";
import { testApp } from "../../../../test/support/app.ts";
import {
  aFleet,
  anAutoscaler,
  bringUp,
  decideNow,
  rentUpTo,
  sentencesOf,
  workersOf,
} from "../../../../test/support/serverless/workers.ts";
import { withTransaction } from "../../db/transaction.ts";
import { recordEvents } from "./autoscaling/event-store.ts";
import { failWorker } from "./autoscaling/failure-service.ts";
import { claimEndpointGroup, lockEndpointGroup } from "./endpoints/store.ts";
import { findWorkerGroupForUpdate } from "./worker-groups/store.ts";
import { listWorkers } from "./workers/store.ts";

const secret = randomBytes(32);

test("a transaction that holds an endpoint or one of its groups does not block reports of the workers' failures", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  await decideNow(anAutoscaler(world, { secret, decide: rentUpTo(1) }), fleet);
  await bringUp(world, host, [Number((await workersOf(world, fleet))[0]?.instance_id)]);
  const { database } = world.env;
  // The inner transaction ends before the outer one goes on: if it waited for a lock of the outer one, both would hang.
  await withTransaction(database, world.clock, async (deciding) => {
    assert.ok(await lockEndpointGroup(deciding, fleet.endpointId));
    assert.ok(await findWorkerGroupForUpdate(deciding, fleet.groupId, owner.id));
    await withTransaction(database, world.clock, async (reporting) => {
      await sql`set local lock_timeout = '60s'`.execute(reporting.db);
      const [worker] = await listWorkers(reporting.db, fleet.endpointId);
      assert.ok(worker);
      await failWorker(reporting, worker, { reason: "it says so", isCounted: true });
    });
  });
  assert.match((await sentencesOf(world, fleet)).at(-1) ?? "", /failed: it says so/);
  const busy = await withTransaction(database, world.clock, async (reporting) => {
    const about = { endpointGroupId: fleet.endpointId, kind: "change" as const, level: 3 as const };
    await recordEvents(reporting, [{ ...about, sentence: "Something is under way." }]);
    return withTransaction(database, world.clock, (deciding) => claimEndpointGroup(deciding, fleet.endpointId));
  });
  assert.ok(typeof busy === "object", "a transaction that records an event does not delay the decision");
});
