import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import {
  aFleet,
  anAutoscaler,
  decideNow,
  orders,
  rentUpTo,
  sentencesOf,
} from "../../../../../test/support/serverless/workers.ts";
import { searchOffers } from "../../supply/market/for-assembly.ts";
import { decide } from "./rules/decide.ts";
import type { OfferView } from "./rules/types.ts";

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

test("a decision that could not be carried out says so in its own sentence", async (t) => {
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

test("an endpoint rents only where the private registry of its image is allowed, and says when no matching offer is", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const real = { engine: { kind: "docker", version: "1" } } as const;
  const aRealHost = async (...allowed: readonly string[]) => {
    const host = await world.host({ gpus: 1, facts: { allowed_registries: [...allowed] } });
    await host.disconnect();
    await host.connect(real);
    await world.settled();
    return host;
  };
  const closed = await aRealHost();
  const other = await aRealHost("other.lan");
  const open = await aRealHost("registry.lan:5000");
  const offered = async (condition: object) => {
    const body = { private_registries: condition, type: "ondemand" };
    const answer = await world.call({ method: "POST", url: "/api/v0/bundles/", body });
    const found: readonly { readonly machine_id: number }[] = answer.body.offers;
    return found.map(({ machine_id: id }) => id).toSorted((one, next) => one - next);
  };
  assert.deepEqual(await offered({ eq: true }), [other.machineId, open.machineId]);
  assert.deepEqual(await offered({ eq: false }), [closed.machineId]);

  const group = { search_params: "num_gpus=1", launch_args: "--image registry.lan:5000/app --disk 10" };
  const first = await aFleet(world, owner, { group });
  await decideNow(anAutoscaler(world, { secret, decide: rentUpTo(3) }), first);
  const { rows } = await world.env.pool.query("select machine_id from instances");
  assert.deepEqual(rows, [{ machine_id: open.machineId }]);
  await world.settled();
  const second = await aFleet(world, owner, { endpoint: { min_load: 10, cold_workers: 1 }, group });
  const autoscaler = anAutoscaler(world, { secret, decide });
  await decideNow(autoscaler, second);
  await decideNow(autoscaler, second);
  const said = (await sentencesOf(world, second)).filter((sentence) => sentence.includes("private_registry"));
  assert.equal(said.length, 1, "told once, while nothing changes");
  assert.match(said[0] ?? "", /worker group \d+ is in registry.lan:5000.*no host with a matching offer allows it/);
});
