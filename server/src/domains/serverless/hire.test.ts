import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp } from "../../../../test/support/app.ts";
import { aFleet, anAutoscaler, decideNow, orders, rentUpTo, sentencesOf } from "../../../../test/support/workers.ts";
import { searchOffers } from "../market/index.ts";
import type { OfferView } from "./autoscaler/types.ts";

const secret = randomBytes(32);

test("a machine that an endpoint rented on is left alone until the market here knows what it still offers", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  const market = { now: world.clock.now(), rentedMachines: new Set<never>() };
  const before = searchOffers(world.app.offers.index, { num_gpus: { eq: 1 } }, market);
  const seen: (readonly OfferView[])[] = [];
  const autoscaler = anAutoscaler(world, {
    secret,
    search: () => before,
    decide: (situation) => {
      seen.push(situation.offers);
      return rentUpTo(1)(situation);
    },
  });
  await decideNow(autoscaler, fleet);
  await decideNow(autoscaler, fleet);
  assert.equal(seen[0]?.length, 1);
  assert.deepEqual(seen.slice(1).flat(), []);
  world.clock.jump(1_000);
  await decideNow(autoscaler, fleet);
  assert.equal(seen.at(-1)?.length, 1);
});

test("a decision that could not be carried out says so in the same breath", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  await world.host({ gpus: 1 });
  const [first, second] = [await aFleet(world, owner), await aFleet(world, owner)];
  const market = { now: world.clock.now(), rentedMachines: new Set<never>() };
  const before = searchOffers(world.app.offers.index, { num_gpus: { eq: 1 } }, market);
  const autoscaler = anAutoscaler(world, {
    secret,
    search: () => before,
    decide: (situation) => {
      const decision = rentUpTo(1)(situation);
      return decision.actions.length === 0 ? orders() : { ...decision, sentence: "One is rented." };
    },
  });
  await decideNow(autoscaler, first);
  await decideNow(autoscaler, second);
  const said = [...(await sentencesOf(world, first)), ...(await sentencesOf(world, second))];
  const decisions = said.filter((sentence) => sentence.startsWith("One is rented."));
  assert.deepEqual(decisions.toSorted(), ["One is rented.", "One is rented. But it could not be rented."]);
});
