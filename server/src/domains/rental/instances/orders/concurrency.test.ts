import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { assertLines } from "../../../../../../test/support/money/charges.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import {
  changeBid,
  destroy,
  reboot,
  rent,
  rentAndRun,
  setState,
  show,
} from "../../../../../../test/support/rentals.ts";
import type { Identity } from "../../../../base/identity.ts";
import { OrderDesk } from "../index.ts";

test("when two hundred callers race for ten offers, ten win and the others are told that the offer is gone", async (t) => {
  const world = await testApp(t);
  const hosts: FakeHost[] = [];
  for (let count = 0; count < 10; count += 1) hosts.push(await world.host({ gpus: 1 }));
  const users: TestCaller[] = [];
  for (let count = 0; count < 5; count += 1) users.push(await world.caller());
  const offerIds: number[] = [];
  for (const host of hosts) offerIds.push(...(await world.offersOf(host)).values());
  assert.equal(offerIds.length, 10);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      world.call({
        method: "PUT",
        url: `/api/v0/asks/${offerIds[index % 10]}/`,
        secret: users[index % 5]?.secret,
        body: { image: "busybox" },
      }),
    ),
  );
  const statuses = Map.groupBy(answers, (answer) => answer.status);
  assert.deepEqual([statuses.get(200)?.length, statuses.get(410)?.length], [10, 190]);
  assert.equal(new Set(statuses.get(200)?.map((answer) => answer.body.ask_id)).size, 10);
  await world.assertBooks();
  const { rows } = await world.env.pool.query(
    "select count(*)::integer as leases from leases where released_at is null",
  );
  assert.deepEqual(rows, [{ leases: 10 }]);
  assert.deepEqual(world.complaints, []);
});

test("a renter who cannot pay does not keep those who can from renting", async (t) => {
  const world = await testApp(t);
  const [host, poor, rich] = [await world.host({ gpus: 1 }), await world.caller({ dollars: 0 }), await world.caller()];
  const offerId = (await world.offersOf(host)).get(1);
  const ask = (secret: string) =>
    world.call({ method: "PUT", url: `/api/v0/asks/${offerId}/`, secret, body: { image: "a" } });
  // The keys exist before, so that the orders come together.
  await Promise.all([show(world, poor, 1), show(world, rich, 1)]);
  const answers = await Promise.all([ask(poor.secret), ask(poor.secret), ask(rich.secret), ask(poor.secret)]);
  assert.equal(answers[2]?.status, 200, answers[2]?.text);
  assert.deepEqual(new Set([0, 1, 3].map((index) => answers[index]?.status)).has(200), false);
  await world.assertBooks();
});

test("a caller with credit for one rental gets one of two that they order at once", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 4 }), await world.caller({ dollars: 0.06 })];
  const offers = await world.offersOf(host);
  const answers = await Promise.all(
    [1, 1].map((size) =>
      world.call({
        method: "PUT",
        url: `/api/v0/asks/${offers.get(size)}/`,
        secret: user.secret,
        body: { image: "busybox" },
      }),
    ),
  );
  assert.deepEqual(
    answers.map((answer) => answer.status).toSorted((a, b) => a - b),
    [200, 410],
  );
  await world.assertBooks();
});

test("many changes of the same instances at once all come through, and nothing is left half done", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 4 }), await world.caller()];
  const ids: number[] = [];
  for (const price of [0.2, 0.25, 0.3, 0.35]) ids.push(await rentAndRun(world, user, host, { price }));
  const changes = ids.flatMap((id, index) => [
    () => setState(world, user, id, "stopped"),
    () => setState(world, user, id, "running"),
    () => changeBid(world, user, id, 0.2 + index / 10),
    () => reboot(world, user, id),
    () => world.runLoop("settle-runs"),
    () => host.report(host.obedience()),
    () => changeBid(world, user, id, 0.4),
  ]);
  world.clock.jump(10_000);
  const answers = await Promise.all([...changes, ...changes.toReversed()].map((change) => change()));
  for (const answer of answers) {
    if (typeof answer !== "object" || answer === null || !("status" in answer)) continue;
    assert.ok([200, 409].includes(Number(answer.status)), JSON.stringify(answer));
  }
  await host.obey();
  await world.assertBooks();
  await Promise.all(ids.flatMap((id) => [destroy(world, user, id), destroy(world, user, id)]));
  await host.obey();
  await world.assertBooks();
  const { rows } = await world.env.pool.query("select phase, count(*)::integer from instances group by phase");
  assert.deepEqual(rows, [{ phase: "ended", count: 4 }]);
  assert.deepEqual(world.complaints, []);
});

test("deleting endpoint groups, renting and settling on the same machines do not deadlock", async (t) => {
  const world = await testApp(t);
  const [one, two, user] = [await world.host({ gpus: 8 }), await world.host({ gpus: 8 }), await world.caller()];
  const groups: number[] = [];
  for (const hosts of [
    [one, two],
    [two, one],
    [one, two],
    [two, one],
  ]) {
    const made = await world.call({ method: "POST", url: "/api/v0/endptjobs/", secret: user.secret, body: {} });
    groups.push(made.body.result);
    for (const host of hosts) {
      const id = await rentAndRun(world, user, host);
      await world.env.pool.query(
        "insert into endpoint_workers (instance_id, endpoint_group_id, state, created_at) values ($1, $2, 'active', now())",
        [id, made.body.result],
      );
    }
  }
  world.clock.jump(10_000);
  await Promise.all([one.report(one.obedience()), two.report(two.obedience())]);
  const [answers] = await Promise.all([
    Promise.all(
      groups.map((id) => world.call({ method: "DELETE", url: `/api/v0/endptjobs/${id}/`, secret: user.secret })),
    ),
    rent(world, user, one),
    world.runLoop("settle-runs"),
    rent(world, user, two),
  ]);
  for (const { body } of answers) assert.deepEqual([body.deleted_workers.length, body.failed_workers], [2, []]);
  await Promise.all([one.obey(), two.obey()]);
  await world.assertBooks();
  await assertLines(world);
});

test("an account has a limited number of instances, with any number of requests on any number of servers at once", async (t) => {
  const world = await testApp(t);
  const { env, clock, encryption } = world;
  await env.pool.query("update account_rules set instances_max = 4");
  const [user, other] = [await world.caller(), await world.caller()];
  const hosts: FakeHost[] = [];
  for (let count = 0; count < 8; count += 1) hosts.push(await world.host({ gpus: 1 }));
  const offerIds: number[] = [];
  for (const host of hosts) offerIds.push(...(await world.offersOf(host)).values());
  // Each order has a batch of its own, as on several servers.
  const desks = [1, 2, 3].map(
    (n) => new OrderDesk(env.database, clock, { secret: Buffer.from(`server ${n}`), encryption }),
  );
  const identity = { ...user, userId: user.id, apiKeyId: user.key.id, isAdmin: false } as unknown as Identity;
  const outcomes = await Promise.allSettled(
    offerIds.map(async (offerId, index) =>
      desks[index % 3]?.order({ identity, offerId, body: { image: "busybox" }, repeatable: undefined }),
    ),
  );
  const made = outcomes.flatMap((outcome) =>
    outcome.status === "fulfilled" ? (outcome.value?.new_contract ?? []) : [],
  );
  assert.equal(made.length, 4);
  for (const outcome of outcomes.filter(({ status }) => status === "rejected")) {
    const { kind, code, extra, publicMessage } = (outcome as PromiseRejectedResult).reason;
    assert.deepEqual([kind, code, extra.field], ["invalid", "too_many", "id"]);
    assert.match(publicMessage, /at most 4 instances/);
  }
  const [id = 0] = made;
  const used = new Set((await env.pool.query("select offer_id from instances")).rows.map((row) => row.offer_id));
  const free = offerIds.find((offerId) => !used.has(offerId));
  const ask = (secret: string) =>
    world.call({ method: "PUT", url: `/api/v0/asks/${free}/`, secret, body: { image: "busybox" } });
  const refused = await ask(user.secret);
  assert.deepEqual([refused.status, refused.body.error, refused.body.field], [400, "too_many", "id"], refused.text);

  for (const host of hosts) await host.obey();
  assert.equal((await setState(world, user, id, "stopped")).status, 200);
  for (const host of hosts) await host.obey();
  assert.equal((await setState(world, user, id, "running")).status, 200, "an existing instance may be started again");
  assert.equal((await destroy(world, user, id)).status, 200);
  assert.equal(
    (await ask(user.secret)).status,
    200,
    "a destroyed one no longer counts before its host has confirmed it",
  );
  assert.equal((await ask(other.secret)).status, 410, "a refused order leaves nothing behind");
  await world.assertBooks();
});
