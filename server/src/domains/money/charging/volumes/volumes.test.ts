import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { creditOfUser, NO_CEILINGS, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { audit } from "../../audit/audit-service.ts";
import {
  createNetworkDisk,
  listNetworkDisk,
  mountNetworkDisk,
  rentNetworkVolume,
} from "../../../supply/volumes/network/service.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const GB = 1_000_000_000n;
const MONTH_MS = 30n * BigInt(DAY_MS);

/** A renter with a volume of 10 GB on a machine, and space on another machine. */
async function aWorld(t: TestContext, dollars = 100) {
  const world = await testApp(t, { ceilings: NO_CEILINGS });
  const [owner, user] = [await world.caller({ dollars: 0 }), await world.caller({ dollars })];
  const [here, there] = [await world.host({ owner }), await world.host({ owner })];
  const call = (method: "POST" | "PUT" | "DELETE", body: object, as = user, path = "") =>
    world.call({ method, url: `/api/v0/volumes/${path}`, secret: as.secret, body });
  const list = async (machine: number) => {
    const answer = await call("POST", { machine, size: 40, price_disk: 3 }, owner);
    assert.equal(answer.status, 200, answer.text);
    return Number(/\d+/.exec(String(answer.body.msg))?.[0]);
  };
  const offers = { here: await list(here.machineId), there: await list(there.machineId) };
  const rented = await call("PUT", { id: offers.here, size: 10 });
  assert.equal(rented.status, 200, rented.text);
  const volumeId = Number(rented.body.id);
  const settle = () => world.runLoop("settle-volumes");
  return { world, owner, user, here, there, offers, call, volumeId, settle };
}

async function linesOf({ env }: TestApp, volumeId: number) {
  const { rows } = await env.pool.query<Record<string, bigint> & { from_at: Date; to_at: Date }>(
    `select from_at, to_at, quantity, size_bytes, unit_price_nanos, amount_nanos, unpaid_nanos, state, transfer_id
     from charge_lines where volume_id = $1 order by id`,
    [volumeId],
  );
  return rows;
}

const priceOf = (line: { readonly [name: string]: unknown }, ms: bigint) =>
  ((line["unit_price_nanos"] as bigint) * ms * 10n * GB) / (MONTH_MS * GB);

test("a volume is charged for each day that its machine was in touch, and its host earns the amount", async (t) => {
  const { world, owner, user, here, volumeId, settle } = await aWorld(t);
  const before = await creditOfUser(world, user);
  assert.deepEqual(await settle(), { settled: 1, lines: 0 });
  world.clock.jump(36 * HOUR_MS);
  await here.obey();
  assert.deepEqual(await settle(), { settled: 1, lines: 2 });
  assert.deepEqual(await settle(), { settled: 0, lines: 0 }, "nothing is due twice");
  const lines = await linesOf(world, volumeId);
  assert.deepEqual(
    lines.map((line) => [line["state"], line["quantity"], line["amount_nanos"], line["unpaid_nanos"]]),
    [
      ["stored", BigInt(DAY_MS), priceOf(lines[0] ?? {}, BigInt(DAY_MS)), 0n],
      ["stored", BigInt(12 * HOUR_MS), priceOf(lines[1] ?? {}, BigInt(12 * HOUR_MS)), 0n],
    ],
    "divided at midnight",
  );
  const cost = lines.reduce((sum, line) => sum + (line["amount_nanos"] ?? 0n), 0n);
  assert.ok(cost > 0n);
  assert.equal((await creditOfUser(world, user)).balance, before.balance - cost);
  const { rows } = await world.env.pool.query(
    "select balance_nanos from ledger_accounts where user_id = $1 and kind = 'earnings'",
    [owner.id],
  );
  assert.deepEqual(rows, [{ balance_nanos: cost }]);
  await world.assertBooks();
});

test("time in which the machine was away, and time after the deletion, is not charged", async (t) => {
  const { world, here, call, volumeId, settle } = await aWorld(t);
  world.clock.jump(HOUR_MS);
  await here.obey();
  await here.disconnect();
  world.clock.jump(5 * HOUR_MS);
  await here.connect();
  await here.obey();
  world.clock.jump(2 * HOUR_MS);
  await here.obey();
  assert.equal((await call("DELETE", { id: volumeId })).status, 200);
  world.clock.jump(3 * HOUR_MS);
  await here.obey();
  await settle();
  assert.deepEqual(
    (await linesOf(world, volumeId)).map((line) => line["quantity"]),
    [BigInt(HOUR_MS), BigInt(2 * HOUR_MS)],
  );
  world.clock.jump(DAY_MS);
  assert.deepEqual(await settle(), { settled: 0, lines: 0 });
  await world.assertBooks();
});

test("a deleted volume is charged to its end within seconds of its host's next report", async (t) => {
  const { world, here, call, volumeId, settle } = await aWorld(t);
  world.clock.jump(HOUR_MS);
  await here.obey();
  world.clock.jump(3_000);
  assert.equal((await call("DELETE", { id: volumeId })).status, 200);
  await settle();
  const chargedMs = async () =>
    (await linesOf(world, volumeId)).reduce((sum, line) => sum + (line["quantity"] ?? 0n), 0n);
  assert.equal(await chargedMs(), BigInt(HOUR_MS), "so far it is known to have been there");
  world.clock.jump(2_000);
  await here.obey();
  world.clock.jump(15_000);
  await settle();
  assert.equal(await chargedMs(), BigInt(HOUR_MS + 3_000));
  world.clock.jump(DAY_MS);
  assert.deepEqual(await settle(), { settled: 0, lines: 0 });
  await world.assertBooks();
});

test("a clone is charged from its completion on", async (t) => {
  const { world, here, there, call, offers, volumeId } = await aWorld(t);
  await here.obey();
  const answer = await call("POST", { src_id: volumeId, dst_id: offers.there }, undefined, "copy/");
  assert.equal(answer.status, 200, answer.text);
  const id = Number(answer.body.id);
  const meteredFrom = async () => {
    const { rows } = await world.env.pool.query("select metered_from_at, settle_at from volumes where id = $1", [id]);
    return [rows[0]?.metered_from_at, rows[0]?.settle_at];
  };
  assert.deepEqual(await meteredFrom(), [null, null]);
  const [[sending], [receiving]] = [await here.tasks(1), await there.tasks(1)];
  world.clock.jump(60_000);
  await here.answer(sending?.task_id ?? "", "sent");
  await there.answer(receiving?.task_id ?? "", "received");
  assert.deepEqual(await meteredFrom(), [world.clock.now(), world.clock.now()]);
});

test("charges without credit are noted as unpaid, and the books stay sound", async (t) => {
  const { world, user, here, volumeId, settle } = await aWorld(t, 0.3);
  world.clock.jump(10 * DAY_MS);
  await here.obey();
  await settle();
  const lines = await linesOf(world, volumeId);
  const sum = (name: string) => lines.reduce((total, line) => total + (line[name] ?? 0n), 0n);
  assert.equal(sum("amount_nanos"), 300_000_000n, "all that there was");
  assert.ok(sum("unpaid_nanos") > 0n);
  assert.equal((await creditOfUser(world, user)).balance, 0n);
  await world.assertBooks();
});

async function assertSound({ env, clock }: TestApp): Promise<void> {
  const { checks } = await audit({ database: env.database, clock }, { isFull: true });
  assert.deepEqual(
    checks.flatMap(({ differences }) => differences),
    [],
  );
}

test("a volume that costs nothing is never due, and an audit finds nothing in that", async (t) => {
  const { world, owner, here, call, offers, settle } = await aWorld(t);
  assert.equal((await call("POST", { machine: here.machineId, size: 40, price_disk: 0 }, owner)).status, 200);
  const { id } = (await call("PUT", { id: offers.here, size: 10 })).body;
  world.clock.jump(HOUR_MS);
  await here.obey();
  // A volume with a price is settled when it falls due.
  await settle();
  await assertSound(world);
  assert.deepEqual(await world.runLoop("reconcile"), { found: 0, repaired: 0, told: 0, alarmed: 0 });
  const { rows } = await world.env.pool.query("select settle_at from volumes where id = $1", [id]);
  assert.deepEqual(rows, [{ settle_at: null }]);
});

test("a network volume is charged while one of the machines that mount it is in touch, and an audit agrees", async (t) => {
  const { world, owner, user, here, there } = await aWorld(t);
  const volumeId = await withTransaction(world.env.database, world.clock, async (tx) => {
    const { diskId } = await createNetworkDisk(tx, { user_id: owner.id, size: 100 });
    const machines = [here.machineId, there.machineId];
    await mountNetworkDisk(tx, owner.id, { machines, mount_point: "/mnt/nfs", disk_id: diskId });
    const { offerId } = await listNetworkDisk(tx, owner.id, { disk_id: diskId });
    return (await rentNetworkVolume(tx, { userId: user.id, capScopes: [] }, { id: offerId, size: 10 })).id;
  });
  const pass = async (hours: number, hosts: readonly { obey(): Promise<void> }[]) => {
    world.clock.jump(hours * HOUR_MS);
    for (const host of hosts) await host.obey();
  };
  await pass(1, [here, there]);
  await there.disconnect();
  await pass(2, [here]);
  await here.disconnect();
  await pass(3, []);
  await here.connect();
  await there.connect();
  await pass(4, [here, there]);
  await world.env.pool.query("update volumes set settle_at = $1", [world.clock.now()]);
  await world.runLoop("settle-volumes");
  const lines = await linesOf(world, volumeId);
  const sum = lines.reduce((total, line) => total + (line["quantity"] ?? 0n), 0n);
  assert.equal(sum, BigInt(7 * HOUR_MS));
  await assertSound(world);
});

test("a machine that mounts a network disk later proves nothing about earlier time", async (t) => {
  const { world, owner, user, here, there } = await aWorld(t);
  const mount = (machine: number, diskId: number) =>
    withTransaction(world.env.database, world.clock, (tx) =>
      mountNetworkDisk(tx, owner.id, { machines: [machine], mount_point: "/mnt/nfs", disk_id: diskId }),
    );
  const { diskId, volumeId } = await withTransaction(world.env.database, world.clock, async (tx) => {
    const made = await createNetworkDisk(tx, { user_id: owner.id, size: 100 });
    const machines = [here.machineId];
    await mountNetworkDisk(tx, owner.id, { machines, mount_point: "/mnt/nfs", disk_id: made.diskId });
    const { offerId } = await listNetworkDisk(tx, owner.id, { disk_id: made.diskId });
    const { id } = await rentNetworkVolume(tx, { userId: user.id, capScopes: [] }, { id: offerId, size: 10 });
    return { diskId: made.diskId, volumeId: id };
  });
  const pass = async (hours: number, hosts: readonly { obey(): Promise<void> }[]) => {
    world.clock.jump(hours * HOUR_MS);
    for (const host of hosts) await host.obey();
  };
  const settle = async () => {
    await world.env.pool.query("update volumes set settle_at = $1", [world.clock.now()]);
    await world.runLoop("settle-volumes");
  };
  await pass(1, [here, there]);
  await here.disconnect();
  await pass(5, [there]);
  await mount(there.machineId, diskId);
  await pass(2, [there]);
  // Another path is not another mount: the disk counts as mounted since the first one.
  await mount(there.machineId, diskId);
  await here.connect();
  await pass(1, [here, there]);
  await settle();
  const quantities = (await linesOf(world, volumeId)).map((line) => line["quantity"]);
  assert.deepEqual(quantities, [BigInt(HOUR_MS), BigInt(3 * HOUR_MS)]);
  await assertSound(world);
});

test("a volume that cannot be settled does not hold up others, and is tried again later", async (t) => {
  const { world, here, call, offers, volumeId, settle } = await aWorld(t);
  const others = [];
  for (let count = 0; count < 3; count += 1) {
    others.push(Number((await call("PUT", { id: offers.here, size: 1 })).body.id));
  }
  await settle();
  const from = world.clock.now().getTime();
  world.clock.jump(HOUR_MS);
  await here.obey();
  await world.env.pool.query("update volumes set settle_at = $1", [world.clock.now()]);
  // A plant in the books that only a settlement may write.
  await world.env.pool.query(
    `insert into ledger_transfers
       (key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
     values ($1, 1, 2, 1, 'usage_storage', '{}', 'wrong', now())`,
    [`volume:${volumeId}:${from}-${from + HOUR_MS}`],
  );
  await assert.rejects(async () => settle(), /1 volumes could not be settled/);
  assert.equal((await linesOf(world, volumeId)).length, 0);
  for (const id of others) assert.equal((await linesOf(world, id)).length, 1, `${id}`);
  const { rows } = await world.env.pool.query("select settle_at from volumes where id = $1", [volumeId]);
  assert.deepEqual(rows, [{ settle_at: new Date(world.clock.now().getTime() + 300_000) }]);
  assert.deepEqual(await settle(), { settled: 0, lines: 0 }, "until then nobody meets it again");
});

test("a volume that is deleted by a clock that is behind is charged up to its last settlement, and no more", async (t) => {
  const { world, here, call, volumeId, settle } = await aWorld(t);
  world.clock.jump(HOUR_MS);
  await here.obey();
  await world.env.pool.query("update volumes set settle_at = $1", [world.clock.now()]);
  await settle();
  world.clock.skewMs = -5_000;
  assert.equal((await call("DELETE", { id: volumeId })).status, 200);
  world.clock.skewMs = 0;
  await here.obey();
  world.clock.jump(HOUR_MS);
  await here.obey();
  await settle();
  assert.deepEqual(
    (await linesOf(world, volumeId)).map((line) => line["quantity"]),
    [BigInt(HOUR_MS)],
  );
  await assertSound(world);
});
