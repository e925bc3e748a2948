import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction } from "../../../../../test/support/fixtures.ts";
import { testApp } from "../../../../../test/support/app.ts";
import { put, someCode } from "../../../../../test/support/serverless/deployments.ts";

test("an account has a limited number of keys, templates, join tokens and subaccounts, also with concurrent requests", async (t) => {
  const app = await testApp(t);
  const { id, secret } = await app.caller();
  /** Fills the table to one below its limit, so that the next request takes the last place. */
  const fill = (statement: string, count: number) =>
    app.env.pool.query(`${statement} from generate_series(1, ${count}) as n`, [id]);
  const templates = "select $1, md5(n::text), '{\"private\": true}'::jsonb, now()";
  await fill(`insert into templates (creator_id, hash_id, content, created_at) ${templates}`, 999);
  const keys = "select $1, 'filler', decode(md5(n::text) || md5(n::text), 'hex'), 'berth_x', now()";
  await fill(`insert into api_keys (user_id, name, key_sha256, key_prefix, created_at) ${keys}`, 998);
  const tokens =
    "select $1, 'filler', decode(md5(n::text), 'hex'), false, $2::timestamptz, $2::timestamptz + interval '1 day'";
  await app.env.pool.query(
    `insert into join_tokens (user_id, name, token_sha256, is_trusted, created_at, expires_at) ${tokens}
     from generate_series(1, 999) as n`,
    [id, app.clock.now()],
  );
  const people = "select 'filler' || n || '@example.com', 'filler', $1, now()";
  await fill(`insert into users (email, username, parent_id, created_at) ${people}`, 499);

  let number = 0;
  const asks = [
    { url: "/api/v0/auth/apikeys/", body: () => ({ name: "one more" }), field: "name" },
    { url: "/api/v0/template/", body: () => ({ name: `t${(number += 1)}`, image: `alpine:${number}` }), field: "name" },
    { url: "/api/v0/hosts/tokens/", body: () => ({ name: "rig" }), field: "name" },
    {
      url: "/api/v0/users/",
      body: () => ({
        email: `kid${(number += 1)}@example.com`,
        username: "kid",
        password: "p4ssword!",
        parent_id: "me",
      }),
      field: "parent_id",
    },
  ];
  for (const { url, body, field } of asks) {
    const answers = await Promise.all([1, 2, 3].map(() => app.call({ method: "POST", url, secret, body: body() })));
    const refused = answers.filter(({ status }) => status !== 200);
    assert.equal(answers.length - refused.length, 1, `${url}: ${answers.map(({ text }) => text).join()}`);
    for (const { status, body: said } of refused) {
      assert.deepEqual([status, said.error, said.field], [400, "too_many", field], url);
    }
  }
  await inTransaction(app.env.database, async (tx) => {
    await tx.db.updateTable("templates").set({ deleted_at: tx.now }).where("creator_id", "=", id).execute();
  });
  const again = await app.call({ method: "POST", url: "/api/v0/template/", secret, body: { name: "a", image: "b" } });
  assert.equal(again.status, 200, "a deleted one makes room");
});

test("subaccounts of subaccounts count for the account at the top, so that a family is no larger than its limit", async (t) => {
  const app = await testApp(t);
  const top = await app.caller();
  const make = async (secret: string, number: number) =>
    app.call({
      method: "POST",
      url: "/api/v0/users/",
      secret,
      body: { email: `kid${number}@example.com`, username: "kid", password: "p4ssword!", parent_id: "me" },
    });
  const kid = await make(top.secret, 1);
  assert.equal(kid.status, 200, kid.text);
  await app.env.pool.query(
    `insert into users (email, username, parent_id, created_at)
     select 'filler' || n || '@example.com', 'filler', $1, now() from generate_series(1, 498) as n`,
    [kid.body.id],
  );
  assert.equal((await make(kid.body.api_key, 2)).status, 200);
  const refused = await make(kid.body.api_key, 3);
  assert.deepEqual([refused.status, refused.body.error, refused.body.field], [400, "too_many", "parent_id"]);
  await app.env.pool.query("update users set deleted_at = now() where email = 'filler7@example.com'");
  assert.equal((await make(top.secret, 4)).status, 200, "a deleted one makes room");
});

test("a template has a limited number of versions, and a deployment, once deleted, makes room for another", async (t) => {
  const app = await testApp(t);
  const caller = await app.caller();
  const { id, secret } = caller;
  const call = (method: "POST" | "PUT", body: object) => app.call({ method, url: "/api/v0/template/", secret, body });
  const { template } = (await call("POST", { name: "a", image: "alpine" })).body;
  await app.env.pool.query(
    `insert into template_versions (template_id, hash_id, content, created_at)
     select $1, md5(n::text), '{"private": true}', now() from generate_series(1, 998) as n`,
    [template.id],
  );
  const last = await call("PUT", { hash_id: template.hash_id, desc: "the last one" });
  assert.equal(last.status, 200, last.text);
  const refused = await call("PUT", { hash_id: last.body.template.hash_id, desc: "one more" });
  assert.deepEqual([refused.status, refused.body.error, refused.body.field], [400, "too_many", "hash_id"]);
  assert.match(String(refused.body.msg), /1000 versions/);

  await app.env.pool.query(
    `insert into deployments (user_id, api_key_id, name, tag, search_params, last_client_heartbeat_at, created_at, updated_at)
     select $1, min(k.id), 'filler' || n, '', '', now(), now(), now()
     from api_keys as k, generate_series(1, 499) as n where k.user_id = $1 group by n`,
    [id],
  );
  const deploy = (name: string) => put(app, caller, someCode(), { name });
  const answers = await Promise.all(["one", "two", "three"].map(deploy));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1, answers.map(({ text }) => text).join());
  for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
    assert.deepEqual([status, body.error, body.field], [400, "too_many", "name"]);
  }
  await app.env.pool.query("delete from deployments where name = 'filler7'");
  assert.equal((await deploy("four")).status, 200, "a deleted one makes room");
});
