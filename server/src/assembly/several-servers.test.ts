// Two servers over one database, in one process: each serves the other's machines without disturbing them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import type { Task } from "../../../protocol/index.ts";
import { createClient } from "../../../sdk/src/client.ts";
import { instanceCreate, instanceShow } from "../../../sdk/src/operations.ts";
import { soon, testApp, type TestApp } from "../../../test/support/app.ts";
import type { TestCaller } from "../../../test/support/fixtures.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { askLogs, fetchResult, resultPath } from "../../../test/support/hosts/host-tasks.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { destroy, rent, setState, show, stored } from "../../../test/support/rentals.ts";

const SNAPSHOT = { personal_repo: "me/app", container_registry: "r.example:5000", pause: "false" };

async function ask(world: TestApp, { secret }: TestCaller, url: string, body: object, method: "PUT" | "POST" = "PUT") {
  const answer = await world.call({ method, url, secret, body });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

/** Two servers with one secret, as their operators start them. */
async function twoServers(t: TestContext) {
  // The database outlives the servers: hooks run in the order in which they were added.
  const env = await testDatabase();
  const shared = { env, clock: new ManualClock(), secret: randomBytes(32) };
  const one = await testApp(t, { ...shared, dataDirKey: "one" });
  const start = (dataDirKey: string) => testApp(t, { ...shared, dataDirKey });
  return { one, two: await start("two"), start, ...shared };
}

const isConnected = async ({ env }: TestApp, machineId: number) =>
  (await env.pool.query("select is_connected from machines where id = $1", [machineId])).rows[0]?.is_connected === true;

const isRentable = async (world: TestApp, machineId: number) => {
  await world.settled();
  const body = { machine_id: { eq: machineId } };
  const { offers } = (await world.call({ method: "POST", url: "/api/v0/bundles/", body })).body;
  return offers.some(({ rentable }: { readonly rentable: boolean }) => rentable);
};

test("the start of a second server takes no machine off the first one's market, and each serves the other one's", async (t) => {
  const { one, start } = await twoServers(t);
  const host = await one.host();
  const three = await start("three");
  assert.ok(await isConnected(one, host.machineId));
  for (const server of [one, three]) assert.ok(await isRentable(server, host.machineId));
  const user = await three.caller();
  const id = await rent(three, user, host);
  await host.obey();
  for (const server of [one, three]) assert.equal((await show(server, user, id)).actual_status, "running");
  await setState(three, user, id, "stopped");
  await host.obey();
  assert.equal((await stored(one, id)).phase, "stopped");
  await destroy(three, user, id);
  await host.obey();
  assert.equal((await stored(one, id)).phase, "ended");
});

test("machines of a server that died are off the market within seconds, and those of the others stay", async (t) => {
  const { one, two } = await twoServers(t);
  const [lost, kept] = [await two.host(), await one.host()];
  await one.reap();
  assert.deepEqual([await isConnected(one, lost.machineId), await isConnected(one, kept.machineId)], [false, true]);
  assert.deepEqual([await isRentable(one, lost.machineId), await isRentable(one, kept.machineId)], [false, true]);
});

test("a server that was taken for dead takes its machines back, and what ran meanwhile is billed", async (t) => {
  const { one, two, clock, env } = await twoServers(t);
  const host = await two.host();
  const user = await one.caller();
  const id = await rent(one, user, host);
  await host.obey();
  clock.jump(10_000);
  await host.obey();
  await one.reap();
  assert.equal(await isConnected(one, host.machineId), false);
  // Its process stood still, and goes on.
  await two.runLoop("say-alive");
  assert.equal(await isConnected(one, host.machineId), true);
  clock.jump(60_000);
  await host.obey();
  const { rows } = await env.pool.query("select until_at from machine_spans where machine_id = $1", [host.machineId]);
  assert.deepEqual(rows, [{ until_at: null }], "it was there all the time");
  const runningMs = async () =>
    Number(
      (await env.pool.query("select sum(running_ms) as ms from instance_runs where instance_id = $1", [id])).rows[0]
        ?.ms,
    );
  assert.equal(await runningMs(), 84_000);
});

test("a server that takes its machines back leaves those that go while it waits for their locks", async (t) => {
  const { one, two, env } = await twoServers(t);
  const [stays, leaves, moves] = [await two.host(), await two.host(), await two.host()];
  await one.reap();
  const holder = await env.pool.connect();
  t.after(() => holder.release(true));
  await holder.query("begin");
  await holder.query("select from machines where id = $1 for update", [stays.machineId]);
  const aliveAgain = two.runLoop("say-alive");
  // It looked at the connections that are open on it, and locks their machines in the order of their ids.
  await soon("the loop at the lock", async () => {
    const { rowCount } = await env.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount === 1;
  });
  const version = async () =>
    (await env.pool.query("select xmin from machines where id = $1", [leaves.machineId])).rows[0]?.xmin;
  const before = await version();
  leaves.terminate();
  await soon("the note of the leave", async () => (await version()) !== before);
  await moves.connectTo(one.origin);
  await holder.query("commit");
  await aliveAgain;
  const { rows } = await env.pool.query(
    "select machines.id, is_connected, data_dir_key from machines left join servers on servers.id = server_id order by id",
  );
  assert.deepEqual(rows, [
    { id: stays.machineId, is_connected: true, data_dir_key: "two" },
    { id: leaves.machineId, is_connected: false, data_dir_key: null },
    { id: moves.machineId, is_connected: true, data_dir_key: "one" },
  ]);
});

test("a machine that counts as away although its agent reports is taken for what it is with the next report", async (t) => {
  const { one, env } = await twoServers(t);
  const host = await one.host();
  const user = await one.caller();
  await rent(one, user, host);
  await host.obey();
  await env.pool.query("update machines set is_connected = false, server_id = null");
  await host.obey();
  assert.ok(await isConnected(one, host.machineId));
  assert.ok(await isRentable(one, host.machineId));
});

test("logs, commands and snapshots asked of one server reach a host of another one, and outlive the server that asked it", async (t) => {
  const { one, two } = await twoServers(t);
  const user = await one.caller();
  const host = await two.host();
  const id = await rent(one, user, host);
  await host.obey();
  const asked = [
    await askLogs(one, user, id),
    await ask(one, user, `/api/v0/instances/command/${id}/`, { command: "ls -l" }),
  ];
  await ask(one, user, `/api/v0/instances/take_snapshot/${id}/`, SNAPSHOT, "POST");
  const kinds = (tasks: readonly Task[]) => tasks.map(({ action }) => action.type).toSorted();
  assert.deepEqual(kinds(await host.tasks(3)), ["execute", "logs", "snapshot"]);
  // Its server dies with all three unanswered.
  await two.close();
  await host.connectTo(one.origin);
  const again = await host.tasks(3);
  assert.deepEqual(kinds(again), ["execute", "logs", "snapshot"]);
  for (const { task_id: taskId, action } of again) await host.answer(taskId, `done: ${action.type}`);
  for (const [index, type] of ["logs", "execute"].entries()) {
    const answer = asked[index];
    assert.ok(answer);
    assert.deepEqual(await fetchResult(one, resultPath(answer)), { status: 200, text: `done: ${type}` });
  }
});

test("background work of a server that died is done by another one from the next minute on", async (t) => {
  const { one, two, clock, env } = await twoServers(t);
  const host = await two.host();
  const user = await two.caller();
  await rent(two, user, host);
  await host.obey();
  await one.runLoop("reconcile");
  assert.deepEqual(await two.runLoop("reconcile"), { found: 0, repaired: 0, told: 0, alarmed: 0 });
  await env.pool.query(
    `with hold as (
       insert into ledger_holds (account_id, amount_nanos, cause, created_at)
       select account_id, 7, '{}', '2020-01-01' from ledger_holds where state = 'pending' limit 1 returning account_id
     ) update ledger_accounts set held_nanos = held_nanos + 7 where id = (select account_id from hold)`,
  );
  await one.runLoop("reconcile");
  await one.close();
  clock.jump(60_000);
  await host.obey();
  assert.deepEqual(await two.runLoop("reconcile"), { found: 1, repaired: 1, told: 0, alarmed: 0 });
});

test("a machine that comes to another server leaves the first one, whose late words change nothing", async (t) => {
  const { one, two } = await twoServers(t);
  const host = await one.host();
  const user = await one.caller();
  const id = await rent(one, user, host);
  await host.obey();
  await host.connectTo(two.origin);
  await soon("the end of the first connection", () => one.app.gateway.connectedCount === 0);
  await one.settled();
  assert.ok(await isConnected(one, host.machineId));
  await destroy(one, user, id);
  await host.obey();
  assert.equal((await stored(two, id)).phase, "ended");
});

test("a client that knows two servers rents once, although the first one dies before it answers, and goes on at the other", async (t) => {
  const { one, two, env } = await twoServers(t);
  const host = await two.host();
  const user = await one.caller();
  const offerId = (await two.offersOf(host)).get(1);
  const client = createClient({
    baseUrl: [one, two].map(({ origin }) => `http://${origin}`),
    apiKey: user.secret,
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      if (!String(input).includes(one.origin)) return answer;
      assert.equal(answer.status, 200);
      await one.close();
      throw new TypeError("fetch failed");
    },
  });
  const rented = await instanceCreate(client, { id: Number(offerId), body: { image: "busybox", disk: 10 } });
  assert.ok("new_contract" in rented);
  const { rows } = await env.pool.query("select id, user_id from instances");
  assert.deepEqual(rows, [{ id: rented.new_contract, user_id: user.id }]);
  await host.obey();
  const { instances } = await instanceShow(client, { id: rented.new_contract });
  assert.equal(instances?.actual_status, "running");
});
