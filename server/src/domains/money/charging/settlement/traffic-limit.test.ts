import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { listMachine } from "../../../../../../test/support/hosts/hosting.ts";
import { askFor, rent, show, setState, stored } from "../../../../../../test/support/rentals.ts";
import { audit } from "../../audit/audit-service.ts";

const SECOND_MS = 1_000;
const DOLLAR = 1_000_000_000n;
const GB = 1e9;

/** A machine with the fastest uplink that is believed, at the highest price for traffic, and a renter with $100. */
async function aFlood(t: TestContext) {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner, gpus: 4, facts: { inet_up_mbps: 400_000, inet_down_mbps: 400_000 } });
  const listed = await listMachine(world, owner, host.machineId, { price_inetu: 0.15, price_inetd: 0.15 });
  assert.equal(listed.status, 200, listed.text);
  await world.settled();
  return { world, host, owner, user: await world.caller({ dollars: 100 }) };
}

/** Lets the host report this many received bytes, within this much running time. */
async function say(world: TestApp, host: FakeHost, id: number, said: { readonly ms: number; readonly bytes: number }) {
  const counters = { running_ms: said.ms, received_bytes: said.bytes, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "running", counters }]);
  await world.runLoop("settle-runs");
}

const spentOf = async (world: TestApp, user: TestCaller) => {
  const { rows } = await world.env.pool.query<{ spent: bigint }>(
    `select coalesce(sum(amount_nanos), 0)::bigint as spent from charge_lines
     where payer_id = $1 and component in ('bwu', 'bwd')`,
    [user.id],
  );
  return rows[0]?.spent ?? 0n;
};

const subjects = async (world: TestApp, user: TestCaller) => {
  const { rows } = await world.env.pool.query<{ kind: string; message: string }>(
    "select kind, message from notices where user_id = $1 and kind = 'client:traffic_limit_reached'",
    [user.id],
  );
  return rows;
};

test("invented traffic costs no more than the budget: the instance stops with its data kept, and its renter is notified", async (t) => {
  const { world, host, user } = await aFlood(t);
  const id = await rent(world, user, host);
  await host.obey();
  for (let second = 1; second <= 12; second += 1) {
    world.clock.jump(SECOND_MS);
    await say(world, host, id, { ms: second * SECOND_MS, bytes: second * 1_000 * GB });
  }
  // $2, and the growth of an hour at four times $0.30.
  const spent = await spentOf(world, user);
  assert.ok(spent <= 2n * DOLLAR + (12n * DOLLAR * 1_01n) / 1_000n, String(spent));
  assert.ok(spent >= 2n * DOLLAR);
  const instance = await stored(world, id);
  assert.equal(instance.desired, "stopped");
  const shown = await show(world, user, id);
  assert.deepEqual([shown.traffic_limit_reached, shown.traffic_limit_source], [true, "budget"]);
  assert.equal(BigInt(Math.round(shown.traffic_cost * 1e9)), spent);
  const [notice, ...more] = await subjects(world, user);
  assert.match(String(notice?.message), /its data is kept\. Set a higher limit/);
  assert.equal(more.length, 0);
  await host.obey();
  const refused = await setState(world, user, id, "running");
  assert.deepEqual([refused.status, refused.body.error], [400, "traffic_limit_reached"], refused.text);
  await world.assertBooks();
});

/** Rents with these settings, and returns the price of its traffic after a flood. */
async function floodUnder(t: TestContext, request: object) {
  const flood = await aFlood(t);
  const id = await rent(flood.world, flood.user, flood.host, { ...request });
  await flood.host.obey();
  flood.world.clock.jump(20 * SECOND_MS);
  await say(flood.world, flood.host, id, { ms: 20 * SECOND_MS, bytes: 100_000 * GB });
  return { ...flood, id, spent: await spentOf(flood.world, flood.user) };
}

test("a limit in the request holds to the nano-dollar, and traffic beyond it is never charged", async (t) => {
  const { world, host, user, id, spent } = await floodUnder(t, { traffic_limit: 0.123456789 });
  assert.equal(spent, 123_456_789n);
  const shown = await show(world, user, id);
  assert.deepEqual([shown.traffic_limit, shown.traffic_limit_source], [0.123456789, "renter"]);
  const change = (secret: string, dollars: number) =>
    world.call({ method: "PUT", url: `/api/v0/instances/${id}/`, secret, body: { traffic_limit: dollars } });
  const low = await change(user.secret, 0.1);
  assert.deepEqual([low.status, low.body.field], [400, "traffic_limit"], low.text);
  assert.equal((await change(user.secret, 10)).status, 200);
  await world.runLoop("settle-runs");
  assert.equal(await spentOf(world, user), 123_456_789n, "a raised limit brings nothing back");
  await host.obey();
  assert.equal((await setState(world, user, id, "running")).status, 200);
  const { database, pool } = world.env;
  const isSound = async () => (await audit({ database, clock: world.clock }, { isFull: true })).isSound;
  assert.equal(await isSound(), true);
  await pool.query("update instances set traffic_spent_nanos = traffic_spent_nanos - 1 where id = $1", [id]);
  assert.equal(await isSound(), false, "what was charged is held against what is counted against the limit");
});

test("removing an instance's limit restores that of the account, or starts a new budget", async (t) => {
  const { world, user, host, id, spent } = await floodUnder(t, { traffic_limit: 0.5 });
  const secret = user.secret;
  const goBack = () =>
    world.call({ method: "PUT", url: `/api/v0/instances/${id}/`, secret, body: { traffic_limit: null } });
  const setAccount = (limit: number | null) =>
    world.call({ method: "PUT", url: "/api/v0/users/", secret, body: { traffic_limit: limit } });
  const back = await goBack();
  assert.equal(back.status, 200, back.text);
  const budget = await show(world, user, id);
  // $2 and four times $0.30 an hour, added to its price so far.
  assert.deepEqual(
    [budget.traffic_limit, budget.traffic_limit_source, budget.traffic_limit_reached],
    [3.7, "budget", false],
  );
  assert.equal(await spentOf(world, user), spent);
  await host.obey();
  assert.equal((await setState(world, user, id, "running")).status, 200, "it may run again");
  assert.equal((await setAccount(0.4)).status, 200);
  const low = await goBack();
  assert.equal(low.status, 400, low.text);
  assert.match(low.body.msg, /^The traffic_limit of the account must be at least the \$0\.5/);
  assert.equal((await setAccount(0.9)).status, 200);
  assert.equal((await goBack()).status, 200);
  const shown = await show(world, user, id);
  assert.deepEqual([shown.traffic_limit, shown.traffic_limit_source], [0.9, "renter"]);
  assert.equal((await setAccount(null)).status, 200);
  assert.equal((await goBack()).status, 200);
  assert.equal((await show(world, user, id)).traffic_limit_source, "budget");
});

test("with a limit of 0 no traffic is charged", async (t) => {
  assert.equal((await floodUnder(t, { traffic_limit: 0 })).spent, 0n);
});

test("an account's limit holds for its new instances, and a request overrides it", async (t) => {
  const { world, host, user } = await aFlood(t);
  const set = await world.call({
    method: "PUT",
    url: "/api/v0/users/",
    secret: user.secret,
    body: { traffic_limit: 0.5 },
  });
  assert.equal(set.status, 200, set.text);
  const [byAccount, byRequest] = [
    await rent(world, user, host, { size: 1 }),
    await rent(world, user, host, { size: 1, traffic_limit: 7 }),
  ];
  assert.equal((await show(world, user, byAccount)).traffic_limit, 0.5);
  assert.equal((await show(world, user, byRequest)).traffic_limit, 7);
  await world.settled();
  const wrong = await askFor(world, user, host, { size: 1, traffic_limit: -1 });
  assert.deepEqual([wrong.status, wrong.body.field], [400, "traffic_limit"], wrong.text);
});

test("a template's limit holds for instances rented with it, and a request overrides it", async (t) => {
  const { world, host, user } = await aFlood(t);
  const body = { name: "careful", image: "alpine", traffic_limit: 0.25 };
  const made = await world.call({ method: "POST", url: "/api/v0/template/", secret: user.secret, body });
  assert.equal(made.status, 200, made.text);
  assert.equal(made.body.template.traffic_limit, 0.25);
  const template_hash_id = made.body.template.hash_id;
  const id = await rent(world, user, host, { size: 1, template_hash_id });
  assert.equal((await show(world, user, id)).traffic_limit, 0.25);
});

test("lowering a limit settles first: earlier usage is charged under the old limit", async (t) => {
  const { world, host, user } = await aFlood(t);
  const id = await rent(world, user, host, { traffic_limit: 50 });
  await host.obey();
  world.clock.jump(20 * SECOND_MS);
  const counters = { running_ms: 20 * SECOND_MS, received_bytes: GB / 2, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "running", counters }]);
  const url = `/api/v0/instances/${id}/`;
  const low = await world.call({ method: "PUT", url, secret: user.secret, body: { traffic_limit: 0 } });
  assert.deepEqual([low.status, low.body.field], [400, "traffic_limit"], low.text);
  await world.runLoop("settle-runs");
  assert.equal(await spentOf(world, user), 75_000_000n);
});

test("the key inside a container cannot raise the limit, which its host can read", async (t) => {
  const { world, host, user } = await aFlood(t);
  const answer = await askFor(world, user, host, {});
  const secret = answer.body.instance_api_key;
  const url = `/api/v0/instances/${answer.body.new_contract}/`;
  assert.equal((await world.call({ method: "PUT", url, secret, body: { traffic_limit: 1_000 } })).status, 403);
});
