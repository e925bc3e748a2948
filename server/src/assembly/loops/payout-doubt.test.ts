import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../test/support/app.ts";
import { aCaller, inTransaction, type TestCaller } from "../../../../test/support/fixtures.ts";
import { aJoinedHost, aJoiner, join } from "../../../../test/support/hosts/joins.ts";
import { listOpenPayoutHolds, releasePayoutHold } from "../../domains/money/payments/index.ts";
import { payoutDoubtLoop } from "./payout-doubt.ts";

const openKinds = async ({ env }: TestApp, { id }: TestCaller) =>
  (await listOpenPayoutHolds(env.database.kysely, id)).map(({ kind }) => kind);

const run = ({ env, clock }: TestApp) => payoutDoubtLoop({ database: env.database, clock }).run();

async function aStrangersHost(world: TestApp) {
  const owner = await world.caller();
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner, {
    gpus: 1,
    facts: { is_simulated: false },
  });
  await host.connect({ engine: { kind: "docker", version: "27" } });
  return { owner, host };
}

const flag = ({ env, clock }: TestApp, { id }: TestCaller, kind: string) =>
  env.pool.query(
    "insert into host_flags (host_id, kind, detail, facts, since_at, last_at) values ($1, $2, 'It lied.', '{}', $3, $3)",
    [id, kind, clock.now()],
  );

test("payouts of a host wait until a machine of it was verified, and stay free when it loses that again", async (t) => {
  const world = await testApp(t);
  const { owner, host } = await aStrangersHost(world);
  const operator = await world.caller();
  await world.host({ owner: operator });
  assert.deepEqual(await run(world), { placed: 1, released: 0 });
  assert.deepEqual(await run(world), { placed: 0, released: 0 }, "once");
  assert.deepEqual(await openKinds(world, owner), ["unverified"]);
  assert.deepEqual(await openKinds(world, operator), [], "the operator's own need no verification");
  const verify = (verification: string) =>
    world.env.pool.query("update machines set verification = $2 where id = $1", [host.machineId, verification]);
  await verify("verified");
  assert.deepEqual(await run(world), { placed: 0, released: 1 });
  await verify("deverified");
  assert.deepEqual(await run(world), { placed: 0, released: 0 });
});

test("an administrator's release of an unverified host's payouts holds", async (t) => {
  const world = await testApp(t);
  const { owner } = await aStrangersHost(world);
  const admin = await aCaller(world.env.database, { isAdmin: true });
  await run(world);
  world.clock.jump(1_000);
  await inTransaction(world.env.database, (tx) =>
    releasePayoutHold(tx, { userId: owner.id, kind: "unverified", reason: "I know them.", releasedBy: admin.id }),
  );
  assert.deepEqual(await run(world), { placed: 0, released: 0 });
  assert.deepEqual(await openKinds(world, owner), []);
});

test("payouts of a flagged host wait until the flag is cleared; facts that were refused hold nothing", async (t) => {
  const world = await testApp(t);
  const [owner, admin] = [await world.caller(), await aCaller(world.env.database, { isAdmin: true })];
  await world.host({ owner });
  await flag(world, owner, "senseless_facts");
  assert.deepEqual(await run(world), { placed: 0, released: 0 });
  await flag(world, owner, "traffic_beyond_line");
  assert.deepEqual(await run(world), { placed: 1, released: 0 });
  assert.deepEqual(await openKinds(world, owner), ["flagged_host"]);
  const { body } = await world.call({ url: "/api/v0/admin/flags/?open=true", secret: admin.secret });
  const { id } = body.flags.find(({ kind }: { kind: string }) => kind === "traffic_beyond_line");
  const url = `/api/v0/admin/flags/${id}/clear/`;
  const cleared = await world.call({ method: "PUT", url, secret: admin.secret, body: { reason: "a new line" } });
  assert.equal(cleared.status, 200, cleared.text);
  assert.deepEqual(await run(world), { placed: 0, released: 1 });
  assert.deepEqual(await openKinds(world, owner), []);
});
