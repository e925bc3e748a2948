import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { aTeam, join } from "../../../../../../test/support/teams.ts";
import { ask, done, outcome, PASSWORD, signIn, signUp } from "../../../../../../test/support/second-factors.ts";

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;

describe("a sign-in with a password", () => {
  test("opens a session that acts as the account, by user name or address, until it signs out", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    for (const name of [person.name, person.email, person.email.toUpperCase()]) {
      const { status, body } = await signIn(app, name);
      assert.deepEqual([status, body.id, body.api_key], [200, person.id, body.session_key]);
      const me = await done(app, body.api_key, "GET", "/users/current/");
      assert.deepEqual([me.id, me.key_id, me.sid, me.tfa_status], [person.id, body.key_id, body.sid, "disabled"]);
      assert.deepEqual(await done(app, body.api_key, "DELETE", "/users/current/"), { success: true, sid: body.sid });
      assert.equal((await ask(app, body.api_key, "GET", "/users/current/")).status, 401);
    }
    assert.equal((await done(app, person.secret, "DELETE", "/users/current/")).sid, "", "an API key stays");
    assert.equal((await ask(app, person.secret, "GET", "/users/current/")).status, 200);
  });

  test("that is wrong gets one answer, whether there is such an account or not", async (t) => {
    const app = await testApp(t);
    const [person, keyOnly] = [await signUp(app), await app.caller()];
    const wrong = [
      await signIn(app, person.name, "wrong"),
      await signIn(app, "nobody", PASSWORD),
      await signIn(app, "nobody@corp.example", "wrong"),
      await signIn(app, keyOnly.email, ""),
      await signIn(app, keyOnly.email, "anything"),
      await signIn(app, "x".repeat(1000), "y".repeat(1000)),
    ];
    const [first, ...others] = wrong.filter(({ status }) => status !== 400);
    const said = ({ status, body }: (typeof wrong)[number]) => [status, body.error, body.msg];
    for (const other of others) assert.deepEqual(said(other), said(first as (typeof wrong)[number]));
    assert.deepEqual(outcome(first as (typeof wrong)[number]), [401, "auth_error"]);
    const without = await app.call({ method: "PUT", url: "/api/v0/users/current/", body: { username: person.name } });
    assert.deepEqual([...outcome(without), without.body.field], [400, "missing_input", "password"]);
  });

  test("is refused after ten attempts from one network, right ones too, on both of two servers, until the time is over", async (t) => {
    const app = await testApp(t);
    const second = await testApp(t, { env: app.env, clock: app.clock });
    const person = await signUp(app);
    const answers = [];
    for (let count = 0; count < 10; count += 1) {
      answers.push(await signIn(count % 2 === 0 ? app : second, person.name, "wrong"));
    }
    assert.ok(answers.every(({ status }) => status === 401));
    for (const server of [app, second]) {
      const refused = await signIn(server, person.name);
      assert.deepEqual(outcome(refused), [429, "sign_in_locked"]);
      assert.equal(refused.headers["retry-after"], "900");
    }
    assert.equal((await signIn(app, person.name, PASSWORD, { from: "198.51.100.7" })).status, 200, "elsewhere");
    const ghost = await signIn(app, "nobody", "wrong");
    for (let count = 0; count < 9; count += 1) await signIn(app, "nobody", "wrong");
    assert.deepEqual(
      [ghost.status, (await signIn(app, "nobody", "wrong")).status],
      [401, 429],
      "nobody's name is alike",
    );
    app.clock.advance(15 * MINUTE_MS);
    assert.equal((await signIn(second, person.name)).status, 200);
    assert.equal((await signIn(second, person.name, "wrong")).status, 401, "a right password empties the count");
  });

  test("ends by itself after a week with the answer at which clients drop it", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const { body } = await signIn(app, person.name);
    app.clock.advance(WEEK_MS - 1);
    assert.equal((await ask(app, body.api_key, "GET", "/users/current/")).status, 200);
    app.clock.advance(1);
    const over = await ask(app, body.api_key, "GET", "/users/current/");
    assert.deepEqual([over.status, over.body.msg], [404, "Session expired. Please log in again."]);
    assert.equal((await ask(app, person.secret, "GET", "/auth/sessions/")).status, 404);
  });

  test("to a host-only account may do no more than its first key", async (t) => {
    const app = await testApp(t);
    const body = { email: "rig@corp.example", username: "rig", password: PASSWORD, host_only: true };
    await app.call({ method: "POST", url: "/api/v0/users/", body });
    const { body: signedIn } = await signIn(app, "rig");
    assert.equal((await ask(app, signedIn.api_key, "GET", "/instances/")).status, 403);
    assert.equal((await ask(app, signedIn.api_key, "GET", "/machines/")).status, 200);
  });
});

describe("sessions", () => {
  test("are listed without their keys, apart from API keys, and end one by one or all at once", async (t) => {
    const app = await testApp(t);
    const [person, other] = [await signUp(app), await signUp(app)];
    const [one, two, foreign] = [
      await signIn(app, person.name, PASSWORD, { from: "198.51.100.7" }),
      await signIn(app, person.name),
      await signIn(app, other.name),
    ];
    const list = await ask(app, two.body.api_key, "GET", "/auth/sessions/");
    assert.ok(!list.text.includes(one.body.api_key));
    const shown = list.body.sessions.map((row: Record<string, unknown>) => [
      row["id"],
      row["last_ipaddr"],
      row["is_current"],
    ]);
    assert.deepEqual(shown, [
      [two.body.key_id, "192.0.2.1", true],
      [one.body.key_id, "198.51.100.7", false],
    ]);
    assert.equal((await done(app, person.secret, "GET", "/auth/apikeys/")).apikeys.length, 1);
    assert.equal((await ask(app, person.secret, "DELETE", `/auth/apikeys/${one.body.key_id}/`)).status, 404);

    await done(app, person.secret, "DELETE", "/auth/sessions/", { key_id: foreign.body.key_id });
    assert.equal((await ask(app, foreign.body.api_key, "GET", "/users/current/")).status, 200, "not the caller's");
    await done(app, person.secret, "DELETE", "/auth/sessions/", { key_id: one.body.key_id });
    assert.equal((await ask(app, one.body.api_key, "GET", "/users/current/")).status, 401);
    assert.deepEqual(outcome(await ask(app, person.secret, "DELETE", "/auth/sessions/", {})), [400, "missing_input"]);
    await done(app, person.secret, "DELETE", "/auth/sessions/", { all: true });
    assert.equal((await ask(app, two.body.api_key, "GET", "/users/current/")).status, 401);
    assert.equal((await ask(app, person.secret, "GET", "/auth/sessions/")).status, 404);
  });

  test("that name a team act for it with the member's role, are shown to it, and end with the membership", async (t) => {
    const app = await testApp(t);
    const [owner, member, stranger] = [await app.caller(), await signUp(app), await signUp(app)];
    const team = await aTeam(app, owner);
    assert.equal((await done(app, team.secret, "GET", "/team/sessions/")).success, false);
    await join(app, team, { ...owner, email: member.email, secret: member.secret } as typeof owner);
    const { body } = await signIn(app, member.name, PASSWORD, { body: { team_id: team.id } });
    assert.equal(body.id, team.id);
    const { sessions, sessions_found: found } = await done(app, team.secret, "GET", "/team/sessions/");
    assert.equal(found, 1);
    assert.deepEqual(
      [sessions[0].user_id, sessions[0].username, sessions[0].role_name],
      [member.id, member.name, "Member"],
    );
    assert.equal((await ask(app, body.api_key, "GET", "/team/sessions/")).status, 403, "a member manages no team");
    const keys = await app.env.pool.query("select id from api_keys where member_id = $1 and kind = 'api'", [member.id]);
    const capped = keys.rows[0].id;
    const cap = { scope: "key", scope_id: capped, period: "day", limit: 1 };
    assert.equal((await ask(app, team.secret, "PUT", "/caps/", cap)).status, 200);
    const uncapped = await signIn(app, member.name, PASSWORD, { body: { team_id: team.id } });
    assert.deepEqual(outcome(uncapped), [403, "not_authorized"], "a session is no way around a cap");
    const refused = await signIn(app, stranger.name, PASSWORD, { body: { team_id: team.id } });
    assert.deepEqual(outcome(refused), [404, "no_such_team"]);
    await done(app, team.secret, "DELETE", `/team/members/${member.id}/`);
    assert.equal((await ask(app, body.api_key, "GET", "/users/current/")).status, 401);
  });
});
