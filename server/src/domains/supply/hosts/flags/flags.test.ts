import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aGpu } from "../../../../../../test/support/hosts/fake-gpu.ts";
import { aCaller, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { aJoinedHost, aJoiner, join } from "../../../../../../test/support/hosts/joins.ts";

async function flagsOf(world: TestApp, by: TestCaller, path = "/api/v0/hosts/flags/") {
  const answer = await world.call({ url: path, secret: by.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.flags;
}

test("an agent that declares impossible facts is refused with a sentence, stores nothing, and flags its host", async (t) => {
  const world = await testApp(t);
  const [owner, stranger, admin] = [
    await world.caller(),
    await world.caller(),
    await aCaller(world.env.database, { isAdmin: true }),
  ];
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner, { gpus: 1 });
  for (const machine of [{ inet_up_mbps: 1_000_000 }, { inet_up_mbps: 2_000_000 }]) {
    await host.open();
    host.sendText(JSON.stringify(host.hello({ machine: { ...host.hello().machine, ...machine } })));
    assert.equal(await host.closed(), 4400);
    const [refusal] = host.received;
    assert.ok(refusal?.kind === "refuse");
    assert.equal(refusal.code, "senseless_facts");
    assert.match(refusal.message, /machine\.inet_up_mbps is \d000000; it may be 400000 Mbit\/s at most\. Correct what/);
  }
  assert.equal((await world.env.pool.query("select from machines where host_id = $1", [owner.id])).rowCount, 0);
  const flags = await flagsOf(world, owner);
  assert.deepEqual(
    flags.map(({ kind, seen_count, machine_id }: Record<string, unknown>) => [kind, seen_count, machine_id]),
    [["senseless_facts", 2, null]],
  );
  assert.deepEqual(await flagsOf(world, stranger), [], "a flag is its host's affair and the administrators'");
  assert.deepEqual(await flagsOf(world, admin, "/api/v0/admin/flags/?open=true"), flags);
});

test("a known machine whose GPUs suddenly contradict their names keeps its old facts, and is flagged", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner, { gpus: 1 });
  await host.connect();
  await host.disconnect();
  await assert.rejects(host.connect({ gpus: [aGpu(0, { memory_mb: 900_000 })] }), /refused: senseless_facts/);
  const [flag] = await flagsOf(world, owner);
  assert.deepEqual([flag.machine_id, flag.facts.field], [host.machineId, "gpus[0].memory_mb"]);
  await host.connect();
});

test("a flag stays open until an administrator clears it with a reason, and a repetition opens another", async (t) => {
  const world = await testApp(t);
  const [owner, admin] = [await world.caller(), await aCaller(world.env.database, { isAdmin: true })];
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner, { gpus: 1 });
  const lie = () => host.connect({ gpus: [aGpu(0, { tflops: 4_000 })] });
  await assert.rejects(lie);
  const [{ id }] = await flagsOf(world, owner);
  const clear = (secret: string, body: unknown) =>
    world.call({ method: "PUT", url: `/api/v0/admin/flags/${id}/clear/`, secret, body });
  assert.equal((await clear(owner.secret, { reason: "it was not me" })).status, 403);
  assert.equal((await clear(admin.secret, {})).status, 400);
  const cleared = await clear(admin.secret, { reason: "a new kind of card" });
  assert.deepEqual(
    [cleared.status, cleared.body.flag.cleared_by, cleared.body.flag.clear_reason],
    [200, admin.id, "a new kind of card"],
  );
  const again = await clear(admin.secret, { reason: "once more" });
  assert.deepEqual([again.status, again.body.error], [404, "no_such_flag"]);
  await assert.rejects(lie);
  const flags = await flagsOf(world, owner);
  assert.deepEqual(
    flags.map((flag: { cleared_at: number | null }) => flag.cleared_at === null),
    [true, false],
  );
  const { rows } = await world.env.pool.query("select subject from notices where user_id = $1 order by id", [owner.id]);
  assert.deepEqual(
    rows.map(({ subject }) => subject),
    ["Your account is flagged: senseless facts", `Flag ${id} is cleared`, "Your account is flagged: senseless facts"],
  );
});
