import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { asId, type MachineId } from "../base/ids.ts";
import { dayOf } from "../domains/supply/hosts/presence/rules/reliability.ts";
import { issueAgentToken } from "../domains/supply/hosts/for-assembly.ts";
import { aUser } from "../../../test/support/fixtures.ts";
import { testApp, type TestApp } from "../../../test/support/app.ts";
import { inTransaction } from "../../../test/support/fixtures.ts";
import { FakeHost } from "../../../test/support/hosts/fake-host.ts";

/** The filters that clients send unless told otherwise, with the stricter ones that some of them add. */
const USUAL_FILTERS = {
  verified: { eq: true },
  external: { eq: false },
  rentable: { eq: true },
  rented: { eq: false },
  reliability2: { gte: 0.9 },
};

type Shown = Readonly<Record<string, unknown>>;

async function search(world: TestApp, path: string, filters: object) {
  const { secret } = await world.caller();
  await world.settled();
  const { status, body } = await world.call({ method: "POST", url: `/api/v0/${path}/`, secret, body: filters });
  assert.equal(status, 200);
  return body.offers;
}

async function reliabilityOf(world: TestApp, id: MachineId) {
  return (await world.call({ url: `/api/v0/machines/${id}/reliability/` })).body;
}

async function aMarket(t: TestContext) {
  const world = await testApp(t, { simulatedHosts: 1 });
  return { world, host: await world.host({ hostKey: "simulated-1" }) };
}

test("a search with usual filters finds hosts of a simulated market at once, and they say that they are simulated", async (t) => {
  const { world, host } = await aMarket(t);
  const ids = [host.machineId, (await world.host({ hostKey: "simulated-2" })).machineId];
  const offers: readonly Shown[] = await search(world, "bundles", { ...USUAL_FILTERS, disable_bundling: true });
  for (const offer of offers) {
    assert.deepEqual([offer.is_simulated, offer.verification], [true, "verified"]);
    assert.ok(Number(offer.avail_vol_size) >= 1 && Number.isInteger(offer.avail_vol_ask_id));
  }
  assert.deepEqual(new Set(offers.map((offer) => offer.machine_id)), new Set(ids));
  const order = [["machine_id", "asc"]];
  const spaces = await search(world, "volumes/search", { verified: { eq: true }, disk_space: { gte: 1 }, order });
  assert.deepEqual(
    spaces.map((space: Shown) => [space.machine_id, space.is_simulated, space.disk_space]),
    ids.map((id) => [id, true, 250]),
  );
  const shown = await reliabilityOf(world, host.machineId);
  assert.deepEqual([shown.is_simulated, shown.reliability, shown.days.length], [true, shown.shown_reliability, 14]);
});

test("days in which somebody saw a simulated host stay as they were counted, and others are filled when it returns", async (t) => {
  const { world, host } = await aMarket(t);
  const day = dayOf(world.clock.now()) - 5;
  const { rows } = await world.env.pool.query(
    "update machine_days set online_ms = 0, offline_ms = 86400000 where machine_id = $1 and day = $2 returning *",
    [host.machineId, day],
  );
  assert.equal(rows.length, 1);
  await host.disconnect();
  world.clock.jump(3 * 86_400_000);
  await host.connect();
  const { days } = await reliabilityOf(world, host.machineId);
  const counted = days.find((one: { readonly day: number }) => one.day === day);
  assert.deepEqual([counted.online_ms, counted.offline_ms], [0, 86_400_000]);
  assert.equal(days.length, 17);
  const { rows: listings } = await world.env.pool.query("select from volume_offers");
  assert.equal(listings.length, 1);
});

test("a simulated machine that somebody else joined has no invented past, nor has one at a server that simulates none", async (t) => {
  const { world } = await aMarket(t);
  const { origin, clock, env } = world;
  const token = await inTransaction(env.database, async (tx) =>
    issueAgentToken(tx, { userId: (await aUser(tx)).id, name: "theirs", isTrusted: false }),
  );
  const theirs = new FakeHost({ origin, token, clock, database: env.database });
  t.after(() => theirs.terminate());
  await theirs.connect();
  const real = await testApp(t);
  const host = await real.host();
  for (const [at, id] of [
    [world, theirs.machineId],
    [real, asId<MachineId>(host.machineId)],
  ] as const) {
    const { reliability, days } = await reliabilityOf(at, id);
    assert.deepEqual([reliability, days], [0.6, []]);
    const { rows } = await at.env.pool.query("select from volume_offers where machine_id = $1", [id]);
    assert.equal(rows.length, 0);
  }
});
