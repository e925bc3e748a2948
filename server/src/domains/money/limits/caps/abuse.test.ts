import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { settleNow } from "../../../../../../test/support/money/charges.ts";
import { HOUR_MS, listedHost, pass } from "../../../../../../test/support/money/contracts.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { askFor, rentAndRun, setState, show } from "../../../../../../test/support/rentals.ts";
import { aMemberWith, aTeam, join } from "../../../../../../test/support/teams.ts";

type Body = Readonly<Record<string, unknown>>;

function putCap(world: TestApp, secret: string, body: Body) {
  return world.call({ method: "PUT", url: "/api/v0/caps/", secret, body });
}

async function setCap(world: TestApp, secret: string, body: Body) {
  const answer = await putCap(world, secret, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.cap;
}

async function listCaps(world: TestApp, secret: string) {
  return (await world.call({ url: "/api/v0/caps/", secret })).body.caps;
}

function removeCap(world: TestApp, secret: string, id: number) {
  return world.call({ method: "DELETE", url: `/api/v0/caps/${id}/`, secret });
}

async function makeKey(world: TestApp, secret: string, body: Body = {}) {
  const made = await world.call({
    method: "POST",
    url: "/api/v0/auth/apikeys/",
    secret,
    body: { name: "another", ...body },
  });
  return { status: made.status, secret: String(made.body.key), id: Number(made.body.id), text: made.text };
}

test("a limit is a possible number of dollars, and any other number is refused", async (t) => {
  const world = await testApp(t);
  const user = await world.caller();
  const raw = (limit: string) =>
    world.call({
      method: "PUT",
      url: "/api/v0/caps/",
      secret: user.secret,
      text: `{"scope":"account","period":"day","limit":${limit}}`,
    });
  for (const limit of ["-1", "-1e-9", "1e308", "1e999", "-1e308", "1000000000.5", "NaN", "Infinity", "true", "[1]"]) {
    const answer = await raw(limit);
    assert.equal(answer.status, 400, `${limit}: ${answer.text}`);
  }
  assert.deepEqual(await listCaps(world, user.secret), []);
  // Amounts beyond 2^53 nano-dollars, up to the largest that JSON numbers carry.
  for (const [limit, shown] of [
    ["9007199.254740993", 9007199.254740993],
    ["999999999.999999", 999999999.999999],
    ["1e9", 1_000_000_000],
    ["1e-12", 0],
    ["-0", 0],
  ] as const) {
    const answer = await raw(limit);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.cap.limit, shown);
  }
  const { rows } = await world.env.pool.query("select limit_nanos from ledger_caps");
  assert.deepEqual(rows, [{ limit_nanos: 0n }]);
});

test("caps are right where amounts are beyond what a double holds", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 9_000_000 }, { gpus: 2 });
  const user = await world.caller({ dollars: 100_000_000 });
  const cap = await setCap(world, user.secret, { scope: "account", period: "total", limit: 50_000_000 });
  const id = await rentAndRun(world, user, host);
  for (let hour = 0; hour < 8; hour += 1) {
    await pass(world, host, HOUR_MS);
    await settleNow(world);
    await host.obey();
  }
  const [now] = await listCaps(world, user.secret);
  assert.ok(now.spent + now.held <= cap.limit && now.spent > 45_000_000, JSON.stringify(now));
  assert.equal((await show(world, user, id)).intended_status, "stopped");
  const { rows } = await world.env.pool.query(
    "select spent_nanos + (select balance_nanos from ledger_accounts where user_id = $1 and kind = 'credit') as total from ledger_caps",
    [user.id],
  );
  assert.equal(rows[0].total, 100_000_000_000_000_000n, "to the nano-dollar");
  await world.assertBooks();
});

test("two callers who set, change and remove one cap at the same time leave one cap or none", async (t) => {
  const world = await testApp(t);
  const user = await world.caller();
  for (let round = 0; round < 3; round += 1) {
    const body = (limit: number) => ({ scope: "account", period: "month", limit });
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((limit) => putCap(world, user.secret, body(limit))));
    assert.ok(answers.every(({ status }) => status === 200));
    const caps = await listCaps(world, user.secret);
    assert.equal(caps.length, 1);
    assert.ok(answers.some(({ body: { cap } }) => cap.limit === caps[0].limit));
    const removals = await Promise.all([1, 2, 3].map(() => removeCap(world, user.secret, caps[0].id)));
    assert.deepEqual(
      removals.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 404, 404],
    );
    assert.deepEqual(await listCaps(world, user.secret), []);
  }
});

test("a cap set while many rent at once is exceeded by no later rental", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 6 }, { gpus: 8 });
  const user = await world.caller();
  const offers = [...(await world.offersOf(host))].filter(([size]) => size === 1);
  assert.equal(offers.length, 1);
  const cap = putCap(world, user.secret, { scope: "account", period: "day", limit: 2.5 });
  const rents = Array.from({ length: 6 }, async () => (await askFor(world, user, host)).status);
  const [{ status }] = await Promise.all([cap, ...rents]);
  assert.equal(status, 200);
  const [{ held }] = await listCaps(world, user.secret);
  assert.equal(BigInt(Math.round(held * 1e9)), (await creditOfUser(world, user)).held);
  const refused = held > 1.5 ? await askFor(world, user, host) : undefined;
  assert.ok(refused === undefined || refused.status !== 200, "what is held already leaves no room");
  await world.assertBooks();
});

test("at midnight holds stay, and the spent amount begins at zero", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
  const user = await world.caller();
  const untilMidnight = 24 * HOUR_MS - (world.clock.now().getTime() % (24 * HOUR_MS));
  const id = await rentAndRun(world, user, host);
  await pass(world, host, untilMidnight - 10_000);
  await settleNow(world);
  // A cap that pays for what runs, and hardly more.
  const spent = (await setCap(world, user.secret, { scope: "account", period: "day", limit: 900 })).spent;
  const { held } = (await listCaps(world, user.secret))[0];
  await setCap(world, user.secret, { scope: "account", period: "day", limit: spent + held });
  assert.equal((await askFor(world, user, host)).body.error, "cap_reached");
  await pass(world, host, 20_000);
  const [renewed] = await listCaps(world, user.secret);
  assert.deepEqual([renewed.spent, renewed.held], [0, held]);
  await settleNow(world);
  const [after] = await listCaps(world, user.secret);
  // A stretch across midnight is charged after it.
  assert.ok(after.spent > 0 && after.spent < 0.01, JSON.stringify(after));
  assert.ok(after.spent + after.held <= after.limit);
  assert.equal((await show(world, user, id)).intended_status, "running");
  // A cap that is removed and set again counts the same; holds are settled first and are as small as possible.
  await removeCap(world, user.secret, after.id);
  const remade = await setCap(world, user.secret, { scope: "account", period: "day", limit: 900 });
  assert.equal(remade.spent, after.spent);
  assert.ok(remade.held > 0 && remade.held <= after.held, JSON.stringify(remade));
  await world.assertBooks();
});

test("a cap lowered below its holds takes nothing back, and running instances are stopped and paid until then", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
  const user = await world.caller();
  const id = await rentAndRun(world, user, host);
  await settleNow(world);
  const cap = await setCap(world, user.secret, { scope: "instance", scope_id: id, period: "total", limit: 0.01 });
  assert.ok(cap.held > cap.limit && cap.left === 0, JSON.stringify(cap));
  assert.equal(cap.holds_from, world.clock.now().getTime() / 1000 + 600, "the instance has certainly stopped by then");
  assert.equal((await show(world, user, id)).intended_status, "running");
  await pass(world, host, 5 * 60_000);
  await settleNow(world);
  await host.obey();
  await settleNow(world);
  const [after] = await listCaps(world, user.secret);
  // Five minutes at a dollar an hour, all of them before the cap held.
  assert.ok(after.spent > 0.083 && after.spent < 0.084 && after.held === 0, JSON.stringify(after));
  assert.equal((await show(world, user, id)).intended_status, "stopped");
  assert.equal((await setState(world, user, id, "running")).body.error, "cap_reached");
  await world.assertBooks();
});

test("the cap of a key that was deleted still limits what it rented, and may be changed and removed", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
  const user = await world.caller();
  const key = await makeKey(world, user.secret);
  const body = (limit: number) => ({ scope: "key", scope_id: key.id, period: "total", limit });
  const cap = await setCap(world, user.secret, body(0.5));
  const id = await rentAndRun(world, { ...user, secret: key.secret }, host);
  const gone = await world.call({ method: "DELETE", url: `/api/v0/auth/apikeys/${key.id}/`, secret: user.secret });
  assert.equal(gone.status, 200, gone.text);
  for (let step = 0; step < 60; step += 1) {
    world.clock.jump(60_000);
    await host.obey();
    await world.runLoop("settle-runs");
  }
  const [reached] = await listCaps(world, user.secret);
  assert.ok(reached.spent > 0.3 && reached.spent <= 0.5, JSON.stringify(reached));
  assert.equal((await setState(world, user, id, "running")).body.error, "cap_reached");
  const raised = await setCap(world, user.secret, body(5));
  assert.deepEqual([raised.id, raised.spent], [cap.id, reached.spent]);
  const other = { ...body(5), period: "day" };
  assert.equal((await putCap(world, user.secret, other)).status, 200, "the key has a cap already");
  assert.equal((await putCap(world, (await world.caller()).secret, body(5))).status, 404);
  for (const { id: capId } of await listCaps(world, user.secret)) await removeCap(world, user.secret, capId);
  assert.equal((await putCap(world, user.secret, body(5))).body.error, "no_such_api_key");
  assert.equal((await setState(world, user, id, "running")).status, 200);
  await world.assertBooks();
});

test("a member without the right to write billing changes no cap of the team, and a capped member gets no key without a cap", async (t) => {
  const world = await testApp(t);
  const owner: TestCaller = await world.caller({ dollars: 1000 });
  const team = await aTeam(world, owner, { credit: 100 });
  const cap = await setCap(world, team.secret, { scope: "account", period: "day", limit: 50 });
  assert.equal(cap.scope_id, team.id);
  const reader = await aMemberWith(world, team, { api: { billing_read: {}, instance_write: {}, user_write: {} } });
  const person = await world.caller();
  const member = await join(world, team, person);
  for (const secret of [reader.secret, member]) {
    assert.equal((await putCap(world, secret, { scope: "account", period: "day", limit: 99 })).status, 403);
    assert.equal((await removeCap(world, secret, cap.id)).status, 403);
  }
  assert.equal((await listCaps(world, reader.secret)).length, 1);
  // The member's own account is a different one.
  const own = { scope: "account", scope_id: team.id, period: "day", limit: 99 };
  assert.equal((await putCap(world, person.secret, own)).body.error, "no_such_user");
  assert.equal((await removeCap(world, person.secret, cap.id)).status, 404);

  const { rows } = await world.env.pool.query("select id from api_keys where user_id = $1 and member_id = $2", [
    team.id,
    person.id,
  ]);
  await setCap(world, team.secret, { scope: "key", scope_id: rows[0].id, period: "day", limit: 1 });
  assert.equal((await makeKey(world, member)).status, 403);
  const around = await makeKey(world, person.secret, { team_id: team.id });
  assert.equal(around.status, 403, around.text);
  await world.call({ method: "DELETE", url: `/api/v0/auth/apikeys/${rows[0].id}/`, secret: member });
  assert.equal(
    (await makeKey(world, person.secret, { team_id: team.id })).status,
    403,
    "deleting the capped key does not help",
  );
  assert.equal((await makeKey(world, person.secret)).status, 200, "of their own account they may");
  assert.equal((await makeKey(world, reader.person.secret, { team_id: team.id })).status, 200);
});
