// Every change of an instance locks the ledger last, as a settlement does; otherwise the two could deadlock.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import type { TestAnswer } from "../../../../../../test/support/network/http.ts";
import { meet } from "../../../../../../test/support/database/lock-order.ts";
import { askFor, changeBid, rentAndRun, setState, stored } from "../../../../../../test/support/rentals.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { lockMachines } from "../../../supply/hosts/index.ts";
import { listLocalSpace } from "../../../supply/volumes/local/service.ts";

async function aWorld(t: TestContext, gpus: number) {
  const world = await testApp(t);
  return { world, host: await world.host({ gpus }), user: await world.caller() };
}

async function aVolume(world: TestApp, user: TestCaller, host: FakeHost): Promise<number> {
  const { rows } = await world.env.pool.query("select host_id from machines where id = $1", [host.machineId]);
  const owner = asId<UserId>(Number(rows[0].host_id));
  const space = { machine: host.machineId, size: 100 };
  const [listed] = await inTransaction(world.env.database, (tx) => listLocalSpace(tx, owner, space));
  const id = listed?.offerId;
  const call = { method: "PUT", url: "/api/v0/volumes/", secret: user.secret } as const;
  const answer = await world.call({ ...call, body: { id, size: 10 } });
  assert.equal(answer.status, 200, answer.text);
  return Number(answer.body.id);
}

const mounting = (volumeId: number) => ({
  volume_info: { create_new: false, volume_id: volumeId, mount_path: "/data" },
});

/** An instance that has certainly stopped, without a hold. */
async function stopped(world: TestApp, user: TestCaller, host: FakeHost, options: object = {}): Promise<number> {
  const id = await rentAndRun(world, user, host, { ...options });
  assert.equal((await setState(world, user, id, "stopped")).status, 200);
  await host.obey();
  await world.runLoop("settle-runs");
  const { phase, hold } = await stored(world, id);
  assert.deepEqual([phase, hold], ["stopped", null]);
  return id;
}

test("a start takes nothing of the ledger before the volumes that it mounts", async (t) => {
  const { world, host, user } = await aWorld(t, 1);
  const volumeId = await aVolume(world, user, host);
  const id = await stopped(world, user, host, mounting(volumeId));
  const answer = await meet(world, { table: "volumes", id: volumeId, user }, () =>
    setState(world, user, id, "running"),
  );
  assert.equal(answer.status, 200, answer.text);
  await world.assertBooks();
});

test("a start takes nothing of the ledger before the instances that have to leave for it", async (t) => {
  const { world, host, user } = await aWorld(t, 1);
  const id = await stopped(world, user, host);
  const bidId = await rentAndRun(world, user, host, { price: 0.2 });
  const answer = await meet(world, { table: "instances", id: bidId, user }, () => setState(world, user, id, "running"));
  assert.equal(answer.status, 200, answer.text);
  await world.assertBooks();
});

function startAll(world: TestApp, user: TestCaller, ids: readonly number[]): Promise<TestAnswer> {
  return world.call({
    method: "PUT",
    url: "/api/v0/instances/",
    secret: user.secret,
    body: { ids, state: "running" },
  });
}

test("instances started at once get no hold before the volumes of all are locked", async (t) => {
  const { world, host, user } = await aWorld(t, 2);
  const volumeId = await aVolume(world, user, host);
  const ids = [await stopped(world, user, host), await stopped(world, user, host, mounting(volumeId))];
  const answer = await meet(world, { table: "volumes", id: volumeId, user }, () => startAll(world, user, ids));
  assert.equal(answer.status, 200, answer.text);
  await world.assertBooks();
});

test("instances started at once get no hold before the instances that have to leave are locked", async (t) => {
  const { world, host, user } = await aWorld(t, 1);
  const other = await world.host({ gpus: 1 });
  const ids = [await stopped(world, user, host), await stopped(world, user, other)];
  const bidId = await rentAndRun(world, user, other, { price: 0.2 });
  const answer = await meet(world, { table: "instances", id: bidId, user }, () => startAll(world, user, ids));
  assert.equal(answer.status, 200, answer.text);
  await world.assertBooks();
});

test("a rental takes nothing of the ledger before the volumes that it mounts", async (t) => {
  const { world, host, user } = await aWorld(t, 1);
  const volumeId = await aVolume(world, user, host);
  const answer = await meet(world, { table: "volumes", id: volumeId, user }, () =>
    askFor(world, user, host, mounting(volumeId)),
  );
  assert.equal(answer.status, 200, answer.text);
  await world.assertBooks();
});

test("a rental takes nothing of the ledger before the instances that have to leave for it", async (t) => {
  const { world, host, user } = await aWorld(t, 1);
  const bidId = await rentAndRun(world, user, host, { price: 0.2 });
  const answer = await meet(world, { table: "instances", id: bidId, user }, () => askFor(world, user, host));
  assert.equal(answer.status, 200, answer.text);
  await world.assertBooks();
});

test("another bid takes nothing of the ledger before the instances that have to leave for it", async (t) => {
  const { world, host, user } = await aWorld(t, 1);
  const low = await rentAndRun(world, user, host, { price: 0.2 });
  const waiting = (await askFor(world, user, host, { price: 0.16 })).body.new_contract;
  const answer = await meet(world, { table: "instances", id: low, user }, () => changeBid(world, user, waiting, 0.25));
  assert.equal(answer.status, 200, answer.text);
  await world.assertBooks();
});

test("transfers between two who use something lock both accounts by id, in either direction", async (t) => {
  const { world, host, user: earlier } = await aWorld(t, 2);
  const later = await world.caller();
  for (const user of [earlier, later]) await rentAndRun(world, user, host);
  const { rows } = await world.env.pool.query<{ id: number; user_id: number }>(
    "select id, user_id from ledger_accounts where user_id = any($1) and kind = 'credit' order by id",
    [[earlier.id, later.id]],
  );
  assert.deepEqual(
    rows.map((row) => row.user_id),
    [earlier.id, later.id],
  );
  const first = { table: "ledger_accounts", id: Number(rows[0]?.id), user: later } as const;
  for (const [payer, payee] of [
    [later, earlier],
    [earlier, later],
  ] as const) {
    const answer = await meet(world, first, () =>
      world.call({
        method: "PUT",
        url: "/api/v0/commands/transfer_credit/",
        secret: payer.secret,
        body: { recipient: payee.email, amount: 1 },
      }),
    );
    assert.equal(answer.status, 200, answer.text);
  }
  await world.assertBooks();
});

test("foreign keys to a machine can be checked while it is locked, as a settlement does last", async (t) => {
  const { world, host } = await aWorld(t, 1);
  await inTransaction(world.env.database, async (tx) => {
    await lockMachines(tx, [host.machineId]);
    await world.env.pool.query("select from machines where id = $1 for key share nowait", [host.machineId]);
  });
});
