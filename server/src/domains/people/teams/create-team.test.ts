import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aKey, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { aTeam, ask, done, join } from "../../../../../test/support/teams.ts";
import { NANOS_PER_DOLLAR } from "../../../base/money.ts";

describe("teams in the making", () => {
  let app: TestApp;
  const cleanups: (() => Promise<void> | void)[] = [];
  before(async () => {
    const scope = { after: (fn: () => Promise<void> | void) => void cleanups.push(fn) };
    app = await testApp(scope as Parameters<typeof testApp>[0]);
  });
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  const me = (secret: string) => done(app, secret, "GET", "/users/current/");
  const dollarsOf = async (id: TestCaller["id"]) =>
    Number((await creditOfUser(app, { id } as TestCaller)).balance) / Number(NANOS_PER_DOLLAR);
  const auditOf = async (secret: string): Promise<readonly string[]> =>
    (await done(app, secret, "GET", "/audit_logs/")).map((record: { api_route: string }) => record.api_route);

  describe("creating one", () => {
    test("the calling key stays personal, and the answer has a key that acts as the team with its own credit", async () => {
      const owner = await app.caller();
      const name = `Team ${randomUUID()}`;
      const made = await ask(app, owner.secret, "POST", "/team/", { team_name: ` ${name} `, transfer_credit: 12.5 });
      assert.equal(made.status, 200, made.text);
      const { id, key_id: keyId, key: secret, ...rest } = made.body;
      assert.deepEqual(rest, { success: true, msg: "Team Successfully Created!", team_name: name });
      const team = await me(secret);
      assert.deepEqual([team.id, team.username, team.credit, team.parent_id], [id, name, 12.5, null]);
      assert.equal(team.key_id, keyId);
      const person = await me(owner.secret);
      assert.deepEqual([person.id, person.email, person.credit], [owner.id, owner.email, 87.5]);
      assert.equal(person.key_id, owner.key.id);
      const keysOf = async (by: string) => (await done(app, by, "GET", "/auth/apikeys/")).apikeys;
      const [key, ...others] = await keysOf(secret);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [key.id, key.user_id, key.team_id, key.team_name, key.rights],
        [keyId, owner.id, id, name, "full"],
      );
      const personal: readonly { readonly id: number; readonly team_id: number | null }[] = await keysOf(owner.secret);
      assert.deepEqual(
        personal.map((one) => [one.id, one.team_id]),
        [[owner.key.id, null]],
      );
      assert.ok((await auditOf(secret)).includes("api.team.create"));
      assert.ok((await auditOf(owner.secret)).includes("api.team.create"));
      await app.assertBooks();
    });

    test("a repeated request answers the same key of the same team", async () => {
      const owner = await app.caller();
      const make = () =>
        app.call({
          method: "POST",
          url: "/api/v0/team/",
          secret: owner.secret,
          body: { team_name: `Once ${owner.id}` },
          headers: { "idempotency-key": "team-once" },
        });
      const [first, second] = [await make(), await make()];
      assert.equal(first.status, 200, first.text);
      assert.equal(second.text, first.text);
      assert.equal((await done(app, owner.secret, "GET", "/teams/")).teams.length, 1);
    });

    test("a person owns a limited number of teams, even when many are created or handed over at once", async () => {
      const [owner, member] = [await app.caller(), await app.caller()];
      const { pool } = app.env;
      await pool.query(
        `with made as (
           insert into users (email, username, is_team, created_at)
           select 'filler' || n || '@example.com', 'filler ' || n, true, now() from generate_series(1, 98) as n returning id
         ), roles as (
           insert into team_roles (team_id, name, identifier, created_at)
           select id, 'owner', 'owner', now() from made returning id, team_id
         )
         insert into team_members (team_id, member_id, role_id, joined_at) select team_id, $1, id, now() from roles`,
        [owner.id],
      );
      const { secret } = await aTeam(app, owner);
      const keys = await Promise.all(
        ["a", "b", "c"].map(async (name) => (await done(app, owner.secret, "POST", "/auth/apikeys/", { name })).key),
      );
      const make = (key: string) => ask(app, key, "POST", "/team/", { team_name: randomUUID() });
      const answers = await Promise.all(keys.map(make));
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 400, 400],
      );
      assert.equal(answers.find(({ status }) => status === 400)?.body.error, "too_many_teams");

      const another = await aTeam(app, member);
      await join(app, another, owner);
      const handed = await ask(app, another.secret, "PUT", "/team/transfer/", { email: owner.email });
      assert.deepEqual([handed.status, handed.body.error], [400, "too_many_teams"], handed.text);
      await done(app, secret, "DELETE", "/team/");
      assert.equal((await ask(app, another.secret, "PUT", "/team/transfer/", { email: owner.email })).status, 200);
    });

    test("a narrowed key makes a team's key with the same permissions", async () => {
      const owner = await app.caller();
      const permissions = { api: { user_write: {}, user_read: {} } };
      const { key } = await done(app, owner.secret, "POST", "/auth/apikeys/", { name: "narrow", permissions });
      const team = await done(app, key, "POST", "/team/", { team_name: randomUUID() });
      assert.equal((await me(team.key)).id, team.id);
      assert.deepEqual((await done(app, team.key, "GET", "/auth/apikeys/")).apikeys[0].permissions, permissions);
      assert.equal((await ask(app, team.key, "GET", "/team/members/")).status, 403);
    });

    test("a key with a cap creates no team and joins none: it would get keys without a cap", async () => {
      const [owner, person] = [await app.caller(), await app.caller()];
      const made = await done(app, person.secret, "POST", "/auth/apikeys/", { name: "capped" });
      const cap = { scope: "key", scope_id: made.id, period: "total", limit: 5 };
      await done(app, person.secret, "PUT", "/caps/", cap);
      const team = await aTeam(app, owner);
      const invitation = { email: person.email, role: "manager" };
      const { token } = await done(app, team.secret, "POST", "/team/invite/", invitation);
      for (const [method, path] of [
        ["POST", "/team/"],
        ["GET", `/team/invite/${token}/`],
      ] as const) {
        const body = method === "POST" ? { team_name: randomUUID() } : undefined;
        const answer = await ask(app, made.key, method, path, body);
        assert.deepEqual([answer.status, answer.body.error], [403, "not_authorized"], `${path} ${answer.text}`);
      }
      assert.equal((await ask(app, person.secret, "GET", `/team/invite/${token}/`)).status, 200);
    });

    test("initial credit needs a key that may transfer it, and enough of it", async () => {
      const owner = await app.caller({ dollars: 5 });
      const keyWith = async (api: object) =>
        (await done(app, owner.secret, "POST", "/auth/apikeys/", { name: "k", permissions: { api } })).key;
      const create = (secret: string, credit: unknown) =>
        ask(app, secret, "POST", "/team/", { team_name: randomUUID(), transfer_credit: credit });
      const operation = "api.billing.transfer_credit";
      const upToTwo = { [operation]: { constraints: { amount: { lte: 2 } } } };
      const toSomebody = { [operation]: { constraints: { recipient: { eq: "x@example.com" } } } };
      for (const [api, credit, status, code] of [
        [{ user_write: {} }, 1, 403, "missing_permissions"],
        [{ user_write: {}, billing_write: upToTwo }, 3, 403, "missing_permissions"],
        [{ user_write: {}, billing_write: toSomebody }, 1, 403, "missing_permissions"],
        [{ user_write: {}, billing_write: {} }, 6, 400, "insufficient_balance"],
        [{ user_write: {}, billing_write: {} }, 0.001, 400, "invalid_args"],
        [{ user_write: {}, billing_write: {} }, -1, 400, "invalid_args"],
        [{ user_write: {}, billing_write: {} }, "1", 400, "invalid_args"],
      ] as const) {
        const secret = await keyWith(api);
        const answer = await create(secret, credit);
        assert.deepEqual([answer.status, answer.body.error], [status, code], `${credit} ${JSON.stringify(api)}`);
        assert.equal((await ask(app, secret, "GET", "/team/members/")).status, 403);
      }
      assert.equal(await dollarsOf(owner.id), 5);
      assert.equal((await create(await keyWith({ user_write: {}, billing_write: upToTwo }), 2)).status, 200);
      assert.equal(await dollarsOf(owner.id), 3);
    });

    test("a name is taken in any case, also by the first of two concurrent requests, until the team is deleted", async () => {
      const name = `Unique ${randomUUID()}`;
      const [one, other] = [await app.caller(), await app.caller()];
      const create = (caller: TestCaller, text: string) =>
        ask(app, caller.secret, "POST", "/team/", { team_name: text });
      const answers = await Promise.all([create(one, name), create(other, name.toUpperCase())]);
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 400],
      );
      const loser = answers[0]?.status === 200 ? other : one;
      const refused = await create(loser, name);
      assert.deepEqual(
        [refused.status, refused.body.error, refused.body.msg, refused.body.field],
        [400, "team_name_exists", "Team name already exists", "team_name"],
      );
      assert.deepEqual((await done(app, loser.secret, "GET", "/teams/")).teams, []);
      const made = answers.find(({ status }) => status === 200);
      await done(app, made?.body.key, "DELETE", "/team/");
      assert.equal((await create(loser, name)).status, 200);
    });

    test("invalid names are refused with the field's name", async () => {
      const { secret } = await app.caller();
      for (const [name, code] of [
        [undefined, "invalid_args"],
        ["", "invalid_args"],
        [" \t ", "invalid_args"],
        ["n".repeat(65), "input_too_long"],
        ["n".repeat(100_000), "input_too_long"],
        ["a\nb", "invalid_characters"],
        ["a\u0007b", "invalid_characters"],
        ["a\u0000b", "invalid_args"],
        [5, "invalid_args"],
        [{ a: 1 }, "invalid_args"],
      ] as const) {
        const answer = await ask(app, secret, "POST", "/team/", { team_name: name });
        assert.deepEqual([answer.status, answer.body.error], [400, code], JSON.stringify(name)?.slice(0, 40));
        assert.equal(answer.body.field, "team_name");
      }
      assert.equal((await ask(app, secret, "POST", "/team/", { team_name: "n".repeat(64) })).status, 200);
    });

    test("a repeated request makes one team and gets the same answer", async () => {
      const { secret } = await app.caller();
      const call = {
        method: "POST",
        url: "/api/v0/team/",
        secret,
        body: { team_name: randomUUID() },
        headers: { "idempotency-key": randomUUID() },
      } as const;
      const [first, again] = [await app.call(call), await app.call(call)];
      assert.equal(first.status, 200, first.text);
      assert.equal(again.text, first.text);
    });

    test("a team owns no team, has no subaccounts, and keeps its name and address", async () => {
      const team = await aTeam(app, await app.caller());
      const email = `${randomUUID()}@example.com`;
      for (const [method, path, body] of [
        ["POST", "/team/", { team_name: randomUUID() }],
        ["POST", "/users/", { parent_id: "me", email, username: "u", password: "secret enough" }],
        ["PUT", "/users/", { username: "other" }],
        ["PUT", "/users/", { normalized_email: email }],
      ] as const) {
        const answer = await ask(app, team.secret, method, path, body);
        assert.deepEqual([answer.status, answer.body.error], [403, "team_user_forbidden"], `${method} ${path}`);
      }
      assert.equal((await ask(app, team.secret, "PUT", "/users/", { taxinfo: "DE123" })).status, 200);
      const { email: address } = await me(team.secret);
      const taken = await ask(app, team.secret, "POST", "/users/", { email: address, username: "u", password: "p" });
      assert.equal(taken.body.error, "invalid_email");
      const free = { email: "team-x@teams.invalid", username: "u", password: "secret enough" };
      assert.equal((await ask(app, team.secret, "POST", "/users/", free)).body.error, "invalid_email");
    });

    test("the key that the server keeps for its operator stays the operator's", async () => {
      const operator = await inTransaction(app.env.database, async (tx) => {
        const { rows } = await app.env.pool.query(
          "insert into users (email, username, is_admin, created_at) values ($1, 'admin', true, now()) returning id",
          [`${randomUUID()}@example.com`],
        );
        return aKey(tx, { id: rows[0].id, isAdmin: true }, { name: "admin" });
      });
      const made = await done(app, operator.secret, "POST", "/team/", { team_name: randomUUID() });
      assert.equal((await ask(app, operator.secret, "GET", "/admin/loops/")).status, 200);
      const admin = await ask(app, made.key, "GET", "/admin/loops/");
      assert.equal(admin.status, 403, "a team of an administrator administers nothing");
    });
  });
});
