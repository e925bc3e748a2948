import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { Cleanups, closing } from "../../../../../../test/support/sign-in/closing.ts";
import { AT_PUBLIC_URL, TestBrowser } from "../../../../../../test/support/sign-in/issuer.ts";
import { aLyingIssuer, anotherKey, type LyingIssuer } from "../../../../../../test/support/sign-in/lying-issuer.ts";
import { until } from "../../../../../../test/support/until.ts";
import { ISSUER_TIMEOUT_MS } from "./issuer-client.ts";
import type { SsoSettings } from "./settings.ts";

const START = "/api/v0/auth/sso/start/";
const CALLBACK = "/api/v0/auth/sso/callback/";
const HOUR_SECONDS = 3_600;

describe("an issuer that lies or fails signs nobody in, and the person reads why", () => {
  const cleanups = new Cleanups();
  let app: TestApp;
  let issuer: LyingIssuer;
  before(async () => {
    issuer = await aLyingIssuer(cleanups);
    app = await testApp(cleanups, { ...AT_PUBLIC_URL, sso: issuer.settings });
  });
  after(() => cleanups.run());

  /** A server of its own, which knows nothing of the issuer yet. */
  const fresh = async (settings: Partial<SsoSettings> = {}) => {
    const made = await testApp(cleanups, {
      ...{ env: app.env, clock: app.clock },
      ...{ ...AT_PUBLIC_URL, sso: { ...issuer.settings, ...settings } },
    });
    return { start: async () => (await new TestBrowser().berth(made, START)).location, close: made.close };
  };

  const signIn = async (answer: Readonly<Record<string, string>> = {}, server: TestApp = app): Promise<string> => {
    const browser = new TestBrowser();
    const { searchParams } = new URL((await browser.berth(server, START)).location);
    issuer.nonce = searchParams.get("nonce") ?? "";
    const query = new URLSearchParams({ code: "code", state: searchParams.get("state") ?? "", ...answer });
    return (await browser.berth(server, `${CALLBACK}?${query.toString()}`)).location;
  };

  test("a token of another issuer, client, sign-in, key or time", async () => {
    const now = Math.floor(Date.now() / 1000);
    const untrusted = "/sign-in?error=sso_untrusted";
    const lies: readonly Readonly<Record<string, unknown>>[] = [
      { iss: "https://other.example" },
      { aud: "another-client" },
      { aud: ["berth", "another-client"], azp: "another-client" },
      { nonce: "of another sign-in" },
      { nonce: undefined },
      { exp: now - HOUR_SECONDS },
      { sub: undefined },
      { sub: "" },
      { sub: "x".repeat(300) },
      { iat: "yesterday" },
    ];
    for (const claims of lies) {
      issuer.claims = claims;
      assert.equal(await signIn(), untrusted, JSON.stringify(claims));
    }
    issuer.claims = {};
    issuer.signedBy = anotherKey();
    assert.equal(await signIn(), untrusted, "signed with another key");
    issuer.signedBy = undefined;
    assert.equal(await signIn({ iss: "https://other.example" }), untrusted, "an answer of another issuer");
    assert.equal(await signIn(), "/", "the truth is believed");
    const { rows } = await app.env.pool.query("select subject from sso_identities");
    assert.deepEqual(rows, [{ subject: "somebody" }]);
  });

  test("hostile names, addresses and groups are text, or nothing", async () => {
    const claims = {
      sub: `"><script>alert(1)</script>`,
      email: `x"@evil.example\r\nset-cookie: a=b`,
      email_verified: true,
      preferred_username: `<img src=x>\u0000${"y".repeat(300)}`,
      name: ["no", "text"],
      groups: { length: 5 },
    };
    issuer.claims = claims;
    assert.equal(await signIn(), "/");
    issuer.claims = {};
    const { rows } = await app.env.pool.query(
      "select username, fullname, email, email_proven_at from users where username like '<img%'",
    );
    assert.deepEqual([rows[0].username.length, rows[0].fullname, rows[0].email_proven_at], [64, "", null]);
    assert.match(rows[0].email, /^account-[0-9a-f]{24}@unproven\.invalid$/);
  });

  test("the answer at its token address is an error, no JSON, huge, a redirect, or cut off", async () => {
    const at = (path: string, status: number, headers: Readonly<Record<string, string>>, body: string | Buffer) => {
      issuer.answer = (request, response) => {
        if (request.url !== path) return false;
        response.writeHead(status, headers).end(body);
        return true;
      };
    };
    const json = { "content-type": "application/json" };
    at("/token", 400, json, `{"error": "invalid_grant"}`);
    assert.equal(await signIn(), "/sign-in?error=sso_over");
    at("/token", 401, json, `{"error": "invalid_client"}`);
    assert.equal(await signIn(), "/sign-in?error=sso_misconfigured");
    at("/token", 200, { "content-type": "text/html" }, "<html>");
    assert.equal(await signIn(), "/sign-in?error=sso_untrusted");
    at("/token", 200, json, "[".repeat(100_000));
    assert.equal(await signIn(), "/sign-in?error=sso_untrusted");
    at("/token", 500, json, "{}");
    assert.equal(await signIn(), "/sign-in?error=sso_unreachable");
    at("/token", 307, { location: "http://169.254.169.254/latest/meta-data/" }, "");
    assert.equal(await signIn(), "/sign-in?error=sso_misconfigured");
    at("/token", 200, json, Buffer.alloc(1_000_000, 0x20));
    assert.equal(await signIn(), "/sign-in?error=sso_unreachable");
    issuer.answer = (request, response) => {
      if (request.url === "/token") response.destroy();
      return request.url === "/token";
    };
    assert.equal(await signIn(), "/sign-in?error=sso_unreachable");
    issuer.answer = undefined;
  });

  test("its metadata name another issuer, lead into this network, or redirect there", async () => {
    const misconfigured = "/sign-in?error=sso_misconfigured";
    issuer.metadata = { issuer: "https://other.example" };
    const one = await fresh();
    assert.equal(await one.start(), misconfigured);
    issuer.metadata = { authorization_endpoint: undefined };
    assert.equal(await one.start(), misconfigured);
    issuer.metadata = { authorization_endpoint: "javascript:alert(1)" };
    assert.equal(await one.start(), misconfigured);
    issuer.metadata = {};
    issuer.answer = (_request, response) => {
      response.writeHead(302, { location: "http://10.0.0.1/" }).end();
      return true;
    };
    assert.equal(await one.start(), misconfigured);
    issuer.answer = undefined;
    assert.ok((await one.start()).startsWith(issuer.url), "a failure is not remembered");
    await one.close();
    const closed = await fresh({ isPrivateAllowed: false, issuer: new URL(issuer.url.replace("http:", "https:")) });
    assert.equal(await closed.start(), misconfigured, "private addresses are closed unless the operator opens them");
    await closed.close();
  });

  test("it is down, or does not answer in time", async (t) => {
    const unreachable = "/sign-in?error=sso_unreachable";
    let askedCount = 0;
    const silent = createServer(() => void (askedCount += 1));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    closing(t, silent);
    const { port } = silent.address() as AddressInfo;
    const slow = await fresh({ issuer: new URL(`http://127.0.0.1:${port}`) });
    const [one, two] = [slow.start(), slow.start()];
    await until("the issuer was asked", async () => askedCount > 0);
    app.clock.advance(ISSUER_TIMEOUT_MS);
    assert.deepEqual(await Promise.all([one, two]), [unreachable, unreachable]);
    await slow.close();
    const down = await fresh({ issuer: new URL("http://127.0.0.1:1") });
    assert.equal(await down.start(), unreachable);
    await down.close();
  });

  test("each problem has a sentence, and a server without an issuer says so", async (t) => {
    const { problems } = (await app.call({ url: "/api/v0/auth/sso/problems/" })).body;
    for (const { code, msg } of problems) assert.match(`${code} ${msg}`, /^sso_[a-z_]+ [A-Z].*\.$/);
    const without = await testApp(t);
    for (const url of [START, CALLBACK]) {
      const answer = await without.call({ url });
      assert.deepEqual([answer.status, answer.body.error], [404, "sso_not_configured"]);
    }
    assert.equal((await app.call({ url: `${CALLBACK}?state=a&state=b` })).status, 400);
  });
});
