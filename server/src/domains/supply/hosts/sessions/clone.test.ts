// A credential that was created by joining is valid for one machine and one copy of its agent.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { soon, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { aJoinedHost, aJoiner, join } from "../../../../../../test/support/hosts/joins.ts";
import { rentAndRun, show } from "../../../../../../test/support/rentals.ts";

/** A joined host that is connected, and how to copy it: everything in its state folder, on this or another machine. */
async function joinedWorld(t: TestContext) {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller(), await world.caller()];
  const joiner = aJoiner();
  const credential = await join(world, owner, joiner);
  const host = aJoinedHost(world, credential, joiner);
  await host.connect();
  await host.report([]);
  await world.settled();
  const copyOf = (original: FakeHost, fingerprint = joiner.fingerprint) => {
    const copy = aJoinedHost(world, credential, { ...joiner, fingerprint });
    copy.proof = original.proof;
    return { copy, connect: () => copy.connect({ gpus: [...host.gpus] }) };
  };
  return { world, owner, renter, host, copyOf, credential, joiner };
}

async function cloneDetectedAt({ env }: TestApp, { machineId }: FakeHost): Promise<Date | null> {
  const { rows } = await env.pool.query("select clone_noticed_at as at from machines where id = $1", [machineId]);
  return rows[0].at;
}

test("a copy that comes while the original is connected is refused and noted, and the original is served on", async (t) => {
  const { world, owner, renter, host, copyOf } = await joinedWorld(t);
  const id = await rentAndRun(world, renter, host);
  const { copy, connect } = copyOf(host);
  for (let count = 0; count < 3; count += 1) await assert.rejects(connect(), /credential_cloned/);
  assert.equal(await copy.closed(), 4400);
  assert.equal(host.closeCode, undefined);
  await host.obey();
  assert.equal((await show(world, renter, id)).actual_status, "running");
  const { body } = await world.call({ url: "/api/v0/hosts/credentials/", secret: owner.secret });
  assert.equal(body.credentials[0].machines[0].clone_noticed_at, world.clock.now().getTime() / 1000);
  const told = world.complaints.filter((line) => line.includes("a copy of a machine's credential was refused"));
  assert.equal(told.length, 1, "a copy that keeps trying fills no log");
});

test("a copy on another machine is refused with every proof, and whether or not the original is connected", async (t) => {
  const { world, host, copyOf } = await joinedWorld(t);
  const { connect } = copyOf(host, "another-machine");
  await assert.rejects(connect(), /credential_cloned/);
  await host.disconnect();
  await assert.rejects(connect(), /credential_cloned/);
  assert.notEqual(await cloneDetectedAt(world, host), null);
  await host.connect();
});

test("a copy that took the place of the original under another name is refused", async (t) => {
  const { world, host, credential, joiner } = await joinedWorld(t);
  for (const host_key of ["another-name", `${joiner.host_key}-x`, `${joiner.host_key}-1`]) {
    const other = aJoinedHost(world, credential, { ...joiner, host_key });
    const engine = { kind: "docker" as const, version: "1" };
    await assert.rejects(other.connect({ engine }), /credential_cloned/, host_key);
  }
  await host.report([]);
});

test("when an original and its copy were both stopped, the one that connects first is the machine", async (t) => {
  const { host, copyOf } = await joinedWorld(t);
  const { copy, connect } = copyOf(host);
  await host.disconnect();
  await connect();
  await copy.report([]);
  await copy.disconnect();
  await assert.rejects(host.connect(), /credential_cloned/);
  await connect();
});

test("an agent that lost a welcome, or died before it stored it, is let in again", async (t) => {
  const { host } = await joinedWorld(t);
  const stored = host.proof;
  for (let count = 0; count < 3; count += 1) {
    await host.disconnect();
    host.proof = stored;
    await host.connect();
    assert.notEqual(host.proof, stored);
  }
  const unconfirmed = host.proof;
  await host.disconnect();
  await host.connect();
  assert.notEqual(host.proof, unconfirmed);
  await host.report([]);
  await host.disconnect();
  host.proof = stored;
  await assert.rejects(host.connect(), /credential_cloned/, "once a later one is confirmed, the old one is a copy's");
});

test("an agent that cannot store its new proof keeps the one that it has", async (t) => {
  const { host } = await joinedWorld(t);
  const stored = host.proof;
  for (let count = 0; count < 3; count += 1) {
    await host.disconnect();
    host.proof = stored;
    await host.connect();
    await host.report([], { isProofLost: true });
  }
});

test("an agent whose old connection is dead replaces it; a connection that does not answer is no original", async (t) => {
  const world = await testApp(t);
  const joiner = aJoiner();
  const credential = await join(world, await world.caller(), joiner);
  const host = aJoinedHost(world, credential, joiner, { answersPings: false });
  await host.connect();
  await host.report([]);
  const next = aJoinedHost(world, credential, joiner);
  next.proof = host.proof;
  const connected = next.connect({ gpus: [...host.gpus] });
  await host.pinged();
  // Longer than an answer may take, and shorter than the silence that ends a connection anyway.
  world.clock.advance(4_000);
  await connected;
  assert.equal(await host.closed(), 4000);
});

test("an agent that is ahead of a restored database is let in", async (t) => {
  const { world, host } = await joinedWorld(t);
  const { rows } = await world.env.pool.query("select * from machines where id = $1", [host.machineId]);
  for (let count = 0; count < 3; count += 1) {
    await host.disconnect();
    await host.connect();
    await host.report([]);
  }
  await host.disconnect();
  const { proof_sha256: proof, session_number: number } = rows[0];
  await world.env.pool.query(
    "update machines set proof_sha256 = $2, previous_proof_sha256 = null, session_number = $3 where id = $1",
    [host.machineId, proof, number],
  );
  await host.connect();
  await host.report([]);
  await host.disconnect();
  await host.connect();
});

test("two copies that come at the same moment are never both let in", async (t) => {
  const { world, host, copyOf } = await joinedWorld(t);
  await host.disconnect();
  const copies = [copyOf(host), copyOf(host), copyOf(host)];
  await Promise.allSettled(copies.map(({ connect }) => connect()));
  await soon("one connection", () => copies.filter(({ copy }) => copy.closeCode === undefined).length === 1);
  assert.equal(world.app.gateway.connectedCount, 1);
});
