import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp } from "../../../../test/support/app.ts";
import { aFleet, anAutoscaler, decideNow, orders, rentUpTo, sentencesOf } from "../../../../test/support/workers.ts";
import { searchOffers } from "../market/index.ts";
import type { OfferView } from "./autoscaler/types.ts";

const secret = randomBytes(32);

test("an offer that an endpoint rented is not offered to it again, while the market here does not know it yet", async (t) => {
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
    decide: (situation) => (situation.spendingStop === undefined ? rentUpTo(1)(situation) : orders()),
  });
  await decideNow(autoscaler, first);
  await decideNow(autoscaler, second);
  assert.ok((await sentencesOf(world, first)).includes("A test says so."));
  const said = await sentencesOf(world, second);
  assert.ok(said.includes("A test says so. But it could not be rented."), said.join("\n"));
});
