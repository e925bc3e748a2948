import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { soon, testApp } from "../../../../../test/support/app.ts";
import {
  aFleet,
  anAutoscaler,
  decideNow,
  orders,
  sentencesOf,
} from "../../../../../test/support/serverless/workers.ts";

const secret = randomBytes(32);
const NOT_NEEDED = () => Promise.reject(new Error("there is nothing to rent"));

test("an endpoint that takes long does not delay the next look at another endpoint", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  for (let count = 0; count < 2; count += 1) {
    await world.call({ method: "POST", url: "/api/v0/endptjobs/", secret: owner.secret, body: {} });
  }
  const [slow, lookedAt] = [Promise.withResolvers<void>(), [] as number[]];
  let visitCount = 0;
  const autoscaler = anAutoscaler(world, {
    secret,
    desk: {
      wishOf: NOT_NEEDED,
      orderFor: NOT_NEEDED,
      prepare: () => ((visitCount += 1) === 1 ? slow.promise : Promise.resolve()),
    },
    decide: ({ endpointId }) => {
      lookedAt.push(endpointId);
      return orders();
    },
  });
  const run = async () => {
    let isOver = false;
    const running = autoscaler.run().finally(() => (isOver = true));
    await soon("the run is over", () => {
      world.clock.advance(2_000);
      return isOver;
    });
    await running;
  };
  await soon("the other one was looked at again", async () => {
    await run();
    return lookedAt.length >= 2;
  });
  assert.equal(new Set(lookedAt).size, 1);
  slow.resolve();
  await autoscaler.idle();
  assert.equal(new Set(lookedAt).size, 2);
});

test("an endpoint with only small changes is looked at once a second, and at once after a quiet spell", async (t) => {
  const world = await testApp(t, { secret });
  const { endpointId } = await aFleet(world, await world.caller());
  let lookCount = 0;
  const autoscaler = anAutoscaler(world, { secret, decide: () => ((lookCount += 1), orders()) });
  await autoscaler.run();
  assert.equal(lookCount, 1);
  for (let change = 0; change < 10; change += 1) {
    autoscaler.noteSoon(endpointId);
    await autoscaler.run();
  }
  assert.equal(lookCount, 1);
  world.clock.jump(1_000);
  await autoscaler.run();
  assert.equal(lookCount, 2);
  world.clock.jump(1_000);
  await autoscaler.run();
  assert.equal(lookCount, 2, "nothing came up meanwhile");
  autoscaler.noteSoon(endpointId);
  await autoscaler.idle();
  assert.equal(lookCount, 3);
});

test("servers that take turns log each change of the situation exactly once", async (t) => {
  const world = await testApp(t, { secret });
  const fleet = await aFleet(world, await world.caller());
  let reason = "";
  const decide = () => ({ ...orders(), reason, sentence: `It is ${reason}.` });
  const [one, other] = [anAutoscaler(world, { secret, decide }), anAutoscaler(world, { secret, decide })];
  for (const [server, now] of [
    [one, "calm"],
    [other, "calm"],
    [other, "busy"],
    [one, "calm"],
    [other, "calm"],
  ] as const) {
    reason = now;
    world.clock.jump(1_000);
    await decideNow(server, fleet);
  }
  assert.deepEqual(await sentencesOf(world, fleet), ["It is calm.", "It is busy.", "It is calm."]);
});

test("a group that cannot rent logs each reason once, and not every minute", async (t) => {
  const world = await testApp(t, { secret });
  const fleet = await aFleet(world, await world.caller());
  const autoscaler = anAutoscaler(world, { secret, decide: () => orders() });
  const recipe = (args: string) =>
    world.env.pool.query("update worker_groups set launch_args = $1, generation = generation + 1", [args]);
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute += 1) {
      world.clock.jump(61_000);
      await decideNow(autoscaler, fleet);
    }
  };
  const told = async () =>
    (await sentencesOf(world, fleet)).filter((sentence) => sentence.includes("cannot be rented for")).length;
  await recipe("--bad");
  await minutes(3);
  assert.equal(await told(), 1);
  await recipe("--worse");
  await minutes(2);
  assert.equal(await told(), 2);
  await recipe("--image i");
  await minutes(1);
  await recipe("--worse");
  await minutes(2);
  assert.equal(await told(), 3);
});
