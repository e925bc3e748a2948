import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import {
  codeOf,
  nextCode,
  outcome,
  PASSWORD,
  signUp,
  withAuthenticator,
} from "../../../../../../test/support/second-factors.ts";
import { browse, cookieOf, signInBrowser } from "../../../../../../test/support/browser.ts";

const PATH = "/api/v0/auth/browser/";
const ME = "/api/v0/users/current/";
const WEEK_MS = 7 * 86_400_000;
const CONSOLE = { "x-berth-console": "1" };
const OTHER_SITE = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };

const newKey = (app: TestApp, cookie: string, headers: Readonly<Record<string, string>>) =>
  browse(app, cookie, { method: "POST", url: "/api/v0/auth/apikeys/", body: { name: "made" }, headers });

describe("a browser", () => {
  test("signs in with a password for a week, and gets no key that a script could read", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const answer = await app.call({ method: "POST", url: PATH, body: { username: person.email, password: PASSWORD } });
    assert.deepEqual([answer.status, answer.body.id], [200, person.id]);
    assert.equal(answer.body.api_key ?? answer.body.session_key, undefined);
    const header = String(answer.headers["set-cookie"]);
    assert.match(header, /^berth_session=[\w.-]+; HttpOnly; Path=\/; SameSite=Lax; Max-Age=604800$/);
    const cookie = cookieOf(answer);
    assert.ok(!answer.text.includes(cookie));
    assert.equal((await browse(app, cookie, { url: ME })).body.id, person.id);
    const asKey = await app.call({ url: ME, secret: cookie });
    assert.deepEqual(outcome(asKey), [401, "auth_error"], "a cookie is no key");
    const asCookie = await browse(app, person.secret, { url: ME });
    assert.deepEqual(outcome(asCookie), [401, "session_over"], "a key is no cookie");
    app.clock.advance(WEEK_MS);
    assert.deepEqual(outcome(await browse(app, cookie, { url: ME })), [401, "session_over"]);
    const again = await browse(app, cookie, {
      method: "POST",
      url: PATH,
      body: { username: person.name, password: PASSWORD },
    });
    assert.equal(again.status, 200, "a session that is over stops no sign-in");
    assert.notEqual(cookieOf(again), cookie, "the value that a browser brings is not adopted");
  });

  test("signs in with a second factor, and only with it", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    nextCode(app);
    const first = await app.call({ method: "POST", url: PATH, body: { username: person.name, password: PASSWORD } });
    assert.deepEqual([first.body.msg, first.headers["set-cookie"]], ["2fa_required", undefined]);
    const wrong = { tfa_method: "totp", code: "000000", secret: first.body.secret };
    assert.deepEqual(outcome(await app.call({ method: "POST", url: `${PATH}tfa/`, body: wrong })), [
      400,
      "2fa_verification_failed",
    ]);
    const right = { ...wrong, code: codeOf(app, person.app) };
    const second = await app.call({ method: "POST", url: `${PATH}tfa/`, body: right });
    assert.deepEqual([second.status, second.body.api_key, second.body.session_key], [200, undefined, undefined]);
    const sessions = await browse(app, cookieOf(second), { url: "/api/v0/auth/sessions/" });
    assert.equal(sessions.body.sessions[0].has_tfa, true);
    assert.equal((await app.call({ method: "POST", url: `${PATH}tfa/`, body: right })).status, 400, "once");
  });

  test("signs in with an API key, may do no more than it, and is out when the key is deleted", async (t) => {
    const app = await testApp(t);
    const [narrow, wide] = [await app.caller({ permissions: { api: { user_read: {} } } }), await app.caller()];
    const cookie = await signInBrowser(app, { api_key: narrow.secret });
    assert.equal((await browse(app, cookie, { url: ME })).body.id, narrow.id);
    assert.deepEqual(outcome(await newKey(app, cookie, CONSOLE)), [403, "not_authorized"]);
    const other = await signInBrowser(app, { api_key: wide.secret });
    assert.equal((await newKey(app, other, CONSOLE)).status, 200);
    await app.call({ method: "DELETE", url: `/api/v0/auth/apikeys/${wide.key.id}/`, secret: wide.secret });
    assert.deepEqual(outcome(await browse(app, other, { url: ME })), [401, "session_over"]);
    const wrong = await app.call({ method: "POST", url: PATH, body: { api_key: wide.secret } });
    assert.deepEqual(outcome(wrong), [401, "auth_error"]);
    const both = { api_key: narrow.secret, username: "a", password: "b" };
    assert.deepEqual(outcome(await app.call({ method: "POST", url: PATH, body: both })), [400, "invalid_args"]);
  });

  test("that signed in by a key which demands a second factor destroys nothing", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    const body = { name: "careful", demands_tfa: true };
    const key = await app.call({ method: "POST", url: "/api/v0/auth/apikeys/", secret: person.secret, body });
    const cookie = await signInBrowser(app, { api_key: key.body.key });
    const call = { method: "DELETE", url: `/api/v0/auth/apikeys/${key.body.id}/`, headers: CONSOLE } as const;
    assert.deepEqual(outcome(await browse(app, cookie, call)), [401, "tfa_required"]);
  });

  test("signs out, frozen or not, and the cookie goes although the session is over", async (t) => {
    const app = await testApp(t);
    const [person, admin] = [await signUp(app), await aCaller(app.env.database, { isAdmin: true })];
    const cookie = await signInBrowser(app, { username: person.name, password: PASSWORD });
    const freeze = { reason: "looks odd" };
    await app.call({
      method: "POST",
      url: `/api/v0/admin/users/${person.id}/freeze/`,
      secret: admin.secret,
      body: freeze,
    });
    const out = { method: "DELETE", url: PATH } as const;
    assert.deepEqual(outcome(await browse(app, cookie, out)), [403, "cross_site_request"]);
    assert.equal((await browse(app, cookie, { url: ME })).status, 200);
    for (const _ of ["open", "ended"]) {
      const answer = await browse(app, cookie, { ...out, headers: CONSOLE });
      assert.equal(answer.status, 200);
      assert.match(String(answer.headers["set-cookie"]), /^berth_session=; .*Max-Age=0$/);
      assert.deepEqual(outcome(await browse(app, cookie, { url: ME })), [401, "session_over"]);
    }
    assert.equal((await app.call(out)).headers["set-cookie"], undefined);
  });

  test("is told how people sign in and up here", async (t) => {
    const app = await testApp(t, { simulatedHosts: 3 });
    const { body } = await app.call({ url: `${PATH}settings/` });
    assert.match(body.version, /^\d+\.\d+\.\d+/);
    const { version: _version, ...others } = body;
    assert.deepEqual(others, { success: true, sign_up: "open", has_mail: false, sso: [], is_simulated: true });
  });
});

describe("a cookie", () => {
  test("changes something only for the console of this server", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const cookie = await signInBrowser(app, { username: person.name, password: PASSWORD });
    const refused = [
      {},
      { ...CONSOLE, origin: "https://evil.example" },
      { ...CONSOLE, origin: "null" },
      { ...CONSOLE, origin: "http://localhost.evil.example" },
      { ...CONSOLE, origin: "http://localhost:1" },
      { ...CONSOLE, "sec-fetch-site": "cross-site" },
      { ...CONSOLE, "sec-fetch-site": "same-site" },
      OTHER_SITE,
    ];
    for (const headers of refused) {
      assert.deepEqual(
        outcome(await newKey(app, cookie, headers)),
        [403, "cross_site_request"],
        JSON.stringify(headers),
      );
    }
    const keys = await browse(app, cookie, { url: "/api/v0/auth/apikeys/" });
    assert.equal(keys.body.apikeys.length, 1, "nothing was done");
    const own = { ...CONSOLE, origin: "http://localhost:80", "sec-fetch-site": "same-origin" };
    assert.equal((await newKey(app, cookie, own)).status, 200);
    assert.equal(
      (await newKey(app, cookie, { ...own, host: "localhost", origin: "https://localhost" })).status,
      200,
      "TLS ends before",
    );
    assert.equal((await browse(app, cookie, { url: ME, headers: OTHER_SITE })).status, 200, "a read changes nothing");
    const signIn = { method: "POST", url: PATH, body: { api_key: person.secret }, headers: OTHER_SITE } as const;
    assert.deepEqual(outcome(await app.call(signIn)), [403, "cross_site_request"], "nobody signs somebody else in");
  });

  test("that comes with a read that changes something is refused as other changes are", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const cookie = await signInBrowser(app, { username: person.name, password: PASSWORD });
    const url = "/api/v0/team/invite/no-such-token/";
    assert.deepEqual(outcome(await browse(app, cookie, { url })), [403, "cross_site_request"]);
    assert.equal((await browse(app, cookie, { url, headers: CONSOLE })).status, 404);
  });

  test("that is doubled, huge, empty or hostile is refused where a caller is needed, and ignored where none is", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const cookie = await signInBrowser(app, { username: person.name, password: PASSWORD });
    const unusable = [
      `berth_session=${cookie}; berth_session=${cookie}`,
      `berth_session=${cookie};berth_session=`,
      "berth_session",
      "berth_session=",
      `berth_session=${"a".repeat(9000)}`,
      'berth_session="a"',
      "berth_session=a\tb",
      "berth_session=a%0d%0aset-cookie: x=y",
    ];
    for (const header of unusable) {
      const headers = { cookie: header };
      assert.deepEqual(outcome(await app.call({ url: ME, headers })), [401, "session_ambiguous"], header.slice(0, 60));
      const body = { username: person.name, password: PASSWORD };
      const signIn = await app.call({ method: "POST", url: PATH, headers, body });
      assert.equal(signIn.status, 200);
      const search = await app.call({ method: "POST", url: "/api/v0/bundles/", headers, body: {} });
      assert.equal(search.status, 200, "a search needs no caller");
    }
    const among = { cookie: `x=1; xberth_session=2; berth_session_=3; berth_session=${cookie}; y` };
    assert.equal((await app.call({ url: ME, headers: among })).body.id, person.id);
    const never = `berth_session=${"b".repeat(60)}`;
    assert.deepEqual(outcome(await app.call({ url: ME, headers: { cookie: never } })), [401, "session_over"]);
    assert.deepEqual(outcome(await app.call({ url: ME })), [401, "auth_error"]);
  });

  test("does not count beside a key, in any place where a key may be", async (t) => {
    const app = await testApp(t);
    const [person, other] = [await signUp(app), await app.caller()];
    const cookie = await signInBrowser(app, { username: person.name, password: PASSWORD });
    const headers = { cookie: `berth_session=${cookie}` };
    assert.equal((await app.call({ url: ME, headers, secret: other.secret })).body.id, other.id);
    assert.equal((await app.call({ url: `${ME}?api_key=${other.secret}`, headers })).body.id, other.id);
    assert.equal((await app.call({ url: ME, headers, secret: "wrong" })).status, 401);
    const made = {
      method: "POST",
      url: "/api/v0/endptjobs/",
      body: { endpoint_name: "e", api_key: other.secret },
    } as const;
    assert.equal(
      (await app.call({ ...made, headers })).status,
      200,
      "a key in the body needs no header of the console",
    );
    const own = await app.call({ url: "/api/v0/endptjobs/", secret: other.secret });
    assert.equal(own.body.results.length, 1);
    const { body } = { body: { endpoint_name: "mine" } };
    assert.deepEqual(outcome(await app.call({ ...made, body, headers })), [403, "cross_site_request"]);
    assert.equal((await app.call({ ...made, body, headers: { ...headers, ...CONSOLE } })).status, 200);
  });

  test("repeats a change under one Idempotency-Key", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const cookie = await signInBrowser(app, { username: person.name, password: PASSWORD });
    const headers = { ...CONSOLE, "idempotency-key": "once" };
    const [first, second] = [await newKey(app, cookie, headers), await newKey(app, cookie, headers)];
    assert.deepEqual([first.status, second.body.key], [200, first.body.key]);
  });
});

describe("a person who is signed in", () => {
  const toTeam = (app: TestApp, cookie: string, teamId: number | null, headers = CONSOLE) =>
    browse(app, cookie, { method: "POST", url: `${PATH}team/`, body: { team_id: teamId }, headers });

  test("acts for a team and for themselves again, in sessions that last no longer than the first", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const team = await app.call({
      method: "POST",
      url: "/api/v0/team/",
      secret: person.secret,
      body: { team_name: "lab" },
    });
    const own = await signInBrowser(app, { username: person.name, password: PASSWORD });
    app.clock.advance(WEEK_MS - 60_000);
    const switched = await toTeam(app, own, team.body.id);
    assert.deepEqual([switched.status, switched.body.id], [200, team.body.id]);
    assert.match(String(switched.headers["set-cookie"]), /Max-Age=60$/);
    const asTeam = cookieOf(switched);
    assert.deepEqual(outcome(await browse(app, own, { url: ME })), [401, "session_over"], "the first one has ended");
    const back = await toTeam(app, asTeam, null);
    assert.deepEqual([back.status, back.body.id], [200, person.id]);
    assert.deepEqual(outcome(await browse(app, asTeam, { url: ME })), [401, "session_over"]);
    app.clock.advance(60_000);
    assert.deepEqual(outcome(await toTeam(app, cookieOf(back), team.body.id)), [401, "session_over"]);
  });

  test("acts for no team of others, and not from another site or without a session", async (t) => {
    const app = await testApp(t);
    const [person, stranger] = [await signUp(app), await app.caller()];
    const team = await app.call({
      method: "POST",
      url: "/api/v0/team/",
      secret: stranger.secret,
      body: { team_name: "x" },
    });
    const cookie = await signInBrowser(app, { username: person.name, password: PASSWORD });
    assert.deepEqual(outcome(await toTeam(app, cookie, team.body.id)), [404, "no_such_team"]);
    assert.deepEqual(outcome(await toTeam(app, cookie, stranger.id)), [404, "no_such_team"], "a person is no team");
    assert.equal((await browse(app, cookie, { url: ME })).body.id, person.id, "the session goes on");
    const plain = { method: "POST", url: `${PATH}team/`, body: { team_id: null } } as const;
    assert.deepEqual(outcome(await browse(app, cookie, plain)), [403, "cross_site_request"]);
    const other = { ...plain, headers: { ...CONSOLE, ...OTHER_SITE } };
    assert.deepEqual(outcome(await browse(app, cookie, other)), [403, "cross_site_request"]);
    const withKey = await app.call({ ...plain, headers: CONSOLE, secret: stranger.secret });
    assert.deepEqual(outcome(withKey), [401, "session_over"], "a key is no session");
    for (const body of [{ team_id: "one" }, { team_id: 0 }, { team_id: -1 }, { team_id: 1.5 }]) {
      const answer = await browse(app, cookie, { ...plain, headers: CONSOLE, body });
      assert.equal(answer.status, 400, JSON.stringify(body));
    }
  });

  test("by an API key acts for the account of that key alone", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const team = await app.call({
      method: "POST",
      url: "/api/v0/team/",
      secret: person.secret,
      body: { team_name: "lab" },
    });
    const ofTeam = await signInBrowser(app, { api_key: team.body.key });
    assert.deepEqual(outcome(await toTeam(app, ofTeam, null)), [403, "not_authorized"]);
    const ofPerson = await signInBrowser(app, { api_key: person.secret });
    assert.deepEqual(outcome(await toTeam(app, ofPerson, team.body.id)), [403, "not_authorized"]);
  });
});
