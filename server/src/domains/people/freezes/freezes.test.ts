import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { listedHost } from "../../../../../test/support/money/contracts.ts";
import { aCaller, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import type { TestAnswer } from "../../../../../test/support/network/http.ts";
import { askFor, destroy, history, rent, rentAndRun, setState, stored } from "../../../../../test/support/rentals.ts";
import { aTeam, ask, done, join } from "../../../../../test/support/teams.ts";
import { AppError } from "../../../base/errors.ts";
import { hasOpenPayoutHold } from "../../money/payments/index.ts";
import { startInstance } from "../../rental/instances/for-serverless.ts";

const REASON = "Reports of renters are looked into";

type Market = { readonly world: TestApp; readonly admin: TestCaller };

async function aMarket(t: TestContext): Promise<Market> {
  const world = await testApp(t);
  return { world, admin: await aCaller(world.env.database, { isAdmin: true }) };
}

async function freeze({ world, admin }: Market, { id }: Pick<TestCaller, "id">): Promise<TestAnswer["body"]> {
  const made = await done(world, admin.secret, "POST", "/admin/freezes/", { user: String(id), reason: REASON });
  // The answering process forgets at once; this waits for its stores, which follow the database's notifications.
  await world.settled();
  return made;
}

async function lift({ world, admin }: Market, id: number): Promise<TestAnswer["body"]> {
  const reason = "They were wrong.";
  return done(world, admin.secret, "PUT", `/admin/freezes/${id}/`, { reason });
}

function refused(answer: TestAnswer, what: string): void {
  assert.deepEqual([answer.status, answer.body.error], [403, "account_frozen"], `${what}: ${answer.text}`);
}

test("a frozen account starts nothing with any of its keys, and its instances are stopped with their data kept", async (t) => {
  const market = await aMarket(t);
  const { world, admin } = market;
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 3 });
  const [user, other] = [await world.caller(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const parked = await rentAndRun(world, user, host);
  assert.equal((await setState(world, user, parked, "stopped")).status, 200);
  const othersId = await rentAndRun(world, other, host);
  await host.obey();
  const { key: second } = await done(world, user.secret, "POST", "/auth/apikeys/", { name: "second" });
  const standing = await done(world, user.secret, "POST", "/standing_requests/", {
    q: { gpu_name: { eq: "none that there is" } },
    image: "busybox",
    max_dph: 5,
  });
  const endpoint = (await done(world, user.secret, "POST", "/endptjobs/", { endpoint_name: "mine" })).result;
  const { api_key: endpointKey } = (await done(world, user.secret, "GET", `/endptjobs/${endpoint}/`)).result;
  const complete = (secret: string) =>
    world.call({
      method: "POST",
      url: "/mine/v1/chat/completions",
      secret,
      body: { messages: [{ role: "user", content: "hi" }] },
    });

  const frozen = await freeze(market, user);
  assert.deepEqual([frozen.is_new, frozen.user_ids], [true, [user.id]]);
  for (const secret of [user.secret, second]) {
    const start = await ask(world, secret, "PUT", `/instances/${parked}/`, { state: "running" });
    refused(start, "start");
    assert.match(
      start.body.msg,
      /Reports of renters are looked into\. Ask the operator of this server about freeze \d+/,
    );
    refused(await ask(world, secret, "POST", "/auth/apikeys/", { name: "third" }), "another key");
    refused(
      await ask(world, secret, "PUT", "/commands/transfer_credit/", { recipient: other.id, amount: 1 }),
      "transfer",
    );
    refused(await ask(world, secret, "PUT", `/endptjobs/${endpoint}/`, { endpoint_state: "active" }), "endpoint");
  }
  refused(await askFor(world, user, host), "rent");

  await world.runLoop("enforce-freezes");
  await host.obey();
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, othersId)).phase], ["stopped", "running"]);
  assert.ok((await history(world, id)).some(([, , cause]) => cause === "account_frozen"));
  const waiting = await done(world, user.secret, "GET", `/standing_requests/${standing.id}/`);
  assert.equal(waiting.standing_request.status, "cancelled");
  assert.equal((await done(world, user.secret, "GET", `/endptjobs/${endpoint}/`)).result.endpoint_state, "stopped");
  await world.settled();
  for (const [secret, why] of [
    [user.secret, /account_frozen/],
    [endpointKey, /endpoint_stopped/],
  ] as const) {
    const asked = await complete(secret);
    assert.ok(asked.status >= 400 && why.test(asked.text), asked.text);
  }
  assert.deepEqual(
    await world.runLoop("enforce-freezes"),
    { accounts: 1, endpoints: 0, requests: 0, instances: 0, machines: 0, disks: 0 },
    "a second run finds nothing",
  );

  await t.test("its own account shows that it is frozen, and why", async () => {
    const { freeze: shown } = await done(world, user.secret, "GET", "/users/current/");
    assert.deepEqual(shown, { id: frozen.id, reason: REASON, holds_for: "account" });
    assert.equal((await done(world, other.secret, "GET", "/users/current/")).freeze, null);
  });

  await t.test("it may read and delete its objects", async () => {
    assert.equal((await ask(world, user.secret, "GET", "/instances/")).status, 200);
    assert.equal((await destroy(world, user, parked)).status, 200);
  });

  await t.test("loops that act for the account start nothing either", async () => {
    const started = inTransaction(world.env.database, (tx) =>
      startInstance(tx, { userId: user.id, instanceId: id, actor: "autoscaler" }),
    );
    await assert.rejects(started, (error) => error instanceof AppError && error.code === "account_frozen");
  });

  await t.test("the account and all administrators are told the reason, and the act is in the audit log", async () => {
    const colleague = await aCaller(world.env.database, { isAdmin: true });
    const told = async (who: TestCaller) =>
      (await done(world, who.secret, "GET", "/notices/")).notices.map(({ type }: { type: string }) => type);
    assert.ok((await told(user)).includes("client:account_frozen"));
    assert.ok((await told(admin)).includes("client:administrator_acted"));
    assert.deepEqual(await told(colleague), [], "who was none then is not told");
    const [event] = await done(world, admin.secret, "GET", "/audit_logs/");
    assert.equal(event.api_route, "api.admin.freeze_account");
  });

  await t.test("lifting restores its permissions, and starts nothing", async () => {
    assert.deepEqual((await lift(market, frozen.id)).user_ids, [user.id]);
    await world.runLoop("enforce-freezes");
    await host.obey();
    assert.equal((await stored(world, id)).phase, "stopped");
    assert.equal((await setState(world, user, id, "running")).status, 200);
    await host.obey();
    assert.equal((await stored(world, id)).phase, "running");
    const again = await ask(world, admin.secret, "PUT", `/admin/freezes/${frozen.id}/`, { reason: "again" });
    assert.deepEqual([again.status, again.body.error], [404, "no_such_freeze"]);
    assert.equal((await ask(world, admin.secret, "GET", "/admin/freezes/")).body.freezes.length, 0);
    const [all] = (await ask(world, admin.secret, "GET", "/admin/freezes/?all=true")).body.freezes;
    assert.deepEqual([all.user_id, all.lifted_by, all.lift_reason], [user.id, admin.id, "They were wrong."]);
  });
  await world.assertBooks();
});

test("a frozen host is off the market and is paid nothing, and rentals by others go on", async (t) => {
  const market = await aMarket(t);
  const { world } = market;
  const owner = await world.caller();
  const host = await world.host({ owner, gpus: 2 });
  const renter = await world.caller();
  const id = await rentAndRun(world, renter, host);
  const frozen = await freeze(market, owner);
  assert.equal(await hasOpenPayoutHold(world.env.database.kysely, owner.id), true);
  refused(
    await ask(world, owner.secret, "PUT", "/machines/create_asks/", { machine: host.machineId, price_gpu: 1 }),
    "list",
  );
  await world.runLoop("enforce-freezes");
  await world.settled();
  assert.equal((await world.offersOf(host)).size, 0);
  await host.obey();
  assert.equal((await stored(world, id)).phase, "running");
  const end = await setState(world, renter, id, "stopped");
  assert.equal(end.status, 200);
  await lift(market, frozen.id);
  assert.equal(await hasOpenPayoutHold(world.env.database.kysely, owner.id), false);
  await world.runLoop("enforce-freezes");
  assert.equal((await world.offersOf(host)).size, 0, "its machines come back when it lists them");
});

test("no credit of a frozen account goes to another: by no subaccount, parent, team or member", async (t) => {
  const market = await aMarket(t);
  const { world } = market;
  const parent = await world.caller();
  const sub = await aCaller(world.env.database, { parentId: parent.id });
  const friend = await world.caller();
  const send = (secret: string, body: object) => ask(world, secret, "PUT", "/commands/transfer_credit/", body);
  assert.equal((await send(parent.secret, { recipient: String(sub.id), amount: 10 })).status, 200);

  await t.test("a parent takes nothing out of a frozen subaccount", async () => {
    const { id } = await freeze(market, sub);
    refused(await send(parent.secret, { sender: String(sub.id), recipient: "me", amount: 5 }), "by the parent");
    await lift(market, id);
  });

  await t.test("a subaccount is frozen and freed with its parent, unless it has a freeze of its own", async () => {
    const own = await freeze(market, sub);
    const { id, user_ids: both } = await freeze(market, parent);
    assert.deepEqual(both, [parent.id]);
    await lift(market, own.id);
    refused(await send(sub.secret, { recipient: friend.id, amount: 1 }), "with the parent's freeze");
    assert.deepEqual(new Set((await lift(market, id)).user_ids), new Set([parent.id, sub.id]));
    assert.equal((await send(sub.secret, { recipient: String(friend.id), amount: 1 })).status, 200);
  });

  await t.test("a subaccount of a subaccount is frozen and freed with the account at the top", async () => {
    const grandchild = await aCaller(world.env.database, { parentId: sub.id });
    const create = () => ask(world, grandchild.secret, "POST", "/auth/apikeys/", { name: "another" });
    const { id, user_ids: all } = await freeze(market, parent);
    assert.deepEqual(new Set(all), new Set([parent.id, sub.id, grandchild.id]));
    refused(await create(), "with the freeze of the account at the top");
    const own = await freeze(market, sub);
    assert.deepEqual(new Set((await lift(market, id)).user_ids), new Set([parent.id]));
    refused(await create(), "with the freeze of the account between");
    assert.deepEqual(new Set((await lift(market, own.id)).user_ids), new Set([sub.id, grandchild.id]));
    assert.equal((await create()).status, 200);
  });

  await t.test("a frozen team is not deleted, which would give its credit to its owner", async () => {
    const team = await aTeam(world, friend, { credit: 20 });
    const { id } = await freeze(market, team);
    refused(await ask(world, team.secret, "DELETE", "/team/"), "deletion");
    await lift(market, id);
    assert.equal((await ask(world, team.secret, "DELETE", "/team/")).status, 200);
  });

  await t.test("a frozen person only reads in the teams of others", async () => {
    const team = await aTeam(world, friend, { credit: 20 });
    const person = await world.caller();
    const secret = await join(world, team, person, "manager");
    await freeze(market, person);
    assert.equal((await ask(world, secret, "GET", "/instances/")).status, 200);
    refused(await ask(world, secret, "POST", "/team/roles/", { name: "spy", permissions: {} }), "a role");
    refused(await ask(world, secret, "DELETE", "/instances/9999/"), "a deletion of what is the team's");
    assert.equal((await ask(world, team.secret, "GET", "/team/members/")).status, 200);
    const { freeze: shown } = await done(world, secret, "GET", "/users/current/");
    assert.deepEqual([shown.reason, shown.holds_for], [REASON, "member"]);
  });

  await t.test("a team is frozen with the last of its members, and not before", async () => {
    const [owner, person] = [await world.caller(), await world.caller()];
    const [alone, shared] = [await aTeam(world, owner, { credit: 20 }), await aTeam(world, owner, { credit: 20 })];
    const secret = await join(world, shared, person, "manager");
    const act = (key: string) => ask(world, key, "POST", "/auth/apikeys/", { name: "another" });
    const first = await freeze(market, owner);
    assert.deepEqual([first.user_ids, first.team_ids], [[owner.id, alone.id], [shared.id]]);
    refused(await act(shared.secret), "the owner in the shared team");
    assert.equal((await act(secret)).status, 200, "the other member did nothing");
    assert.equal(await hasOpenPayoutHold(world.env.database.kysely, alone.id), true);
    const second = await freeze(market, person);
    assert.deepEqual(second.user_ids, [person.id, shared.id]);
    const { freeze: shown } = await done(world, secret, "GET", "/users/current/");
    assert.deepEqual([shown.id, shown.holds_for], [first.id, "account"]);
    assert.deepEqual(new Set((await lift(market, first.id)).user_ids), new Set([owner.id, alone.id, shared.id]));
    assert.equal((await act(shared.secret)).status, 200);
    refused(await act(secret), "the person who is frozen still");
  });

  await t.test("a team is frozen when its last unfrozen member leaves it", async () => {
    const [owner, one, other] = [await world.caller(), await world.caller(), await world.caller()];
    const team = await aTeam(world, owner, { credit: 20 });
    const secrets = [await join(world, team, one, "manager"), await join(world, team, other, "manager")];
    const { id } = await freeze(market, owner);
    const leave = (who: TestCaller, secret = "") => done(world, secret, "DELETE", `/team/members/${who.id}/`);
    const isFrozen = async () =>
      (await world.env.pool.query("select freeze_id from users where id = $1", [team.id])).rows[0].freeze_id;
    await leave(one, secrets[0]);
    assert.equal(await isFrozen(), null, "another one is left");
    await leave(other, secrets[1]);
    assert.equal(await isFrozen(), id);
    assert.equal(await hasOpenPayoutHold(world.env.database.kysely, team.id), true);
    assert.deepEqual(new Set((await lift(market, id)).user_ids), new Set([owner.id, team.id]));
    assert.equal(await hasOpenPayoutHold(world.env.database.kysely, team.id), false);
    assert.equal((await ask(world, team.secret, "POST", "/auth/apikeys/", { name: "again" })).status, 200);
  });
  await world.assertBooks();
});

test("two administrators who freeze and lift at once make one freeze and lift it once", async (t) => {
  const market = await aMarket(t);
  const { world, admin } = market;
  const user = await world.caller();
  const body = { user: String(user.id), reason: REASON };
  const made = await Promise.all(
    Array.from({ length: 4 }, () => done(world, admin.secret, "POST", "/admin/freezes/", body)),
  );
  assert.equal(made.filter(({ is_new: isNew }) => isNew === true).length, 1);
  assert.equal(new Set(made.map(({ id }) => id)).size, 1);
  const lifted = await Promise.all(
    Array.from({ length: 4 }, () =>
      ask(world, admin.secret, "PUT", `/admin/freezes/${made[0].id}/`, { reason: "over" }),
    ),
  );
  assert.equal(lifted.filter(({ status }) => status === 200).length, 1);
  assert.equal(lifted.filter(({ status }) => status === 404).length, 3);
  const { rows } = await world.env.pool.query("select count(*)::integer as n from notices where user_id = $1", [
    user.id,
  ]);
  // Frozen, payouts held, payouts released, unfrozen: each once.
  assert.equal(rows[0].n, 4);
  const own = await ask(world, admin.secret, "POST", "/admin/freezes/", { user: String(admin.id), reason: "a slip" });
  assert.deepEqual([own.status, own.body.error], [403, "not_allowed"], "administrators are not frozen");
});

test("a rental that was under way when its account was frozen is refused, or stopped like all others", async (t) => {
  const market = await aMarket(t);
  const { world } = market;
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 4 });
  const user = await world.caller();
  const rents = Array.from({ length: 3 }, () => askFor(world, user, host));
  const [, ...answers] = await Promise.all([freeze(market, user), ...rents]);
  for (const answer of answers) assert.ok([200, 403, 410].includes(answer.status), answer.text);
  await world.runLoop("enforce-freezes");
  await host.obey();
  const { rows } = await world.env.pool.query("select id from instances where user_id = $1 and desired = 'running'", [
    user.id,
  ]);
  assert.deepEqual(rows, []);
  const third = await world.caller();
  assert.ok((await rent(world, third, host)) > 0, "others rent on");
});
