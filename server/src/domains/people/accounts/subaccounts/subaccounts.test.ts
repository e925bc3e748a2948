import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { aTeam } from "../../../../../../test/support/teams.ts";
import { until } from "../../../../../../test/support/until.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { isWellFormed } from "../keys/rules/keys.ts";

let count = 0;

async function aSubaccount(world: TestApp, parent: Pick<TestCaller, "secret">, more: object = {}) {
  count += 1;
  const body = { email: `sub${count}@example.com`, username: `sub${count}`, password: "correct horse", ...more };
  const made = await world.call({
    method: "POST",
    url: "/api/v0/users/",
    secret: parent.secret,
    body: { ...body, parent_id: "me" },
  });
  assert.equal(made.status, 200, made.text);
  return { id: made.body.id as number, email: body.email, secret: made.body.api_key as string, body: made.body };
}

const regenerate = (world: TestApp, by: { readonly secret: string }, body: unknown) =>
  world.call({ method: "PUT", url: "/api/v0/subaccounts/regenerate_keys/", secret: by.secret, body });
const own = (world: TestApp, secret: string) => world.call({ url: "/api/v0/users/current/", secret });
const list = async (world: TestApp, by: TestCaller) =>
  (await world.call({ url: "/api/v0/subaccounts?owner=me", secret: by.secret })).body.users;

test("a list of subaccounts has the whole record of each, as the subaccount sees it, and no key that works", async (t) => {
  const world = await testApp(t);
  const parent = await world.caller({ dollars: 100 });
  const sub = await aSubaccount(world, parent);
  const transfer = { method: "PUT", url: "/api/v0/commands/transfer_credit/", secret: parent.secret } as const;
  assert.equal((await world.call({ ...transfer, body: { recipient: sub.email, amount: 12.345 } })).status, 200);
  const profile = { fullname: "Ada", billaddress_city: "Stockholm", balance_threshold: 5 };
  const changed = await world.call({ method: "PUT", url: "/api/v0/users/", secret: sub.secret, body: profile });
  assert.equal(changed.status, 200, changed.text);
  const [row] = await list(world, parent);
  const { created_at: created, freeze, is_admin: isAdmin, view, ...seen } = (await own(world, sub.secret)).body;
  const { api_key: shown, created_at: at, deleted_at: deleted, ...rest } = row;
  assert.deepEqual(rest, seen);
  assert.deepEqual([Date.parse(at) / 1000, deleted, freeze, isAdmin, view], [created, null, null, false, null]);
  assert.deepEqual([rest.balance, rest.credit, rest.fullname, rest.email], [12.345, 12.34, "Ada", sub.email]);
  assert.equal(shown, `${sub.secret.slice(0, 12)}...`);
  assert.equal((await own(world, shown)).status, 401);
});

test("a parent replaces the key of one subaccount or of all: the new ones work, the old ones are dead", async (t) => {
  const world = await testApp(t);
  const parent = await world.caller();
  const [first, second] = [await aSubaccount(world, parent), await aSubaccount(world, parent, { host_only: true })];
  const one = await regenerate(world, parent, { subaccount_user_id: first.id });
  assert.equal(one.status, 200, one.text);
  const [{ derived_key: fresh }] = one.body.regenerated_keys;
  assert.deepEqual(one.body, {
    success: true,
    regenerated_keys: [{ user_id: first.id, email: first.email, derived_key: fresh }],
  });
  assert.ok(isWellFormed(fresh) && fresh !== first.secret);
  assert.deepEqual([(await own(world, fresh)).body.id, (await own(world, first.secret)).status], [first.id, 401]);
  assert.equal((await own(world, second.secret)).status, 200, "the other one keeps its key");
  const [{ key_id: keyId }] = await list(world, parent);
  assert.equal((await own(world, fresh)).body.key_id, keyId);
  const gone = await world.call({ method: "DELETE", url: `/api/v0/auth/apikeys/${keyId}/`, secret: fresh });
  assert.equal(gone.status, 200);
  const all = await regenerate(world, parent, { regenerate_all: true, subaccount_user_id: null });
  assert.deepEqual(
    all.body.regenerated_keys.map((key: { user_id: number }) => key.user_id),
    [first.id, second.id],
  );
  for (const { user_id: id, derived_key: secret } of all.body.regenerated_keys) {
    assert.equal((await own(world, secret)).body.id, id, "an account without a key gets one");
  }
  const rent = { method: "POST", url: "/api/v0/instances/start/", body: { IDs: [1] } } as const;
  const asHost = await world.call({ ...rent, secret: all.body.regenerated_keys[1].derived_key });
  assert.equal(asHost.status, 403, "a host-only key stays one");
  for (const secret of [fresh, second.secret]) assert.equal((await own(world, secret)).status, 401);
  const { body: log } = await world.call({ url: "/api/v0/audit_logs/", secret: parent.secret });
  assert.deepEqual(
    [log[0].api_route, log[0].args],
    ["api.subaccount.regenerate_keys", { user_ids: [first.id, second.id] }],
  );
  assert.ok(!JSON.stringify(log).includes(fresh));
});

test("a replaced key takes the sessions that it opened with it", async (t) => {
  const world = await testApp(t);
  const parent = await world.caller();
  const sub = await aSubaccount(world, parent);
  const { pool } = world.env;
  const session = await world.env.database.kysely
    .selectFrom("api_keys")
    .select("id")
    .where("user_id", "=", asId<UserId>(sub.id))
    .executeTakeFirstOrThrow();
  await pool.query(
    `insert into api_keys (user_id, name, kind, key_sha256, key_prefix, created_at, expires_at, opened_by_key_id)
     values ($1, 'session', 'tfa', $2, 'berth_sessio', now(), now() + interval '1 day', $3)`,
    [sub.id, Buffer.alloc(32, 7), session.id],
  );
  assert.equal((await regenerate(world, parent, { subaccount_user_id: sub.id })).status, 200);
  const { rows } = await pool.query("select deleted_at is not null as is_over from api_keys where kind = 'tfa'");
  assert.deepEqual(rows, [{ is_over: true }]);
});

test("a key that is deleted while it is replaced gives way to one that may do no more", async (t) => {
  const world = await testApp(t);
  const parent = await world.caller();
  const sub = await aSubaccount(world, parent);
  const { database } = world.env;
  const narrow = { api: { user_write: {}, user_read: {} } };
  const body = { name: "narrow", permissions: narrow };
  const key = await world.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret: parent.secret, body });
  await world.env.pool.query("update api_keys set permissions = $1 where user_id = $2", [narrow, sub.id]);
  const answer = await withTransaction(database, world.clock, async (deleting) => {
    await sql`update api_keys set deleted_at = now() where user_id = ${sub.id}`.execute(deleting.db);
    const asked = regenerate(world, { secret: key.body.key }, { subaccount_user_id: sub.id });
    await until("the replacement waits for the deletion", async () => {
      const waiting = sql`select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
      return (await waiting.execute(deleting.db)).rows.length > 0;
    });
    return { asked };
  });
  const { regenerated_keys: made } = (await answer.asked).body;
  const shown = await world.call({ url: "/api/v0/auth/apikeys/", secret: made[0].derived_key });
  assert.deepEqual(shown.body.apikeys[0].permissions, narrow);
});

test("keys of subaccounts are not replaced by others, nor by a key that may do less", async (t) => {
  const world = await testApp(t);
  const [parent, stranger] = [await world.caller(), await world.caller()];
  const sub = await aSubaccount(world, parent);
  for (const [field, body] of [
    ["subaccount_user_id", {}],
    ["subaccount_user_id", { regenerate_all: false }],
    ["subaccount_user_id", { subaccount_user_id: 0 }],
    ["subaccount_user_id", { subaccount_user_id: "all" }],
    ["regenerate_all", { regenerate_all: "yes" }],
    ["regenerate_all", { regenerate_all: true, subaccount_user_id: sub.id }],
  ] as const) {
    const answer = await regenerate(world, parent, body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  for (const [by, id] of [
    [stranger, sub.id],
    [parent, stranger.id],
    [parent, parent.id],
    [parent, 1_000_000],
  ] as const) {
    const answer = await regenerate(world, by, { subaccount_user_id: id });
    assert.deepEqual([answer.status, answer.body.error], [404, "no_such_user"]);
  }
  assert.deepEqual((await regenerate(world, stranger, { regenerate_all: true })).body.regenerated_keys, []);
  const body = { name: "narrow", permissions: { api: { user_write: {}, user_read: {} } } };
  const narrow = await world.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret: parent.secret, body });
  const refused = await regenerate(world, { secret: narrow.body.key }, { subaccount_user_id: sub.id });
  assert.deepEqual([refused.status, refused.body.error], [403, "missing_permissions"]);
  const full = await world.call({
    method: "POST",
    url: "/api/v0/auth/apikeys/",
    secret: parent.secret,
    body: { name: "n" },
  });
  const capped = { scope: "key", scope_id: full.body.id, period: "month", limit: 5 };
  const put = await world.call({ method: "PUT", url: "/api/v0/caps/", secret: parent.secret, body: capped });
  assert.equal(put.status, 200, put.text);
  const unbound = await regenerate(world, { secret: full.body.key }, { subaccount_user_id: sub.id });
  assert.deepEqual([unbound.status, unbound.body.error], [403, "not_authorized"], "a cap would not bind the new key");
  const team = await aTeam(world, parent);
  const asTeam = await regenerate(world, team, { regenerate_all: true });
  assert.deepEqual([asTeam.status, asTeam.body.error], [403, "team_user_forbidden"]);
  assert.equal((await own(world, sub.secret)).status, 200, "nothing was replaced");
});

test("settings have no start script, and only those of the own account are there", async (t) => {
  const world = await testApp(t);
  const [caller, stranger] = [await world.caller(), await world.caller()];
  const read = (id: string | number) => world.call({ url: `/api/v0/users/${id}/settings/`, secret: caller.secret });
  for (const id of ["me", "current", caller.id]) {
    const { status, body } = await read(id);
    assert.deepEqual([status, body], [200, { o: null }]);
  }
  for (const id of [stranger.id, 1_000_000, "x"]) {
    const { status, body } = await read(id);
    assert.deepEqual([status, body.error], [404, "no_such_user"]);
  }
});
