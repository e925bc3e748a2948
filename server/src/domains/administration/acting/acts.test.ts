import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aCaller, type TestCaller } from "../../../../../test/support/fixtures.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";

describe("acts of administrators on instances, machines and accounts", () => {
  let world: TestApp;
  let admin: TestCaller;
  let renter: TestCaller;
  let host: FakeHost;
  const cleanups: (() => Promise<void>)[] = [];

  before(async () => {
    world = await testApp({ after: (fn) => void cleanups.push(fn as () => Promise<void>) });
    admin = await aCaller(world.env.database, { isAdmin: true });
    renter = await world.caller({ dollars: 50 });
    host = await world.host({ gpus: 2 });
  });
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  const call = (method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown, secret = admin.secret) =>
    world.call({ method, url: `/api/v0/${path}`, secret, ...(body === undefined ? {} : { body }) });
  const told = async (userId: number) => {
    const { rows } = await world.env.pool.query("select kind, message from notices where user_id = $1 order by id", [
      userId,
    ]);
    return rows as readonly { readonly kind: string; readonly message: string }[];
  };

  test("an instance is stopped with its data kept, once, and its renter reads why", async () => {
    const offer = (await world.offersOf(host)).get(1);
    const made = await call("PUT", `asks/${offer}/`, { image: "alpine", disk: 10 }, renter.secret);
    const id: number = made.body.new_contract;
    const stop = () => call("POST", `admin/instances/${id}/stop/`, { reason: "Smoke." });
    assert.equal((await stop()).status, 200);
    const again = await stop();
    assert.deepEqual([again.status, again.body.error], [409, "nothing_to_stop"]);
    const { rows } = await world.env.pool.query("select desired, phase_cause from instances where id = $1", [id]);
    assert.deepEqual(rows, [{ desired: "stopped", phase_cause: "stopped_by_operator" }]);
    const notice = (await told(renter.id)).find(({ kind }) => kind === "client:stopped_by_operator");
    assert.match(notice?.message ?? "", new RegExp(`stopped instance ${id}; its data is kept\\. Reason: Smoke\\.`));
  });

  test("renters on a machine are asked to move, and the machine leaves the market while they stay", async () => {
    const until = (world.clock.now().getTime() + 86_400_000) / 1000;
    const notice = await call("POST", `admin/machines/${host.machineId}/move_notice/`, { reason: "It goes.", until });
    assert.deepEqual([notice.status, notice.body.renter_count], [200, 1], notice.text);
    assert.ok((await told(renter.id)).some(({ kind }) => kind === "client:move_asked"));
    const past = await call("POST", `admin/machines/${host.machineId}/move_notice/`, { reason: "Now.", until: 1 });
    assert.deepEqual([past.status, past.body.field], [400, "until"]);
    const unlisted = await call("POST", `admin/machines/${host.machineId}/unlist/`, { reason: "It goes." });
    assert.equal(unlisted.status, 200, unlisted.text);
    assert.equal((await world.offersOf(host)).size, 0);
    const absent = await call("POST", "admin/machines/2000000000/unlist/", { reason: "It goes." });
    assert.deepEqual([absent.status, absent.body.error], [404, "no_such_machine"]);
    const { rows } = await world.env.pool.query("select count(*)::int as n from instances where ended_at is null");
    assert.deepEqual(rows, [{ n: 1 }]);
  });

  test("a person gets a copy without secrets; an account with things or money left is not deleted", async () => {
    await call("POST", "secrets/", { key: "HF_TOKEN", value: "hidden-value" }, renter.secret);
    const copy = await call("POST", `admin/users/${renter.id}/export/`, { reason: "They asked." });
    assert.equal(copy.status, 200, copy.text);
    const { data, truncated } = copy.body;
    assert.deepEqual([data.account[0].email, data.instances.length, truncated], [renter.email, 1, []]);
    assert.ok(data.acts.some(({ action }: { action: string }) => action === "api.instance.create"));
    for (const secret of ["hidden-value", renter.secret, "sha256", "sealed"]) assert.ok(!copy.text.includes(secret));
    await world.env.pool.query(
      `insert into saved_searches (user_id, name, query, created_at, updated_at)
      select $1, 'search ' || n, '{}', now(), now() from generate_series(1, 10001) n`,
      [renter.id],
    );
    const cut = (await call("POST", `admin/users/${renter.id}/export/`, { reason: "They asked." })).body;
    assert.deepEqual([cut.data.saved_searches.length, cut.truncated], [10_000, ["saved_searches"]]);
    const kept = await call("POST", `admin/users/${renter.id}/delete/`, { reason: "They asked." });
    assert.deepEqual([kept.status, kept.body.error], [409, "account_not_empty"]);
    assert.match(kept.body.msg, /still has 1 instance, .*\$\d+(\.\d+)? of credit/);
    const own = await call("POST", `admin/users/${admin.id}/delete/`, { reason: "By mistake." });
    assert.deepEqual([own.status, own.body.error], [403, "not_allowed"]);
  });

  test("an account that is deleted keeps no name, address, key or way in, and its address is free again", async () => {
    const person = await world.caller({ dollars: 0 });
    await call("PUT", "users/", { fullname: "Ada Erasable" }, person.secret);
    await call("POST", "auth/apikeys/", { name: "Erasable laptop" }, person.secret);
    await call("POST", "secrets/", { key: "HF_TOKEN", value: "x" }, person.secret);
    await world.runLoop("write-ip-history");
    await world.runLoop("write-acts");
    const answer = await call("POST", `admin/users/${person.id}/delete/`, { reason: "They asked." });
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await call("GET", "users/current/", undefined, person.secret)).status, 401);
    const { rows: tables } = await world.env.pool.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    for (const { name } of tables) {
      // The audit log is never changed, and its facts prove that.
      if (name === "audit_events") continue;
      const query = `select t::text as line from ${name} t where t::text ilike $1 or t::text like '%Erasable%'`;
      const { rows } = await world.env.pool.query(query, [`%${person.email}%`]);
      assert.deepEqual(rows, [], `${name} still tells of the person`);
    }
    const again = await call("POST", `admin/users/${person.id}/delete/`, { reason: "They asked." });
    assert.deepEqual([again.status, again.body.error], [404, "no_such_user"]);
    const { account } = (await call("GET", `admin/users/${person.id}/`)).body;
    assert.deepEqual([account.email, account.fullname], [`deleted-${person.id}@invalid`, ""]);
    await world.assertBooks();
  });
});
