import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { HOUR_MS, listedHost, pass } from "../../../../../../test/support/money/contracts.ts";
import { type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { askFor, destroy, rentAndRun, setState, show, stored } from "../../../../../../test/support/rentals.ts";

const MINUTE_MS = 60_000;

type Body = Readonly<Record<string, unknown>>;

function putCap(world: TestApp, user: TestCaller, body: Body) {
  return world.call({ method: "PUT", url: "/api/v0/caps/", secret: user.secret, body });
}

async function setCap(world: TestApp, user: TestCaller, body: Body) {
  const answer = await putCap(world, user, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.cap;
}

async function listCaps(world: TestApp, user: TestCaller) {
  const answer = await world.call({ url: "/api/v0/caps/", secret: user.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.caps;
}

/** A second key of the same user. */
async function anotherKey(
  world: TestApp,
  user: TestCaller,
  permissions?: Body,
): Promise<TestCaller & { keyId: number }> {
  const body = { name: "another", ...(permissions === undefined ? {} : { permissions: { api: permissions } }) };
  const answer = await world.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return { ...user, secret: answer.body.key, keyId: answer.body.id };
}

async function notificationsOf(world: TestApp, user: TestCaller): Promise<readonly string[]> {
  const { rows } = await world.env.pool.query<{ kind: string }>(
    "select kind from notices where user_id = $1 and kind like 'client:cap%' order by id",
    [user.id],
  );
  return rows.map(({ kind }) => kind);
}

test("limits on spending over HTTP", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 8 });
  const user = await world.caller();
  const other = await world.caller();

  await t.test("a cap is set, shown, changed and removed, and is nobody else's", async () => {
    const cap = await setCap(world, user, { scope: "account", period: "day", limit: 5 });
    const midnight = Date.UTC(2026, 0, 2) / 1000;
    const holdsFrom = world.clock.now().getTime() / 1000;
    const figures = {
      limit: 5,
      spent: 0,
      held: 0,
      left: 5,
      holds_from: holdsFrom,
      stops_at: null,
      resets_at: midnight,
    };
    assert.deepEqual(cap, { id: cap.id, scope: "account", scope_id: user.id, period: "day", ...figures });
    const same = await setCap(world, user, { scope: "account", scope_id: user.id, period: "day", limit: 7 });
    assert.deepEqual([same.id, same.limit], [cap.id, 7]);
    await setCap(world, user, { scope: "account", period: "total", limit: 7 });
    assert.deepEqual(
      (await listCaps(world, user)).map((one: { period: string; resets_at: number }) => [one.period, one.resets_at]),
      [
        ["day", midnight],
        ["total", null],
      ],
    );
    assert.deepEqual(await listCaps(world, other), []);
    const url = `/api/v0/caps/${cap.id}/`;
    const foreign = await world.call({ method: "DELETE", url, secret: other.secret });
    assert.deepEqual([foreign.status, foreign.body.error], [404, "no_such_cap"]);
    for (const one of await listCaps(world, user)) {
      const gone = await world.call({ method: "DELETE", url: `/api/v0/caps/${one.id}/`, secret: user.secret });
      assert.equal(gone.status, 200, gone.text);
    }
    const again = await world.call({ method: "DELETE", url, secret: user.secret });
    assert.deepEqual([again.status, again.body.error], [404, "no_such_cap"]);
    assert.deepEqual(await listCaps(world, user), []);
  });

  await t.test("refuses each wrong member by its name", async () => {
    const good = { scope: "account", period: "day", limit: 1 };
    const wrong: readonly [string, Body][] = [
      ["scope", { scope: undefined }],
      ["scope", { scope: "planet" }],
      ["scope", { scope: 7 }],
      ["scope_id", { scope_id: "7" }],
      ["scope_id", { scope_id: 0 }],
      ["scope_id", { scope_id: 2_147_483_648 }],
      ["scope_id", { scope: "key" }],
      ["period", { period: undefined }],
      ["period", { period: "week" }],
      ["limit", { limit: undefined }],
      ["limit", { limit: "1" }],
      ["limit", { limit: -0.01 }],
      ["limit", { limit: 1_000_000_001 }],
      ["limit", { limit: null }],
    ];
    for (const [field, member] of wrong) {
      const answer = await putCap(world, user, { ...good, ...member });
      assert.deepEqual([answer.status, answer.body.field], [400, field], `${JSON.stringify(member)}: ${answer.text}`);
    }
    assert.deepEqual(await listCaps(world, user), []);
  });

  await t.test("a scope of another account answers as one that does not exist", async () => {
    const key = await anotherKey(world, other);
    const id = await rentAndRun(world, other, host);
    const foreign: readonly [Body, string][] = [
      [{ scope: "account", scope_id: other.id }, "no_such_user"],
      [{ scope: "key", scope_id: key.keyId }, "no_such_api_key"],
      [{ scope: "key", scope_id: 2_000_000_000 }, "no_such_api_key"],
      [{ scope: "instance", scope_id: id }, "no_such_instance"],
      [{ scope: "instance", scope_id: 2_000_000_000 }, "no_such_instance"],
      [{ scope: "endpoint", scope_id: 2_000_000_000 }, "no_such_endpoint"],
    ];
    for (const [scope, code] of foreign) {
      const answer = await putCap(world, user, { ...scope, period: "day", limit: 1 });
      assert.deepEqual([answer.status, answer.body.error], [404, code], answer.text);
    }
    await destroy(world, other, id);
    await host.obey();
  });

  await t.test("needs a key that may write billing, and no key changes its own cap", async () => {
    const body = { scope: "account", period: "day", limit: 1 };
    const reader = await anotherKey(world, user, { billing_read: {}, instance_write: {} });
    assert.equal((await putCap(world, reader, body)).status, 403);
    assert.equal((await world.call({ url: "/api/v0/caps/", secret: reader.secret })).status, 200);
    const writer = await anotherKey(world, user, { billing_write: {}, billing_read: {} });
    const own = await setCap(world, user, { scope: "key", scope_id: writer.keyId, period: "day", limit: 1 });
    const raised = await putCap(world, writer, { scope: "key", scope_id: writer.keyId, period: "day", limit: 9 });
    const fresh = await putCap(world, writer, { scope: "key", scope_id: writer.keyId, period: "total", limit: 9 });
    const removed = await world.call({ method: "DELETE", url: `/api/v0/caps/${own.id}/`, secret: writer.secret });
    const maker = await anotherKey(world, user);
    await setCap(world, user, { scope: "key", scope_id: maker.keyId, period: "day", limit: 0 });
    const free = { name: "free", permissions: { api: { instance_write: {} } } };
    const made = await world.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret: maker.secret, body: free });
    assert.deepEqual([made.status, made.body.error], [403, "not_authorized"], made.text);
    assert.deepEqual([raised.status, fresh.status, removed.status], [403, 403, 403]);
    assert.deepEqual(
      (await listCaps(world, user)).map((cap: { limit: number }) => cap.limit),
      [1, 0],
    );
    await world.call({ method: "DELETE", url: `/api/v0/caps/${own.id}/`, secret: user.secret });
  });
});

test("a reached cap refuses what it cannot pay for, and the error names the cap", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 6 }, { gpus: 4 });
  const user = await world.caller();
  const key = await anotherKey(world, user);
  await setCap(world, user, { scope: "key", scope_id: key.keyId, period: "month", limit: 1.5 });

  await t.test("at creation, and only for the key that it limits", async () => {
    const first = await askFor(world, key, host);
    assert.equal(first.status, 200, first.text);
    const refused = await askFor(world, key, host);
    assert.deepEqual([refused.status, refused.body.error], [400, "cap_reached"], refused.text);
    const { scope, scope_id: scopeId, period, shortfall } = refused.body;
    assert.deepEqual([scope, scopeId, period], ["key", key.keyId, "month"]);
    assert.ok(shortfall === 0.5, refused.text);
    assert.match(refused.body.msg, new RegExp(`API key ${key.keyId} per month`));
    const [cap] = await listCaps(world, user);
    assert.ok(cap.held >= 1 && cap.held <= 1.5 && cap.spent === 0, JSON.stringify(cap));
    const uncapped = await askFor(world, user, host);
    assert.equal(uncapped.status, 200, uncapped.text);
  });

  await t.test("of simultaneous orders as many are served as the cap can pay for", async () => {
    const another = await anotherKey(world, user);
    const crowded = await listedHost(world, { dollarsPerHour: 6 }, { gpus: 8 });
    await setCap(world, user, { scope: "key", scope_id: another.keyId, period: "day", limit: 3.1 });
    const offers: readonly number[] = [...(await world.offersOf(crowded)).values()];
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        world.call({
          method: "PUT",
          url: `/api/v0/asks/${offers[index % offers.length]}/`,
          secret: another.secret,
          body: { image: "busybox" },
        }),
      ),
    );
    const caps = await listCaps(world, user);
    const cap = caps.find((one: { scope_id: number }) => one.scope_id === another.keyId);
    assert.ok(cap.spent + cap.held <= 3.1, JSON.stringify(cap));
    assert.ok(answers.some(({ status }) => status === 200));
    assert.ok(
      answers.every(({ status, body }) => status === 200 || ["cap_reached", "no_such_ask"].includes(body.error)),
    );
  });
  await world.assertBooks();
});

test("an instance whose cap is reached stops with its data kept, never exceeding the cap, and starts when the cap is raised", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await setCap(world, user, { scope: "instance", scope_id: id, period: "day", limit: 1 });
  let [cap] = await listCaps(world, user);
  assert.ok(cap.held > 0, "its hold already counts");
  for (let minute = 0; minute < 75; minute += 1) {
    world.clock.jump(MINUTE_MS);
    await host.obey();
    await world.runLoop("settle-runs");
    [cap] = await listCaps(world, user);
    assert.ok(cap.spent + cap.held <= cap.limit, JSON.stringify(cap));
  }
  await host.obey();
  const instance = await stored(world, id);
  assert.deepEqual([instance.phase, instance.desired, instance.cause], ["stopped", "stopped", "container_stopped"]);
  assert.ok(cap.spent > 0.8, JSON.stringify(cap));
  await world.runLoop("tell-of-caps");
  await world.runLoop("tell-of-caps");
  assert.ok((await notificationsOf(world, user)).includes("client:cap_reached"));

  const refused = await setState(world, user, id, "running");
  assert.deepEqual([refused.status, refused.body.error], [400, "cap_reached"], refused.text);
  await setCap(world, user, { scope: "instance", scope_id: id, period: "day", limit: 5 });
  assert.equal((await setState(world, user, id, "running")).status, 200);
  assert.equal((await show(world, user, id)).intended_status, "running");
  await world.assertBooks();
});

test("a cap on a day forgets what was spent when the day is over, one on the total does not", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  world.clock.jump(HOUR_MS);
  await host.obey();
  await setState(world, user, id, "stopped");
  await host.obey();
  await world.runLoop("settle-runs");
  await setCap(world, user, { scope: "account", period: "day", limit: 9 });
  await setCap(world, user, { scope: "account", period: "total", limit: 9 });
  const spent = async () => (await listCaps(world, user)).map((cap: { spent: number }) => cap.spent > 0.9);
  assert.deepEqual(await spent(), [true, true], "a new cap counts what the present period has cost");
  world.clock.jump(24 * HOUR_MS);
  assert.deepEqual(await spent(), [false, true]);
});

test("prepaying counts against caps when it is paid", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 0.1, discountMax: 0.4 });
  const user = await world.caller({ dollars: 1000 });
  const id = await rentAndRun(world, user, host);
  await setCap(world, user, { scope: "account", period: "total", limit: 100 });
  const prepay = (amount: number) =>
    world.call({ method: "PUT", url: `/api/v0/instances/prepay/${id}/`, secret: user.secret, body: { amount } });
  const refused = await prepay(100);
  assert.deepEqual([refused.status, refused.body.error], [400, "cap_reached"], refused.text);
  const paid = await prepay(80);
  assert.equal(paid.status, 200, paid.text);
  const [cap] = await listCaps(world, user);
  assert.ok(cap.spent >= 80 && cap.spent + cap.held <= 100, JSON.stringify(cap));
  // A cap that is made afterwards counts the deposit as well.
  await world.call({ method: "DELETE", url: `/api/v0/caps/${cap.id}/`, secret: user.secret });
  const remade = await setCap(world, user, { scope: "instance", scope_id: id, period: "month", limit: 100 });
  assert.ok(remade.spent >= 80, JSON.stringify(remade));
});

test("a volume counts against the caps of its account and of the key that rented it, and is refused when one is reached", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 });
  const user = await world.caller();
  const key = await anotherKey(world, user);
  const { rows } = await world.env.pool.query<{ id: number }>(
    `insert into volume_offers (machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     values ($1, 100e9::bigint, 72000000000, '2027-01-01', '2026-01-01', '2026-01-01') returning id`,
    [host.machineId],
  );
  const rentVolume = (secret: string) =>
    world.call({ method: "PUT", url: "/api/v0/volumes/", secret, body: { id: rows[0]?.id, size: 10, name: "v" } });
  await setCap(world, user, { scope: "key", scope_id: key.keyId, period: "total", limit: 7 });
  assert.equal((await rentVolume(key.secret)).status, 200);
  await host.obey();
  // A dollar an hour, of which the cap pays seven.
  await pass(world, host, 8 * HOUR_MS);
  await world.env.pool.query("update volumes set settle_at = $1 where settle_at is not null", [world.clock.now()]);
  await world.runLoop("settle-volumes");
  const [cap] = await listCaps(world, user);
  assert.deepEqual([cap.spent, cap.left], [7, 0]);
  const refused = await rentVolume(key.secret);
  assert.deepEqual([refused.status, refused.body.error], [400, "cap_reached"], refused.text);
  assert.equal((await rentVolume(user.secret)).status, 200);
  // A cap that is removed and set again counts the same.
  await world.call({ method: "DELETE", url: `/api/v0/caps/${cap.id}/`, secret: user.secret });
  const remade = await setCap(world, user, { scope: "key", scope_id: key.keyId, period: "day", limit: 9 });
  assert.equal(remade.spent, 7);
  await world.assertBooks();
});
