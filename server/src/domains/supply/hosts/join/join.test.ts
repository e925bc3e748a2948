import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, soon } from "../../../../../../test/support/app.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { aJoinedHost, aJoiner, askToJoin, join, joinToken } from "../../../../../../test/support/hosts/joins.ts";
import { rentAndRun, show } from "../../../../../../test/support/rentals.ts";

const HOUR_MS = 3_600_000;

test("a machine joins with a token of its owner, and is on the market as the owner's", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller(), await world.caller()];
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner);
  await host.connect();
  await world.settled();
  const { rows } = await world.env.pool.query("select host_id, verification, is_listed from machines where id = $1", [
    host.machineId,
  ]);
  assert.deepEqual(rows, [{ host_id: owner.id, verification: "unverified", is_listed: true }]);
  await rentAndRun(world, renter, host);
});

test("a machine that joins with an administrator's token is the operator's own and counts as verified", async (t) => {
  const world = await testApp(t);
  const admin = await aCaller(world.env.database, { isAdmin: true });
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, admin, joiner), joiner);
  await host.connect();
  const { rows } = await world.env.pool.query("select verification from machines where id = $1", [host.machineId]);
  assert.deepEqual(rows, [{ verification: "verified" }]);
});

test("a token lets one machine join: not a second one, not later, and not after it was deleted", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const refused = async (token: string, pattern: RegExp) => {
    const answer = await askToJoin(world, token, aJoiner());
    assert.deepEqual([answer.status, answer.body.error, answer.body.field], [400, "invalid_join_token", "token"]);
    assert.match(answer.body.msg, pattern);
  };
  const used = await joinToken(world, owner);
  const answers = await Promise.all(Array.from({ length: 5 }, () => askToJoin(world, used, aJoiner())));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400, 400, 400, 400],
  );
  await refused(used, /used already/);
  await refused("berth_join_never", /unknown/);
  const short = await joinToken(world, owner, { expires_in_s: 60 });
  world.clock.jump(61_000);
  await refused(short, /expired/);
  const deleted = await joinToken(world, owner);
  const { body } = await world.call({ url: "/api/v0/hosts/tokens/", secret: owner.secret });
  const [newest] = body.tokens;
  assert.deepEqual([newest.used_at, newest.credential_id], [null, null]);
  const url = `/api/v0/hosts/tokens/${newest.id}/`;
  assert.equal((await world.call({ method: "DELETE", url, secret: owner.secret })).status, 200);
  assert.equal((await world.call({ method: "DELETE", url, secret: owner.secret })).body.error, "no_such_join_token");
  await refused(deleted, /unknown/);
});

test("a join whose answer was lost gets the same answer for a while, on the same machine only", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const [token, joiner] = [await joinToken(world, owner), aJoiner()];
  const answers = await Promise.all([1, 2, 3].map(() => askToJoin(world, token, joiner)));
  assert.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    answers.map(() => [200, answers[0]?.text]),
  );
  for (const other of [
    aJoiner({ ...joiner, nonce: "another-nonce-than-the-first" }),
    aJoiner({ ...joiner, fingerprint: "b" }),
  ]) {
    assert.equal((await askToJoin(world, token, other)).status, 400);
  }
  world.clock.jump(HOUR_MS);
  assert.equal((await askToJoin(world, token, joiner)).status, 400);
  const { rows } = await world.env.pool.query(
    "select count(*)::integer as n from agent_credentials where user_id = $1",
    [owner.id],
  );
  assert.deepEqual(rows, [{ n: 1 }]);
});

test("no token and no credential is stored in clear", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const [token, joiner] = [await joinToken(world, owner), aJoiner()];
  const { credential } = (await askToJoin(world, token, joiner)).body;
  for (const table of ["join_tokens", "agent_credentials", "audit_events", "idempotency_keys"]) {
    const { rows } = await world.env.pool.query(`select t::text as line from ${table} t`);
    const text = JSON.stringify(rows);
    assert.ok(!text.includes(token) && !text.includes(credential), table);
    assert.ok(!text.includes(Buffer.from(token).toString("hex")), table);
  }
});

test("each mistake in a request to join is refused with the field's name", async (t) => {
  const world = await testApp(t);
  const token = await joinToken(world, await world.caller());
  const wrong: readonly (readonly [string, unknown])[] = [
    ["token", ""],
    ["token", 7],
    ["host_key", "two words"],
    ["host_key", "x".repeat(101)],
    ["fingerprint", ""],
    ["fingerprint", "line\nbreak"],
    ["nonce", "short"],
    ["name", "x".repeat(256)],
  ];
  for (const [field, value] of wrong) {
    const body = { token, ...aJoiner(), [field]: value };
    const answer = await world.call({ method: "POST", url: "/api/v0/agent/join/", body });
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  for (const expires_in_s of [0, 59, 1.5, 2_592_001, "soon"]) {
    const body = { expires_in_s };
    const caller = await world.caller();
    const answer = await world.call({ method: "POST", url: "/api/v0/hosts/tokens/", secret: caller.secret, body });
    assert.deepEqual([answer.status, answer.body.field], [400, "expires_in_s"], answer.text);
  }
});

test("a machine that lost its state joins again and keeps its place and its rentals; the old credential is dead", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller(), await world.caller()];
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner);
  await host.connect();
  await world.settled();
  const id = await rentAndRun(world, renter, host);
  const again = aJoiner({ ...joiner, nonce: "the-nonce-of-the-second-join" });
  const whileConnected = await askToJoin(world, await joinToken(world, owner), again);
  assert.deepEqual([whileConnected.status, whileConnected.body.error], [409, "already_joined"]);
  await host.disconnect();
  const back = aJoinedHost(world, await join(world, owner, again), again);
  await back.connect({ gpus: [...host.gpus] });
  assert.equal(back.machineId, host.machineId);
  assert.equal(back.order(id)?.run, "running");
  await back.obey();
  assert.equal((await show(world, renter, id)).actual_status, "running");
  await assert.rejects(host.connect(), /revoked/);
  const stranger = await world.caller();
  await back.disconnect();
  const stolen = aJoinedHost(world, await join(world, stranger, again), again);
  await assert.rejects(stolen.connect({ gpus: [...host.gpus] }), /device_taken/);
  await back.connect({ gpus: [...host.gpus] });
});

test("a revoked credential ends its connection at once, stays invalid, and the machine may join again", async (t) => {
  const world = await testApp(t);
  const [owner, other] = [await world.caller(), await world.caller()];
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner);
  await host.connect();
  const list = async () =>
    (await world.call({ url: "/api/v0/hosts/credentials/", secret: owner.secret })).body.credentials;
  const [mine] = await list();
  assert.deepEqual(
    [mine.is_own_agent, mine.revoked_at, mine.machines[0].id, mine.machines[0].is_connected],
    [false, null, host.machineId, true],
  );
  const revoke = (secret: string) =>
    world.call({ method: "DELETE", url: `/api/v0/hosts/credentials/${mine.id}/`, secret });
  assert.equal((await revoke(other.secret)).body.error, "no_such_credential");
  assert.equal((await revoke(owner.secret)).status, 200);
  assert.equal(await host.closed(), 4400);
  assert.deepEqual(host.received.at(-1)?.kind === "refuse" && host.received.at(-1), {
    kind: "refuse",
    code: "revoked",
    message: "This agent's credential was revoked. Its machine may join again with a new token.",
  });
  await soon("the leave", async () => !(await list())[0].machines[0].is_connected);
  await assert.rejects(host.connect(), /revoked/);
  assert.equal((await revoke(owner.secret)).status, 200, "asking twice is no mistake");
  const again = aJoiner({ ...joiner, nonce: "the-nonce-of-the-second-join" });
  const back = aJoinedHost(world, await join(world, owner, again), again);
  await back.connect({ gpus: [...host.gpus] });
  assert.equal(back.machineId, host.machineId);
});

test("other hardware takes the place of a machine only after its credential was revoked", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, owner, joiner), joiner);
  await host.connect();
  await host.disconnect();
  const replaced = aJoiner({ host_key: joiner.host_key });
  const early = aJoinedHost(world, await join(world, owner, replaced), replaced);
  await assert.rejects(early.connect({ gpus: [...host.gpus] }), /device_taken/);
  const { body } = await world.call({ url: "/api/v0/hosts/credentials/", secret: owner.secret });
  const [old] = body.credentials;
  assert.equal(old.machines[0].host_key, joiner.host_key);
  const url = `/api/v0/hosts/credentials/${old.id}/`;
  assert.equal((await world.call({ method: "DELETE", url, secret: owner.secret })).status, 200);
  const again = aJoiner({ ...replaced, nonce: "the-nonce-of-the-second-join" });
  const late = aJoinedHost(world, await join(world, owner, again), again);
  await late.connect({ gpus: [...host.gpus] });
  assert.equal(late.machineId, host.machineId);
});

test("a credential that was revoked while no notification could arrive is found when they do again", async (t) => {
  const world = await testApp(t);
  const joiner = aJoiner();
  const host = aJoinedHost(world, await join(world, await world.caller(), joiner), joiner);
  await host.connect();
  await world.env.pool.query("update agent_credentials set revoked_at = now() where host_key = $1", [joiner.host_key]);
  await world.app.gateway.revokeMissed();
  assert.equal(await host.closed(), 4400);
});

test("the server's own agent has not joined and cannot be revoked", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const { rows } = await world.env.pool.query("select host_id, agent_credential_id as id from machines where id = $1", [
    host.machineId,
  ]);
  const owner = await aCaller(world.env.database);
  await world.env.pool.query("update agent_credentials set user_id = $1 where id = $2", [owner.id, rows[0].id]);
  const url = `/api/v0/hosts/credentials/${rows[0].id}/`;
  const answer = await world.call({ method: "DELETE", url, secret: owner.secret });
  assert.deepEqual([answer.status, answer.body.error], [409, "own_agent"]);
});

test("a credential of a real machine brings in no second one as a simulated one", async (t) => {
  const world = await testApp(t);
  const joiner = aJoiner();
  const credential = await join(world, await world.caller(), joiner);
  const real = aJoinedHost(world, credential, joiner);
  const docker = { engine: { kind: "docker", version: "29" } } as const;
  await real.connect(docker);
  const second = aJoinedHost(world, credential, joiner, { hostKey: `${joiner.host_key}-1` });
  await assert.rejects(second.connect(), /other_machine_kind/);
  await assert.rejects(second.connect(docker), /credential_cloned/);
  const { rows } = await world.env.pool.query("select count(*)::integer as count from machines");
  assert.deepEqual(rows, [{ count: 1 }]);
  await real.disconnect();
  await assert.rejects(real.connect(), /other_machine_kind/, "nor does it turn into one");
});

test("simulated machines of one credential stay simulated, even if they call themselves real", async (t) => {
  const world = await testApp(t);
  const joiner = aJoiner();
  const credential = await join(world, await world.caller(), joiner);
  const hosts = [1, 2].map((number) =>
    aJoinedHost(world, credential, joiner, {
      hostKey: `${joiner.host_key}-${number}`,
      facts: { is_simulated: false },
    }),
  );
  for (const host of hosts) await host.connect();
  const { rows } = await world.env.pool.query("select facts ->> 'is_simulated' as simulated from machines");
  assert.deepEqual(rows, [{ simulated: "true" }, { simulated: "true" }]);
  const real = aJoinedHost(world, credential, joiner);
  await assert.rejects(real.connect({ engine: { kind: "docker", version: "29" } }), /other_machine_kind/);
});

test("an account has a limited number of machines, joined or simulated, and a deleted one makes room", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const joiner = aJoiner();
  const credential = await join(world, owner, joiner);
  const machine = (number: number) =>
    aJoinedHost(world, credential, joiner, { hostKey: `${joiner.host_key}-${number}`, gpus: 1 });
  const first = machine(1);
  await first.connect();
  // One machine less than the limit: copies of the first one's row, under other names.
  const { rows: columns } = await world.env.pool.query<{ name: string }>(
    `select quote_ident(column_name) as name from information_schema.columns
     where table_schema = 'public' and table_name = 'machines' and column_name not in ('id', 'host_key', 'is_connected')`,
  );
  const names = columns.map(({ name }) => name).join();
  await world.env.pool.query(
    `insert into machines (host_key, is_connected, ${names})
     select 'filler ' || n, false, ${names} from machines, generate_series(1, 4998) as n where id = $1`,
    [first.machineId],
  );
  await machine(2).connect();
  await assert.rejects(machine(3).connect(), /too_many_machines/);
  await first.disconnect();
  await first.connect();
  await world.env.pool.query("update machines set deleted_at = now(), is_listed = false where host_key = 'filler 7'");
  await machine(3).connect();

  await world.env.pool.query(
    `insert into agent_credentials (user_id, name, token_sha256, created_at, fingerprint, host_key)
     select $1, 'filler', decode(md5(n::text), 'hex'), now(), 'f' || n, 'h' || n from generate_series(1, 4998) as n`,
    [owner.id],
  );
  await join(world, owner, aJoiner());
  const refused = await askToJoin(world, await joinToken(world, owner), aJoiner());
  assert.deepEqual([refused.status, refused.body.error, refused.body.field], [400, "too_many", "token"]);
});
