import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aGpu } from "../../../../../../test/support/hosts/fake-gpu.ts";
import { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { aUser, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { FACTS } from "../../../../../../test/support/hosts/machines.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { AppError } from "../../../../base/errors.ts";
import { createLog } from "../../../../base/log.ts";
import { admitAll } from "./admission.ts";
import type { Arrival } from "../join/registration-store.ts";
import { HEARTBEAT_MS, heartbeatMs, issueAgentToken, LEASE_MS, leaseEnd, touchEveryMs } from "../service.ts";
import { proofMaker } from "./rules/session-proof.ts";

const MANY = 40;

async function aToken({ env }: TestApp): Promise<string> {
  return inTransaction(env.database, async (tx) => {
    const owner = await aUser(tx);
    return issueAgentToken(tx, { userId: owner.id, name: "hosts", isTrusted: true });
  });
}

function crowd({ origin, clock, env }: TestApp, token: string): readonly FakeHost[] {
  return Array.from({ length: MANY }, (_, number) => {
    const hostKey = `host-${number}`;
    const facts = { is_simulated: false };
    return new FakeHost({ origin, token, clock, database: env.database, hostKey, facts, gpus: number % 3 });
  });
}

async function market({ env }: TestApp) {
  const { rows } = await env.pool.query(`
    select host_key, is_connected, session_number, (
      select count(*)::integer from devices where machine_id = machines.id and is_present
    ) as devices, (
      select array_agg(device_count order by device_count) from offers
      where machine_id = machines.id and retired_at is null
    ) as offers
    from machines order by machines.id`);
  return rows;
}

test("many machines that knock at once are all let in with their devices and offers, and again after they left", async (t) => {
  const world = await testApp(t);
  const hosts = crowd(world, await aToken(world));
  await Promise.all(hosts.map((host) => host.connect()));
  const first = await market(world);
  assert.equal(first.length, MANY);
  for (const row of first) {
    const gpus = Number(row.host_key.slice("host-".length)) % 3;
    assert.deepEqual([row.is_connected, row.session_number, row.devices], [true, 0, gpus === 0 ? 16 : gpus]);
    assert.deepEqual([row.offers.at(0), row.offers.at(-1)], [1, gpus === 0 ? 16 : gpus]);
  }
  await Promise.all(hosts.map((host) => host.disconnect()));
  await Promise.all(hosts.map((host) => host.connect()));
  assert.deepEqual(
    await market(world),
    first.map((row) => ({ ...row, session_number: 1 })),
  );
  assert.deepEqual(world.complaints, []);
  await Promise.all(hosts.map((host) => host.disconnect()));
});

test("a machine that is refused keeps no other machine out", async (t) => {
  const world = await testApp(t);
  const hosts = crowd(world, await aToken(world));
  const [thief, liar, , , victim] = hosts;
  assert.ok(victim && thief && liar);
  await victim.connect();
  const refused = await Promise.allSettled([
    thief.connect({ gpus: victim.hello().gpus }),
    liar.connect({ gpus: [aGpu(0, { uuid: "cpu-1-1" })] }),
    ...hosts.slice(5).map((host) => host.connect()),
  ]);
  assert.deepEqual(
    refused.map(({ status }) => status),
    ["rejected", "rejected", ...hosts.slice(5).map(() => "fulfilled")],
  );
  assert.equal((await market(world)).length, MANY - 4);
  await Promise.all(hosts.slice(4).map((host) => host.disconnect()));
});

test("a batch answers each arrival in its place, with repeated and revoked ones in it", async (t) => {
  const { database } = await testDatabase(t);
  const parts = {
    ...{ proofs: proofMaker(randomBytes(32), randomBytes), log: createLog("silent"), leaseMs: LEASE_MS },
    serverId: undefined,
  };
  const [good, revoked] = await inTransaction(database, async (tx) => {
    const owner = await aUser(tx);
    const add = async (name: string, revokedAt: Date | null) => {
      const values = { user_id: owner.id, name, is_trusted: false, created_at: tx.now, revoked_at: revokedAt };
      const row = await tx.db
        .insertInto("agent_credentials")
        .values({ ...values, token_sha256: randomBytes(32) })
        .returning("id")
        .executeTakeFirstOrThrow();
      return { id: row.id, userId: owner.id, isTrusted: false };
    };
    return [await add("good", null), await add("revoked", tx.now)];
  });
  const arrival = (credential: Arrival["credential"], hostKey: string): Arrival => ({
    credential,
    hello: {
      kind: "hello",
      protocol_version: 2,
      agent_version: "test",
      host_key: hostKey,
      boot_id: "boot",
      fingerprint: "fingerprint",
      session_proof: "",
      engine: { kind: "simulated", version: "1" },
      machine: FACTS,
      gpus: [aGpu(0, { uuid: `gpu of ${hostKey}` })],
    },
  });
  const arrivals = [arrival(good, "a"), arrival(revoked, "b"), arrival(good, "c"), arrival(good, "a")];
  const answers = await inTransaction(database, (tx) => admitAll(tx, arrivals, parts));
  const said = answers.map((answer) => (answer instanceof AppError ? answer.code : answer.sessionNumber));
  assert.deepEqual(said, [0, "revoked", 0, 1]);
  const ids = answers.flatMap((answer) => (answer instanceof AppError ? [] : answer.machineId));
  assert.equal(ids[0], ids[2]);
  assert.notEqual(ids[0], ids[1]);
});

const SEEN = "select last_seen_at, lease_until_at from machines where id = $1";

test("heartbeats without news are acknowledged, and stored only when the stored one would no longer cover them", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const seen = async () => (await world.env.pool.query(SEEN, [host.machineId])).rows[0];
  await host.report([]);
  const first = await seen();
  world.clock.advance(HEARTBEAT_MS);
  await host.report([]);
  assert.deepEqual(await seen(), first);
  // An agent whose heartbeat was acknowledged may run for a heartbeat lease from then on.
  assert.ok(first.lease_until_at.getTime() > world.clock.now().getTime() + LEASE_MS);
  for (let passedMs = 0; passedMs < touchEveryMs(LEASE_MS); passedMs += HEARTBEAT_MS) {
    world.clock.advance(HEARTBEAT_MS);
    await host.report([]);
  }
  const second = await seen();
  assert.ok(second.last_seen_at > first.last_seen_at);
  assert.deepEqual(second.lease_until_at, leaseEnd(second.last_seen_at, LEASE_MS));
  assert.ok(second.lease_until_at.getTime() > world.clock.now().getTime() + LEASE_MS);
});

test("a machine that leaves was seen when it was heard last, not when that was stored", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  await host.report([]);
  world.clock.advance(HEARTBEAT_MS);
  await host.report([]);
  const heard = world.clock.now();
  world.clock.advance(1_000);
  await host.disconnect();
  const { rows } = await world.env.pool.query(SEEN, [host.machineId]);
  assert.deepEqual(rows[0].last_seen_at, heard);
});

test("a stored heartbeat lease ends after every acknowledgement that it covers, for leases of any length", () => {
  fc.assert(
    fc.property(fc.integer({ min: 20_000, max: 86_400_000 }), fc.nat({ max: 100_000 }), (leaseMs, count) => {
      const every = heartbeatMs(count, leaseMs);
      // A few heartbeats may get lost before a heartbeat lease ends.
      assert.ok(every >= HEARTBEAT_MS && (every === HEARTBEAT_MS || every <= leaseMs / 4));
      const stored = new Date(0);
      assert.ok(leaseEnd(stored, leaseMs).getTime() >= touchEveryMs(leaseMs) + leaseMs);
    }),
  );
});

test("with many machines each is asked for fewer reports, so that the load of a server stays about the same", () => {
  const perSecond = (count: number) => (count * 1000) / heartbeatMs(count, LEASE_MS);
  assert.equal(heartbeatMs(1, LEASE_MS), HEARTBEAT_MS);
  assert.equal(heartbeatMs(2_500, LEASE_MS), HEARTBEAT_MS);
  for (const count of [2_501, 5_000, 9_999, 10_000, 50_000]) assert.ok(perSecond(count) <= 500, String(count));
});
