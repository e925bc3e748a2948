import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { codeOf, done, PASSWORD, signUp, withAuthenticator } from "../../../../../../test/support/second-factors.ts";
import { anIssuer, AT_PUBLIC_URL, TestBrowser } from "../../../../../../test/support/sign-in/issuer.ts";
import { aTeam } from "../../../../../../test/support/teams.ts";
import type { SsoSettings } from "./settings.ts";

const MINUTE_MS = 60_000;
const ADMINS = { kind: "admin" } as const;

const berth = (t: TestContext, sso: SsoSettings, more: Parameters<typeof testApp>[1] = {}) =>
  testApp(t, { ...AT_PUBLIC_URL, sso, ...more });

const prove = (app: TestApp, id: number) =>
  app.env.pool.query("update users set email_proven_at = now(), email_proven_by = 'mail' where id = $1", [id]);

describe("single sign-on", () => {
  test("opens one account for one person of the issuer, also when their address changes, on all servers", async (t) => {
    const issuer = await anIssuer(t);
    const app = await berth(t, issuer.settings);
    const second = await berth(t, issuer.settings, { env: app.env, clock: app.clock });
    issuer.people.set("ada", { email: "Ada@corp.example", email_verified: true, name: "Ada Lovelace" });
    const browser = new TestBrowser();
    const back = await browser.logIn(app, "ada");
    const end = await browser.berth(second, `${back.pathname}${back.search}`);
    assert.deepEqual([end.status, end.location], [302, "/"]);
    const account = await browser.account(app);
    assert.deepEqual(
      [account.username, account.fullname, account.email, account.email_verified, account.tfa_status],
      ["Ada Lovelace", "Ada Lovelace", "ada@corp.example", true, "disabled"],
    );
    issuer.people.set("ada", { email: "countess@corp.example", email_verified: true });
    const later = new TestBrowser();
    assert.equal(await later.signIn(second, "ada"), "/");
    assert.deepEqual([(await later.account(second)).id, (await later.account(app)).email], [account.id, account.email]);
    issuer.people.set("bob", { email: "ada@corp.example", email_verified: false });
    assert.equal(await new TestBrowser().signIn(app, "bob"), "/sign-in?error=sso_address_unverified");
    issuer.people.set("bob", { email: "ada@corp.example", email_verified: true });
    assert.equal(
      await new TestBrowser().signIn(app, "bob"),
      "/sign-in?error=sso_other_person",
      "an address changed hands",
    );
    const settings = await app.call({ url: "/api/v0/auth/browser/settings/" });
    assert.deepEqual(settings.body.sso, [{ id: "oidc", name: "Example Corp" }]);
    await app.env.pool.query("update users set deleted_at = now() where id = $1", [account.id]);
    assert.equal(await later.signIn(app, "ada"), "/");
    assert.notEqual((await later.account(app)).id, account.id, "a deleted account stays deleted");
    await second.close();
  });

  test("gives an address that an account only claims to the person for whom the issuer vouches, in an account of their own", async (t) => {
    const issuer = await anIssuer(t);
    const app = await berth(t, issuer.settings);
    const squatter = await signUp(app);
    issuer.people.set("holder", { email: squatter.email, email_verified: true });
    const browser = new TestBrowser();
    assert.equal(await browser.signIn(app, "holder"), "/");
    const account = await browser.account(app);
    assert.notEqual(
      account.id,
      squatter.id,
      "who claimed the address does not keep a door to the account of its holder",
    );
    assert.deepEqual([account.email, account.email_verified], [squatter.email, true]);
    const kept = await app.call({ url: "/api/v0/users/current/", secret: squatter.secret });
    assert.deepEqual([kept.body.id, kept.body.email_verified], [squatter.id, false]);
    assert.match(kept.body.email, /@unproven\.invalid$/);
    const { body } = await app.call({ url: "/api/v0/notices/", secret: squatter.secret });
    assert.equal(body.notices[0].subject, `${squatter.email} is no longer your address`);
    const again = { username: squatter.email, password: PASSWORD };
    const signIn = await app.call({ method: "POST", url: "/api/v0/auth/browser/", body: again });
    assert.equal(signIn.status, 401, "the password of the account that claimed it opens nothing under this address");
    const administrator = await signUp(app);
    await app.env.pool.query("update users set is_admin = true where id = $1", [administrator.id]);
    issuer.people.set("climber", { email: administrator.email, email_verified: true });
    assert.equal(await new TestBrowser().signIn(app, "climber"), "/sign-in?error=sso_administrator");
  });

  test("joins an account by its address only where both have proven it, and none of an administrator", async (t) => {
    const issuer = await anIssuer(t);
    const app = await berth(t, issuer.settings);
    const person = await signUp(app);
    issuer.people.set("liar", { email: person.email, email_verified: false });
    assert.equal(await new TestBrowser().signIn(app, "liar"), "/sign-in?error=sso_address_unverified");
    await prove(app, person.id);
    issuer.people.set("liar", { email: person.email.toUpperCase(), email_verified: false });
    assert.equal(await new TestBrowser().signIn(app, "liar"), "/sign-in?error=sso_address_unverified");
    issuer.people.set("liar", { email: person.email });
    assert.equal(await new TestBrowser().signIn(app, "liar"), "/sign-in?error=sso_address_unverified");
    issuer.people.set("owner", { email: person.email.toUpperCase(), email_verified: true });
    const browser = new TestBrowser();
    assert.equal(await browser.signIn(app, "owner"), "/");
    assert.equal((await browser.account(app)).id, person.id);
    const administrator = await signUp(app);
    await prove(app, administrator.id);
    await app.env.pool.query("update users set is_admin = true where id = $1", [administrator.id]);
    issuer.people.set("climber", { email: administrator.email, email_verified: true });
    assert.equal(await new TestBrowser().signIn(app, "climber"), "/sign-in?error=sso_administrator");
    issuer.people.set("nameless", {});
    assert.equal(await new TestBrowser().signIn(app, "nameless"), "/", "a person without an address is a person");
  });

  test("makes no account where accounts are made by invitation, and asks for a second factor where there is one", async (t) => {
    const issuer = await anIssuer(t, {}, { isPublicClient: true });
    const app = await berth(t, issuer.settings, { isSignupOpen: false });
    issuer.people.set("stranger", { email: "stranger@corp.example", email_verified: true });
    assert.equal(await new TestBrowser().signIn(app, "stranger"), "/sign-in?error=sso_no_account");
    const open = await berth(t, issuer.settings, { env: app.env, clock: app.clock });
    const person = await withAuthenticator(open);
    await prove(app, person.id);
    issuer.people.set("known", { email: person.email, email_verified: true });
    const browser = new TestBrowser();
    const page = await browser.signIn(app, "known");
    const secret = /^\/sign-in#second_factor=([\w-]+)$/.exec(page)?.[1];
    assert.ok(secret !== undefined, page);
    const body = { tfa_method: "totp", code: codeOf(app, person.app, 1), secret };
    const answer = await app.call({ method: "POST", url: "/api/v0/auth/browser/tfa/", body });
    assert.deepEqual([answer.status, answer.body.id], [200, person.id], answer.text);
    await open.close();
  });

  test("gives the roles of groups, and takes away what a group gave and no longer gives", async (t) => {
    const groupRoles = new Map<
      string,
      SsoSettings["groupRoles"] extends ReadonlyMap<string, infer Roles> ? Roles : never
    >();
    const issuer = await anIssuer(t, { groupRoles });
    const app = await berth(t, issuer.settings);
    const owner = await app.caller();
    const [one, two] = [await aTeam(app, owner), await aTeam(app, owner)];
    const roleIn = (team: { readonly id: number }, role: string) =>
      ({ kind: "team", teamId: asId<UserId>(team.id), role }) as const;
    groupRoles.set("admins", [ADMINS]);
    groupRoles.set("leads", [roleIn(one, "Manager")]);
    groupRoles.set("staff", [roleIn(one, "member"), roleIn(two, "member"), roleIn({ id: 2_000_000_000 }, "member")]);
    groupRoles.set("dreamers", [roleIn(one, "no such role")]);
    const membersOf = async (team: { readonly secret: string }) => {
      const members = await done(app, team.secret, "GET", "/team/members/");
      return new Map<string, string>(
        members.map((member: Record<string, unknown>) => [String(member["username"]), JSON.stringify(member)]),
      );
    };
    const enter = async (groups: readonly string[]) => {
      issuer.people.set("ada", { preferred_username: "ada", groups });
      const browser = new TestBrowser();
      assert.equal(await browser.signIn(app, "ada"), "/");
      const { rows } = await app.env.pool.query("select id, is_admin from users where username = 'ada'");
      return {
        isAdmin: rows[0].is_admin,
        one: (await membersOf(one)).get("ada"),
        two: (await membersOf(two)).get("ada"),
      };
    };
    const first = await enter(["staff", "leads", "admins", "dreamers"]);
    assert.ok(
      first.isAdmin && /manager/i.test(first.one ?? "") && /member/i.test(first.two ?? ""),
      JSON.stringify(first),
    );
    const second = await enter(["staff"]);
    assert.ok(!second.isAdmin && !/manager/i.test(second.one ?? "manager"), JSON.stringify(second));
    const third = await enter([]);
    assert.deepEqual([third.one, third.two], [undefined, undefined]);
    assert.ok((await membersOf(one)).size > 0, "others stay");

    const { rows } = await app.env.pool.query("select id from users where username = 'ada'");
    await app.env.pool.query(
      "insert into team_members select $1, $2, id, now() from team_roles where team_id = $1 and identifier = 'manager'",
      [two.id, rows[0].id],
    );
    await app.env.pool.query("update users set is_admin = true where id = $1", [rows[0].id]);
    const invited = await enter(["staff", "admins"]);
    assert.ok(/manager/i.test(invited.two ?? ""), "the role that people gave stays");
    const left = await enter([]);
    assert.ok(left.isAdmin, "people made them an administrator, not a group");
    assert.deepEqual([left.one, /manager/i.test(left.two ?? "")], [undefined, true]);
    const audit = await app.env.pool.query(
      "select distinct action from audit_events where action like 'api.sso.%' order by 1",
    );
    assert.deepEqual(
      audit.rows.map((row) => row.action),
      [
        "api.sso.appoint_member",
        "api.sso.dismiss_member",
        "api.sso.make_administrator",
        "api.sso.new",
        "api.sso.unmake_administrator",
      ],
    );
  });

  test("comes back once, within ten minutes, in the browser that left, with the answer that was meant for it", async (t) => {
    const issuer = await anIssuer(t);
    const app = await berth(t, issuer.settings);
    issuer.people.set("ada", { email: "ada@corp.example", email_verified: true });
    const over = "/sign-in?error=sso_over";
    const browser = new TestBrowser();
    const back = await browser.logIn(app, "ada");
    const path = `${back.pathname}${back.search}`;
    assert.equal((await new TestBrowser().berth(app, path)).location, over, "another browser");
    for (const url of [back.pathname, `${back.pathname}?state=x&code=y`, `${back.pathname}?error=access_denied`]) {
      assert.equal((await browser.berth(app, url)).location, over, url);
    }
    assert.equal((await browser.berth(app, path)).location, "/", "nothing of this ended the sign-in of this browser");
    assert.equal((await browser.berth(app, path)).location, over, "a second time");
    const slow = new TestBrowser();
    const late = await slow.logIn(app, "ada");
    app.clock.advance(10 * MINUTE_MS);
    assert.equal((await slow.berth(app, `${late.pathname}${late.search}`)).location, over, "late");
    const denied = new TestBrowser();
    const start = await denied.berth(app, "/api/v0/auth/sso/start/");
    const state = new URL(start.location).searchParams.get("state");
    const iss = encodeURIComponent(issuer.settings.issuer.href.replace(/\/$/, ""));
    const refusal = await denied.berth(app, `${back.pathname}?error=access_denied&state=${state}&iss=${iss}`);
    assert.equal(refusal.location, "/sign-in?error=sso_denied");
    const guess = new TestBrowser();
    const guessed = new URL((await guess.berth(app, "/api/v0/auth/sso/start/")).location).searchParams.get("state");
    const wrong = await guess.berth(app, `${back.pathname}?code=guessed&state=${guessed}&iss=${iss}`);
    assert.equal(wrong.location, over, "a code that the issuer never gave");
    const { rows } = await app.env.pool.query("select count(*)::int as count from sso_identities");
    assert.equal(rows[0].count, 1);
  });
});
