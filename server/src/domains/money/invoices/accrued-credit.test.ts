import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { creditOfUser, giveCredit, NO_CEILINGS, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { listedHost, prepay } from "../../../../../test/support/money/contracts.ts";
import { aCaller, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { rentAndRun } from "../../../../../test/support/rentals.ts";
import { ask } from "../../../../../test/support/teams.ts";

const DOLLAR = 1_000_000_000n;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * An account with a volume at a dollar an hour (720 GB-months) that has no hold since its last settlement, and with
 * twenty dollars that came afterwards.
 */
async function anUnheldVolume(t: TestContext) {
  const world = await testApp(t, { ceilings: NO_CEILINGS });
  const [owner, user, friend] = [
    await world.caller({ dollars: 0 }),
    await world.caller({ dollars: 6.5 }),
    await world.caller({ dollars: 0 }),
  ];
  const host = await world.host({ owner });
  const volumes = (method: "POST" | "PUT" | "DELETE", as: TestCaller, body: object) =>
    ask(world, as.secret, method, "/volumes/", body);
  const listed = await volumes("POST", owner, { machine: host.machineId, size: 40, price_disk: 72 });
  assert.equal(listed.status, 200, listed.text);
  const rented = await volumes("PUT", user, { id: Number(/\d+/.exec(String(listed.body.msg))?.[0]), size: 10 });
  assert.equal(rented.status, 200, rented.text);
  const volumeId = Number(rented.body.id);
  const pass = async (ms: number) => {
    world.clock.jump(ms);
    await host.obey();
  };
  // Six hours at a dollar each leave half a dollar, too little for the hold of another hour.
  await world.runLoop("settle-volumes");
  await pass(6 * HOUR_MS);
  await world.runLoop("settle-volumes");
  assert.equal(await heldFor(world, volumeId), null);
  assert.equal((await creditOfUser(world, user)).balance, DOLLAR / 2n);
  await giveCredit(world, user, 20);
  const give = (amount: number) =>
    ask(world, user.secret, "PUT", "/commands/transfer_credit/", { recipient: String(friend.id), amount });
  return { world, owner, user, friend, host, volumeId, volumes, pass, give };
}

async function heldFor({ env }: TestApp, volumeId: number): Promise<bigint | null> {
  const { rows } = await env.pool.query("select hold_id from volumes where id = $1", [volumeId]);
  return rows[0].hold_id;
}

/** The unpaid part of all charges for storage. */
async function unpaid({ env }: TestApp): Promise<bigint> {
  const { rows } = await env.pool.query("select coalesce(sum(unpaid_nanos), 0)::bigint as unpaid from charge_lines");
  return rows[0].unpaid;
}

function refused(answer: Awaited<ReturnType<typeof ask>>, available: number): void {
  assert.deepEqual(
    [answer.status, answer.body.error, answer.body["available"]],
    [400, "insufficient_balance", available],
    answer.text,
  );
}

test("the accrual of a volume without a hold cannot be transferred away", async (t) => {
  const { world, pass, give } = await anUnheldVolume(t);
  await pass(45 * MINUTE_MS);
  refused(await give(19.8), 19.75);
  assert.equal((await give(19.75)).status, 200);
  await pass(HOUR_MS / 4);
  await world.runLoop("settle-volumes");
  assert.equal(await unpaid(world), DOLLAR / 4n, "only what came after the transfer");
  await world.assertBooks();
});

test("a deleted volume is paid before credit leaves, settled or not", async (t) => {
  const { world, user, host, volumeId, volumes, pass, give } = await anUnheldVolume(t);
  await pass(45 * MINUTE_MS);
  assert.equal((await volumes("DELETE", user, { id: volumeId })).status, 200);
  refused(await give(19.8), 19.75);
  await host.obey();
  refused(await give(19.8), 19.75);
  assert.equal((await give(19.75)).status, 200);
  await pass(15_000);
  await world.runLoop("settle-volumes");
  assert.equal(await unpaid(world), 0n);
  assert.equal((await creditOfUser(world, user)).balance, 0n);
  await world.assertBooks();
});

test("the hold of one thing does not cover the accrual of another", async (t) => {
  const { world, user, pass, give } = await anUnheldVolume(t);
  const host = await listedHost(world, { dollarsPerHour: 10 });
  await rentAndRun(world, user, host);
  await pass(45 * MINUTE_MS);
  const { available, held } = await creditOfUser(world, user);
  const [accrued, free] = [(3n * DOLLAR) / 4n, Number(available) / 1e9];
  assert.ok(held > accrued, `${held}`);
  const most = free - 0.75;
  refused(await give(Math.ceil((most + 0.01) * 100) / 100), most);
  assert.equal((await give(Math.floor(most * 100) / 100)).status, 200);
});

test("accrued credit cannot be prepaid for another rental", async (t) => {
  const { world, user, pass } = await anUnheldVolume(t);
  const host = await listedHost(world, { dollarsPerHour: 0.01 });
  const id = await rentAndRun(world, user, host);
  await pass(45 * MINUTE_MS);
  const free = Number((await creditOfUser(world, user)).available) / 1e9;
  const answer = await prepay(world, user, id, Math.floor((free - 0.7) * 100) / 100);
  assert.deepEqual([answer.status, answer.body.error], [400, "insufficient_credit"], answer.text);
  const paid = await prepay(world, user, id, Math.floor((free - 0.8) * 100) / 100);
  assert.equal(paid.status, 200, paid.text);
  await world.assertBooks();
});

test("accrued credit is not refunded to a card", async (t) => {
  const { world, user, pass } = await anUnheldVolume(t);
  const { rows } = await world.env.pool.query(
    `insert into payments (user_id, kind, state, amount_cents, intent_id, created_at, settled_at)
     values ($1, 'checkout', 'paid', 2000, 'pi_volume', $2, $2) returning id`,
    [user.id, world.clock.now()],
  );
  await pass(45 * MINUTE_MS);
  const admin = await aCaller(world.env.database, { isAdmin: true });
  const refund = (amount: number) =>
    ask(world, admin.secret, "POST", `/admin/payments/${rows[0].id}/refund/`, { amount });
  const answer = await refund(19.8);
  assert.deepEqual([answer.status, answer.body.error], [400, "insufficient_balance"], answer.text);
  assert.equal((await refund(19.75)).status, 200);
});

test("the current part of the invoice report includes accruals since the last settlement", async (t) => {
  const { world, user, pass } = await anUnheldVolume(t);
  const current = async () => (await ask(world, user.secret, "GET", "/users/me/invoices/")).body.current;
  assert.deepEqual(await current(), { charges: 6, service_fee: 0, total: 6, credit: 20.5 });
  await pass(15 * MINUTE_MS);
  assert.deepEqual(await current(), { charges: 6.25, service_fee: 0, total: 6.25, credit: 20.5 });
});
