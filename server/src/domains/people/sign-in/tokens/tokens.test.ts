import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { browse, cookieOf, signInBrowser } from "../../../../../../test/support/browser.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { anSmtpServer } from "../../../../../../test/support/network/smtp-server.ts";
import { outcome, PASSWORD, signUp, withAuthenticator } from "../../../../../../test/support/second-factors.ts";
import { ask, done } from "../../../../../../test/support/teams.ts";

const PATH = "/api/v0/auth/browser/";
const ME = "/api/v0/users/current/";
const CONSOLE = { "x-berth-console": "1" };
const NEXT_PASSWORD = "wrong donkey charger clip";

describe("a link", () => {
  test("signs its person in once, of two clients at once exactly one, on another server too, for 15 minutes", async (t) => {
    const app = await testApp(t);
    const second = await testApp(t, { env: app.env, clock: app.clock });
    const admin = await aCaller(app.env.database, { isAdmin: true });
    const link = () => done(app, admin.secret, "POST", "/admin/sign_in_links/", {});
    const { token, path, user_id: id } = await link();
    assert.deepEqual([path, id], [`/sign-in#token=${token}`, admin.id]);
    const { rows } = await app.env.pool.query("select * from sign_in_tokens");
    assert.ok(!JSON.stringify(rows).includes(token), "only the hash is stored");
    const enter = (on: typeof app, text: string) => on.call({ method: "POST", url: PATH, body: { token: text } });
    const answers = await Promise.all([enter(app, token), enter(second, token)]);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 400]));
    const [winner] = answers.filter(({ status }) => status === 200);
    assert.ok(winner);
    assert.equal((await browse(app, cookieOf(winner), { url: ME })).body.id, admin.id);
    const late = await link();
    app.clock.advance(15 * 60_000);
    assert.deepEqual(outcome(await enter(app, late.token)), [400, "no_such_token"]);
    assert.deepEqual(outcome(await enter(app, "x")), [400, "no_such_token"]);
  });

  test("asks for the second factor of an account that has one, and is made by administrators only", async (t) => {
    const app = await testApp(t);
    const [admin, person] = [await aCaller(app.env.database, { isAdmin: true }), await withAuthenticator(app)];
    const { token } = await done(app, admin.secret, "POST", "/admin/sign_in_links/", { user_id: person.id });
    const answer = await app.call({ method: "POST", url: PATH, body: { token } });
    assert.deepEqual([answer.body.msg, answer.headers["set-cookie"]], ["2fa_required", undefined]);
    assert.equal((await ask(app, person.secret, "POST", "/admin/sign_in_links/", {})).status, 403);
  });
});

describe("an invitation", () => {
  test("is good for one account, of its address, unless it is revoked", async (t) => {
    const app = await testApp(t);
    const admin = await aCaller(app.env.database, { isAdmin: true });
    const invite = (body: object) => done(app, admin.secret, "POST", "/admin/invitations/", body);
    const join = (body: object) =>
      app.call({ method: "POST", url: `${PATH}sign-up/`, body: { password: PASSWORD, ...body } });
    const bound = await invite({ email: "hire@corp.example" });
    const other = { email: "other@corp.example", token: bound.token };
    assert.deepEqual(outcome(await join(other)), [400, "invalid_args"]);
    const joined = await join({ email: "Hire@corp.example", token: bound.token });
    assert.equal((await browse(app, cookieOf(joined), { url: ME })).body.username, "Hire");
    assert.deepEqual(outcome(await join({ email: "third@corp.example", token: bound.token })), [400, "no_such_token"]);
    const revoked = await invite({});
    await done(app, admin.secret, "DELETE", `/admin/invitations/${revoked.id}/`);
    assert.equal((await ask(app, admin.secret, "DELETE", `/admin/invitations/${revoked.id}/`)).status, 404);
    assert.deepEqual(outcome(await join({ email: "x@corp.example", token: revoked.token })), [400, "no_such_token"]);
    const list = await ask(app, admin.secret, "GET", "/admin/invitations/");
    assert.deepEqual(
      list.body.invitations.map((row: Record<string, unknown>) => [row["id"], row["user_id"]]),
      [[bound.id, joined.body.id]],
    );
    assert.ok(!list.text.includes(bound.token));
  });
});

describe("a password", () => {
  test("that is short, common or the name is refused with what to do", async (t) => {
    const app = await testApp(t);
    const weak = ["short", "Password123!", "qwertyuiop", "aaaaaaaaaaaa", "0987654321", "somebody12@corp.example"];
    for (const password of weak) {
      const body = { email: "somebody12@corp.example", password };
      const answer = await app.call({ method: "POST", url: `${PATH}sign-up/`, body });
      assert.deepEqual([...outcome(answer), answer.body.field], [400, "weak_password", "password"], password);
    }
  });

  test("is reset by a mailed link once: sessions end, a second factor stays, unknown addresses get the same answer", async (t) => {
    const smtp = await anSmtpServer(t);
    const mail = { smtpUrl: smtp.url, from: "Berth <berth@market.example>" };
    const app = await testApp(t, { notifications: { mail } });
    const [admin, person] = [await aCaller(app.env.database, { isAdmin: true }), await signUp(app)];
    const reset = (email: string) => app.call({ method: "POST", url: `${PATH}reset/`, body: { email } });
    const unproven = await reset(person.email);
    const proof = { email: person.email };
    await done(app, admin.secret, "POST", `/admin/users/${person.id}/prove_email/`, proof);
    const cookie = await signInBrowser(app, { username: person.email, password: PASSWORD });
    for (const email of [person.email, "nobody@corp.example"]) assert.equal((await reset(email)).text, unproven.text);
    await app.runLoop("send-mails");
    const texts = smtp.mails.filter(({ text }) => text.includes("Reset your password")).map(({ text }) => text);
    assert.equal(texts.length, 1);
    const token = /^ {2}([\w-]{43})/m.exec((texts[0] ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "="))?.[1];
    const confirm = (password: string) =>
      app.call({ method: "POST", url: `${PATH}reset/confirm/`, body: { token, password } });
    assert.deepEqual(outcome(await confirm("short")), [400, "weak_password"]);
    assert.equal((await confirm(NEXT_PASSWORD)).status, 200);
    assert.deepEqual(outcome(await confirm(NEXT_PASSWORD)), [400, "no_such_token"]);
    assert.equal((await browse(app, cookie, { url: ME })).status, 401);
    const old = await app.call({ method: "POST", url: PATH, body: { username: person.email, password: PASSWORD } });
    assert.equal(old.status, 401);
    await signInBrowser(app, { username: person.email, password: NEXT_PASSWORD });
  });

  test("is changed with the present one, and ends the other sessions", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const credentials = { username: person.email, password: PASSWORD };
    const [mine, other] = [await signInBrowser(app, credentials), await signInBrowser(app, credentials)];
    const change = (body: object) =>
      browse(app, mine, { method: "PUT", url: `${ME}password/`, headers: CONSOLE, body });
    for (const password of [undefined, "wrong"]) {
      assert.deepEqual(outcome(await change({ new_password: NEXT_PASSWORD, password })), [401, "wrong_password"]);
    }
    assert.equal((await change({ new_password: NEXT_PASSWORD, password: PASSWORD })).status, 200);
    assert.equal((await browse(app, mine, { url: ME })).status, 200);
    assert.equal((await browse(app, other, { url: ME })).status, 401);
    await signInBrowser(app, { ...credentials, password: NEXT_PASSWORD });
  });
});
