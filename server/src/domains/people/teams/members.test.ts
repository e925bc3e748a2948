import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { aTeam, ask, done, join, type TestTeam } from "../../../../../test/support/teams.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";

const HOUR_MS = 3_600_000;
const ABSENT = 2_000_000_000;

describe("members of teams", () => {
  let app: TestApp;
  let team: TestTeam;
  const cleanups: (() => Promise<void> | void)[] = [];
  before(async () => {
    const scope = { after: (fn: () => Promise<void> | void) => void cleanups.push(fn) };
    app = await testApp(scope as Parameters<typeof testApp>[0]);
    team = await aTeam(app, await app.caller());
  });
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  const invite = (secret: string, body: unknown) => ask(app, secret, "POST", "/team/invite/", body);
  const accept = (secret: string, token: string) => ask(app, secret, "GET", `/team/invite/${token}/`);
  const invited = async (person: Pick<TestCaller, "email">, role = "member"): Promise<string> =>
    (await done(app, team.secret, "POST", "/team/invite/", { email: person.email, role })).token;
  const notificationsOf = async ({ id }: Pick<TestCaller, "id">) =>
    (await app.env.pool.query("select kind, subject, message from notices where user_id = $1 order by id", [id])).rows;
  const statusWith = async (secret: string) => (await ask(app, secret, "GET", "/users/current/")).status;

  describe("an invitation", () => {
    test("notifies the invited person, makes a member with the role, and gives a key that acts as the team", async () => {
      const person = await app.caller();
      const email = person.email.toUpperCase();
      const answer = await done(app, team.secret, "POST", "/team/invite/", { email, role: "MEMBER" });
      assert.equal(answer.msg, `New invitation sent to ${person.email}`);
      const [notice] = await notificationsOf(person);
      assert.equal(notice.kind, "client:team_invite");
      assert.ok(!notice.message.includes(answer.token) && notice.message.includes(team.name));
      const joined = await done(app, person.secret, "GET", `/team/invite/${answer.token}/`);
      assert.deepEqual([joined.team_id, joined.team_name, joined.role], [team.id, team.name, "Member"]);
      assert.equal((await done(app, joined.key, "GET", "/users/current/")).id, team.id);
      const members = await done(app, team.secret, "GET", "/team/members/");
      const { id, username } = person;
      assert.deepEqual(members.at(-1), {
        id,
        username,
        email: person.email,
        fullname: "",
        roles: ["Member"],
        role: "Member",
      });
      const teams = (await done(app, person.secret, "GET", "/teams/")).teams;
      assert.deepEqual(teams, [{ id: team.id, team_name: team.name, role: "Member", is_owner: false }]);
    });

    test("comes by query as well, and to an address that has no account yet, with the same answer", async () => {
      const email = `${randomUUID()}@example.com`;
      const answer = await done(app, team.secret, "POST", `/team/invite/?email=${email}&role=manager`, {});
      assert.deepEqual(Object.keys(answer).toSorted(), ["expires_at", "msg", "success", "token"]);
      const made = await done(app, team.secret, "POST", "/users/", { email, username: "u", password: "long enough" });
      assert.equal((await done(app, made.api_key, "GET", `/team/invite/${answer.token}/`)).role, "Manager");
    });

    test("is for the invited person only and once: for others it does not exist", async () => {
      const [person, other] = [await app.caller(), await app.caller()];
      const token = await invited(person);
      const answers = [await accept(other.secret, token), await accept(other.secret, randomUUID())];
      for (const { status, body } of answers) {
        assert.deepEqual([status, body.error, body.msg], [404, "no_such_invitation", answers[0]?.body.msg]);
      }
      assert.equal((await accept(person.secret, token)).status, 200);
      assert.equal((await accept(person.secret, token)).status, 404);
    });

    test("that two accept at once makes one member with one key", async () => {
      const person = await app.caller();
      const token = await invited(person);
      const answers = await Promise.all([1, 2, 3, 4].map(() => accept(person.secret, token)));
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 404, 404, 404],
      );
      const keys = (await done(app, team.secret, "GET", "/team/apikeys/")).apikeys;
      assert.equal(keys.filter(({ user_id: id }: { user_id: number }) => id === person.id).length, 1);
    });

    test("expires after four hours, and when a later one replaces it", async () => {
      const person = await app.caller();
      const first = await invited(person);
      const second = await invite(team.secret, { email: person.email, role: "member" });
      assert.equal(second.status, 429);
      assert.equal(second.body.msg, `Error: invitation already sent to ${person.email} only 0 seconds ago.`);
      assert.equal(second.headers["retry-after"], "600");
      app.clock.advance(599_000);
      const third = await invite(team.secret, { email: person.email, role: "member" });
      assert.match(third.body.msg, /only 599 seconds ago/);
      app.clock.advance(1_000);
      const fourth = await done(app, team.secret, "POST", "/team/invite/", { email: person.email, role: "member" });
      assert.equal((await accept(person.secret, first)).status, 404);
      app.clock.advance(4 * HOUR_MS);
      assert.equal((await accept(person.secret, fourth.token)).status, 404);
      const last = await invited(person);
      app.clock.advance(4 * HOUR_MS - 1);
      assert.equal((await accept(person.secret, last)).status, 200);
    });

    test("is refused for members, unknown roles and invalid addresses, each with its reason", async () => {
      const member = await app.caller();
      await join(app, team, member);
      const email = `${randomUUID()}@example.com`;
      for (const [body, status, error, msg] of [
        [{ email: team.owner.email, role: "member" }, 400, "own_team", "User cannot be invited to their own team."],
        [{ email: member.email, role: "member" }, 400, "already_member", "User is already a member of this team."],
        [{ email, role: "owner" }, 403, "forbidden", undefined],
        [{ email, role: "nothing like it" }, 404, "not_found", "Specified role not found"],
        [{ email }, 400, "invalid_args", undefined],
        [{ role: "member" }, 400, "invalid_email", undefined],
        [{ email: "a\nb@example.com", role: "member" }, 400, "invalid_email", undefined],
        [{ email: `${"e".repeat(100_000)}@example.com`, role: "member" }, 400, "invalid_email", undefined],
        [{ email, role: "r".repeat(100_000) }, 404, "not_found", undefined],
      ] as const) {
        const answer = await invite(team.secret, body);
        assert.deepEqual([answer.status, answer.body.error], [status, error], JSON.stringify(body).slice(0, 80));
        if (msg !== undefined) assert.equal(answer.body.msg, msg);
      }
      const personal = await invite(member.secret, { email, role: "member" });
      assert.deepEqual([personal.status, personal.body.msg], [400, "User is a not a team member"]);
      const asTeam = await accept(team.secret, "x");
      assert.deepEqual([asTeam.status, asTeam.body.error], [403, "team_user_forbidden"]);
    });

    test("leaves no token in the database, and none in the audit log", async () => {
      const person = await app.caller();
      const token = await invited(person);
      const { rows } = await app.env.pool.query(
        "select t::text as row from team_invitations t union all select a::text from audit_events a",
      );
      assert.ok(!JSON.stringify(rows).includes(token));
    });
  });

  describe("a member's key", () => {
    test("with the role member rents and manages its own keys, and nothing of the team's", async () => {
      const secret = await join(app, team, await app.caller());
      for (const [method, path, body] of [
        ["GET", "/instances/"],
        ["GET", "/users/current/"],
        ["PUT", "/search/asks/", {}],
        ["POST", "/template/", { name: "t", image: "alpine" }],
        ["POST", "/auth/apikeys/", { name: "mine" }],
      ] as const) {
        assert.equal((await ask(app, secret, method, path, body)).status, 200, `${method} ${path}`);
      }
      for (const [method, path, body] of [
        ["GET", "/users/me/invoices/"],
        ["PUT", "/commands/transfer_credit/", { recipient: team.owner.email, amount: 1 }],
        ["GET", "/team/members/"],
        ["POST", "/team/invite/", { email: "x@example.com", role: "member" }],
        ["POST", "/team/roles/", { name: "r", permissions: { api: {} } }],
        ["PUT", "/team/", { team_name: "mine" }],
        ["PUT", "/users/", { taxinfo: "x" }],
        ["GET", "/endptjobs/"],
        ["GET", "/machines/"],
        ["POST", "/hosts/tokens/", { name: "rig" }],
        ["GET", "/audit_logs/"],
      ] as const) {
        assert.equal((await ask(app, secret, method, path, body)).status, 403, `${method} ${path}`);
      }
    });

    test("shows and deletes the member's own keys, never another's", async () => {
      const [one, other] = [await join(app, team, await app.caller()), await join(app, team, await app.caller())];
      const listOf = async (secret: string) =>
        (await done(app, secret, "GET", "/auth/apikeys/")).apikeys.map(({ id }: { id: number }) => id);
      const [own] = await listOf(one);
      for (const secret of [other, team.secret]) {
        assert.ok(!(await listOf(secret)).includes(own));
        assert.equal((await ask(app, secret, "GET", `/auth/apikeys/${own}/`)).status, 404);
        assert.equal((await ask(app, secret, "DELETE", `/auth/apikeys/${own}/`)).status, 404);
      }
      assert.equal(await statusWith(one), 200);
    });

    test("can be created again with the person's own key, within that key and the role", async () => {
      const person = await app.caller();
      await join(app, team, person);
      const body = { name: "again", team_id: team.id };
      const { key, id } = await done(app, person.secret, "POST", "/auth/apikeys/", body);
      assert.equal((await done(app, key, "GET", "/users/current/")).id, team.id);
      assert.equal((await ask(app, key, "GET", "/team/members/")).status, 403);
      const own = (await done(app, person.secret, "GET", "/auth/apikeys/")).apikeys;
      assert.ok(
        own.every((one: { id: number }) => one.id !== id),
        "it is no key of the person's account",
      );
      const stranger = await app.caller();
      const other = await aTeam(app, await app.caller());
      for (const [secret, teamId, status] of [
        [stranger.secret, team.id, 404],
        [stranger.secret, ABSENT, 404],
        [stranger.secret, stranger.id, 404],
        [person.secret, other.id, 404],
        [key, other.id, 403],
      ] as const) {
        const answer = await ask(app, secret, "POST", "/auth/apikeys/", { name: "n", team_id: teamId });
        assert.equal(answer.status, status, answer.text);
      }
    });
  });

  describe("leaving", () => {
    const leave = (secret: string, id: number) => ask(app, secret, "DELETE", `/teams/${id}/membership/`);

    test("ends the member's own keys of the team, and is in both audit logs", async () => {
      const person = await app.caller();
      const key = await join(app, team, person);
      for (const secret of [key, team.secret])
        assert.equal((await leave(secret, team.id)).status, 403, "a key of a team");
      assert.equal((await leave(person.secret, team.id)).status, 200);
      assert.deepEqual([await statusWith(key), await statusWith(person.secret)], [401, 200]);
      assert.equal((await leave(person.secret, team.id)).body.error, "no_such_team");
      const { rows } = await app.env.pool.query(
        "select user_id from audit_events where action = 'api.team.leave' and (arguments->>'team_id')::integer = $1 order by id",
        [team.id],
      );
      assert.deepEqual(
        rows.map(({ user_id: id }) => id),
        [person.id, team.id],
      );
    });

    test("is refused for the owner, who is always one", async () => {
      const refused = await leave(team.owner.secret, team.id);
      assert.deepEqual([refused.status, refused.body.error], [403, "owner_stays"]);
      assert.equal((await leave((await app.caller()).secret, team.id)).status, 404);
    });
  });

  describe("removing a member", () => {
    test("ends the member's keys of the team at once, and no key of the member's own", async () => {
      const person = await app.caller();
      const secret = await join(app, team, person);
      const { key: second } = await done(app, secret, "POST", "/auth/apikeys/", { name: "second" });
      assert.deepEqual([await statusWith(secret), await statusWith(second)], [200, 200]);
      const answer = await ask(app, team.secret, "DELETE", `/team/members/${person.id}/`);
      assert.deepEqual(answer.body, { status: "success", message: "User removed from the team." });
      assert.deepEqual([await statusWith(secret), await statusWith(second)], [401, 401]);
      assert.equal(await statusWith(person.secret), 200);
      assert.deepEqual((await done(app, person.secret, "GET", "/teams/")).teams, []);
      const back = await join(app, team, person);
      assert.deepEqual([await statusWith(secret), await statusWith(back)], [401, 200]);
    });

    test("while the member makes another key leaves no key that works", async () => {
      for (let round = 0; round < 5; round += 1) {
        const person = await app.caller();
        const secret = await join(app, team, person);
        const [made] = await Promise.all([
          ask(app, secret, "POST", "/auth/apikeys/", { name: "last" }),
          done(app, team.secret, "DELETE", `/team/members/${person.id}/`),
        ]);
        assert.ok([200, 401, 404].includes(made.status), made.text);
        if (made.status !== 200) continue;
        assert.equal(await statusWith(made.body.key), 401);
        // No key is left that would work again with a new membership.
        const live = "select from api_keys where user_id = $1 and member_id = $2 and deleted_at is null";
        assert.equal((await app.env.pool.query(live, [team.id, person.id])).rows.length, 0);
      }
    });

    test("is refused for the owner, a stranger, and a member of another team", async () => {
      const other = await aTeam(app, await app.caller());
      const stranger = await app.caller();
      await join(app, other, stranger);
      const owner = await ask(app, team.secret, "DELETE", `/team/members/${team.owner.id}/`);
      assert.deepEqual([owner.status, owner.body.msg], [403, "Cannot remove the team owner from the team"]);
      const bodies = new Set<string>();
      for (const id of [stranger.id, ABSENT, 3_000_000_000, "x", "0", "me"]) {
        const answer = await ask(app, team.secret, "DELETE", `/team/members/${id}/`);
        assert.deepEqual(
          [answer.status, answer.body.status, answer.body.message],
          [404, "failure", "No user was removed from the team."],
        );
        bodies.add(JSON.stringify({ ...answer.body, request_id: "" }));
      }
      assert.equal(bodies.size, 1);
    });
  });

  test("without a key of a team there is no team", async () => {
    const { secret } = await app.caller();
    for (const [method, path, body] of [
      ["GET", "/team/members/"],
      ["GET", "/team/roles/"],
      ["GET", "/team/roles-full/"],
      ["GET", "/team/roles/member/"],
      ["GET", "/team/apikeys/"],
      ["DELETE", "/team/members/1/"],
      ["POST", "/team/roles/", { name: "r", permissions: { api: {} } }],
      ["PUT", "/team/members/1/roles/", { role: "member" }],
      ["PUT", "/team/transfer/", { user_id: 1 }],
    ] as const) {
      const answer = await ask(app, secret, method, path, body);
      assert.deepEqual([answer.status, answer.body.error], [404, "not_found"], `${method} ${path}`);
    }
  });
});
