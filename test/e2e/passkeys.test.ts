// Passkeys in a real browser, with an authenticator that the browser makes up.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { testApp, type TestApp } from "../support/app.ts";
import { openBrowser } from "../support/console/open-browser.ts";
import { PASSWORD, signUp, type Person } from "../support/second-factors.ts";
import { Cleanups } from "../support/sign-in/closing.ts";

const PATH = "/api/v0/auth/passkeys/";
const LIBRARY = new URL("../../node_modules/@simplewebauthn/browser/dist/bundle/index.umd.min.js", import.meta.url);
const PAGE = "/passkey-page";
/** A busy machine takes long to open a page; no test measures it. */
const PATIENCE_MS = 300_000;

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

const cleanups = new Cleanups();
let app: TestApp;
let person: Person;
let page: Page;
let devtools: CDPSession;
let authenticatorId: string;
let library: string;
/** The server by its name: passkeys belong to names. */
let site: string;

/** Opens an empty page of a site that has the browser's half of the library. */
async function open(origin: string): Promise<void> {
  await page.route(`${origin}${PAGE}`, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
  await page.goto(`${origin}${PAGE}`);
  await page.addScriptTag({ content: library });
}

/** A request of the page, with the header of the console. */
async function ask(method: string, url: string, body?: unknown): Promise<Answer> {
  const { status, text } = await page.evaluate(
    async ([verb, address, sent]) => {
      const headers = { "content-type": "application/json", "x-berth-console": "1" };
      const answer = await fetch(address, { method: verb, headers, ...(sent === "" ? {} : { body: sent }) });
      return { status: answer.status, text: await answer.text() };
    },
    [method, url, body === undefined ? "" : JSON.stringify(body)] as const,
  );
  return { status, body: JSON.parse(text) };
}

async function done(method: string, url: string, body?: unknown): Promise<Answer["body"]> {
  const answer = await ask(method, url, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

/** The answer of the browser to options, by the library that the console uses. */
const answerTo = (step: "startRegistration" | "startAuthentication", options: unknown): Promise<unknown> =>
  page.evaluate(`SimpleWebAuthnBrowser.${step}({ optionsJSON: ${JSON.stringify(options)} })`);

async function signIn(): Promise<Answer> {
  const { options } = await done("POST", `${PATH}sign-in/options/`, {});
  return ask("POST", `${PATH}sign-in/verify/`, { response: await answerTo("startAuthentication", options) });
}

describe("passkeys in a browser", () => {
  before(async () => {
    // It closes first: the server waits for its connections.
    page = await (await openBrowser(cleanups)).newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    app = await testApp(cleanups);
    person = await signUp(app);
    site = `http://localhost:${app.origin.split(":").at(-1)}`;
    library = await readFile(LIBRARY, "utf8");
    await open(site);
    devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    const added = await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    authenticatorId = added.authenticatorId;
  });
  after(() => cleanups.run());

  test("a browser adds a passkey, signs out, and signs in again without a name", async () => {
    await done("POST", "/api/v0/auth/browser/", { username: person.name, password: PASSWORD });
    const { options } = await done("POST", `${PATH}options/`, {});
    const response = await answerTo("startRegistration", options);
    const { passkey } = await done("POST", PATH, { label: "laptop", response });
    assert.equal(Reflect.get(Object(passkey), "label"), "laptop");
    await done("DELETE", "/api/v0/auth/browser/");
    assert.equal((await ask("GET", "/api/v0/users/current/")).status, 401);
    const signedIn = await signIn();
    assert.deepEqual([signedIn.status, signedIn.body["id"]], [200, person.id], JSON.stringify(signedIn.body));
    assert.equal((await done("GET", "/api/v0/users/current/"))["id"], person.id);
    const { sessions } = await done("GET", "/api/v0/auth/sessions/");
    assert.match(JSON.stringify(sessions), /"has_tfa":true,"is_current":true/);
  });

  test("the browser refuses to make a second passkey of the account on one authenticator", async () => {
    const { options } = await done("POST", `${PATH}options/`, {});
    await assert.rejects(answerTo("startRegistration", options), /previously registered/);
  });

  test("an answer that the browser gave to another page of this machine signs nobody in", async () => {
    const { options } = await done("POST", `${PATH}sign-in/options/`, {});
    await open("http://localhost:1");
    const response = await answerTo("startAuthentication", options);
    await open(site);
    const answer = await ask("POST", `${PATH}sign-in/verify/`, { response });
    assert.deepEqual([answer.status, answer.body["error"]], [401, "passkey_refused"]);
  });

  test("a copy of the passkey, which counts from an earlier time, is refused", async () => {
    assert.equal((await signIn()).status, 200);
    const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId });
    const [credential] = credentials;
    assert.ok(credential !== undefined && credential.signCount > 1);
    await devtools.send("WebAuthn.removeCredential", { authenticatorId, credentialId: credential.credentialId });
    await devtools.send("WebAuthn.addCredential", { authenticatorId, credential: { ...credential, signCount: 1 } });
    const answer = await signIn();
    assert.deepEqual([answer.status, answer.body["error"]], [401, "passkey_went_back"]);
  });

  test("at a number in place of a name, the server says where passkeys work", async () => {
    await open(`http://${app.origin}`);
    const { status, body } = await ask("POST", `${PATH}sign-in/options/`, {});
    assert.deepEqual([status, body["error"]], [409, "passkeys_unavailable"]);
    assert.ok(String(body["msg"]).includes(site), String(body["msg"]));
  });
});
