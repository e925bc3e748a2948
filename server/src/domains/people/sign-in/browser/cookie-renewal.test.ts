// The value of a session's cookie changes while it is used, and an old copy of it ends the session.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { browse, cookieOf, signInBrowser } from "../../../../../../test/support/browser.ts";
import type { TestAnswer } from "../../../../../../test/support/network/http.ts";
import { outcome, PASSWORD, signUp } from "../../../../../../test/support/second-factors.ts";

const ME = "/api/v0/users/current/";
const CONSOLE = { "x-berth-console": "1" };
const TEN_MINUTES_MS = 600_000;
const GRACE_MS = 60_000;
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

const isGiven = ({ headers }: TestAnswer) => headers["set-cookie"] !== undefined;
const look = (app: TestApp, cookie: string) => browse(app, cookie, { url: ME });

test("the cookie of a session is renewed while it is used, and an old copy ends the session", async (t) => {
  const app = await testApp(t);
  const { env, clock } = app;
  const other = await testApp(t, { env, clock });
  const person = await signUp(app);
  const credentials = { username: person.email, password: PASSWORD };
  const reused = async () => {
    const { rows } = await env.pool.query(
      "select (select count(*)::integer from notices where kind = 'client:session_reused') as told, (select count(*)::integer from audit_events where action = 'api.session.reuse') as noted",
    );
    return [rows[0].told, rows[0].noted];
  };

  await t.test("fifty requests at once to two servers get one new value, and none is signed out", async () => {
    const first = await signInBrowser(app, credentials);
    assert.ok(!isGiven(await look(app, first)), "a young value stays");
    assert.ok(!isGiven(await look(other, first)));
    clock.advance(TEN_MINUTES_MS);
    const servers = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? app : other));
    const answers = await Promise.all(servers.map((server) => look(server, first)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    const values = new Set(answers.map(cookieOf));
    assert.equal(values.size, 1);
    const second = [...values][0] ?? "";
    assert.notEqual(second, first);
    assert.match(String(answers[0]?.headers["set-cookie"]), /; HttpOnly; Path=\/; SameSite=Lax; Max-Age=604200$/);

    const late = await Promise.all(servers.flatMap((server) => [look(server, first), look(server, second)]));
    assert.deepEqual([...new Set(late.map(({ status }) => status))], [200], "two tabs, one of them late");
    clock.advance(GRACE_MS);
    for (const server of [app, other]) assert.equal((await look(server, second)).status, 200);
    assert.deepEqual(await reused(), [0, 0]);
  });

  await t.test("an answer that was lost costs nothing: the value before counts until the new one is used", async () => {
    const first = await signInBrowser(app, credentials);
    clock.advance(TEN_MINUTES_MS);
    const lost = cookieOf(await look(app, first));
    clock.advance(TEN_MINUTES_MS - 1);
    assert.equal(cookieOf(await look(other, first)), lost);
    assert.ok(!isGiven(await look(other, lost)));
  });

  await t.test("a copy that is used later ends the session for both, tells its person once, and is noted", async () => {
    const stolen = await signInBrowser(app, credentials);
    clock.advance(TEN_MINUTES_MS);
    const renewed = cookieOf(await look(app, stolen));
    assert.equal((await look(app, renewed)).status, 200);
    clock.advance(GRACE_MS);
    const used = await Promise.all([look(other, stolen), look(app, stolen), look(other, stolen)]);
    for (const answer of used) assert.deepEqual(outcome(answer), [401, "session_over"]);
    await app.settled();
    for (const server of [app, other]) assert.deepEqual(outcome(await look(server, renewed)), [401, "session_over"]);
    assert.deepEqual(await reused(), [1, 1]);
    const { body } = await app.call({ url: "/api/v0/notices/", secret: person.secret });
    assert.match(body.notices[0].message, /used a cookie of session \d+ that your browser had replaced/);
  });

  await t.test("a thief who renews it first is found out when its person comes back", async () => {
    const stolen = await signInBrowser(app, credentials);
    clock.advance(TEN_MINUTES_MS);
    const thiefs = cookieOf(await look(app, stolen));
    await look(app, thiefs);
    clock.advance(TEN_MINUTES_MS);
    assert.equal((await look(app, stolen)).status, 401);
    assert.equal((await look(app, thiefs)).status, 401);
  });

  await t.test("somebody who knows the database cannot make a value, and a made-up one ends the session", async () => {
    const cookie = await signInBrowser(app, credentials);
    const { rows } = await env.pool.query("select encode(salt, 'base64') as salt from session_cookies limit 1");
    const made = `${cookie}.${String(rows[0].salt).replaceAll(/[+/=]/g, "")}`;
    assert.equal((await look(app, made)).status, 401);
    assert.equal((await look(app, cookie)).status, 401);
  });

  await t.test("a gain of rights renews it at the next request, also in another session", async () => {
    const [mine, others] = [await signInBrowser(app, credentials), await signInBrowser(app, credentials)];
    const authorize = { method: "POST", url: "/api/v0/tfa/authorize-new-method/" } as const;
    const done = await browse(app, mine, { ...authorize, headers: CONSOLE, body: { password: PASSWORD } });
    assert.equal(done.status, 200, done.text);
    await Promise.all([app.settled(), other.settled()]);
    for (const cookie of [mine, others]) assert.ok(isGiven(await look(other, cookie)));
  });

  await t.test("a repeated change gets its first answer, also with the next value", async () => {
    const first = await signInBrowser(app, credentials);
    const make = (cookie: string) =>
      browse(app, cookie, {
        method: "POST",
        url: "/api/v0/auth/apikeys/",
        body: { name: "once" },
        headers: { ...CONSOLE, "idempotency-key": "once" },
      });
    const made = await make(first);
    clock.advance(TEN_MINUTES_MS);
    const again = await make(cookieOf(await look(app, first)));
    assert.deepEqual([again.status, again.body.key], [200, made.body.key]);
  });

  await t.test("the list says browser, system, address and last use in words of ours", async () => {
    const cookie = await signInBrowser(app, credentials);
    clock.advance(GRACE_MS);
    const from = "192.0.2.77";
    const list = (agent: string) =>
      browse(app, cookie, { url: "/api/v0/auth/sessions/", headers: { "user-agent": agent }, from });
    const current = async (agent: string) => {
      await list(agent);
      await app.runLoop("write-ip-history");
      const { body } = await list(agent);
      const { browser, system, last_used_at, last_ipaddr } = body.sessions.find(
        (session: { readonly is_current: boolean }) => session.is_current,
      );
      return { browser, system, last_used_at, last_ipaddr };
    };
    const seen = { last_used_at: clock.now().getTime() / 1000, last_ipaddr: from };
    assert.deepEqual(await current(FIREFOX), { ...seen, browser: "Firefox", system: "Linux" });
    clock.advance(1_000);
    const hostile = "<script>alert(1)</script>";
    const later = { ...seen, last_used_at: seen.last_used_at + 1 };
    assert.deepEqual(await current(hostile), { ...later, browser: null, system: null });
  });
  await other.close();
});
