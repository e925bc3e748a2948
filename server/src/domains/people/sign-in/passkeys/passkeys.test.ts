import assert from "node:assert/strict";
import { describe, test, before, after } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aTeam } from "../../../../../../test/support/teams.ts";
import {
  ask,
  codeOf,
  outcome,
  PASSWORD,
  signUp,
  withAuthenticator,
} from "../../../../../../test/support/second-factors.ts";
import { AT_PUBLIC_URL, PUBLIC_URL } from "../../../../../../test/support/sign-in/issuer.ts";
import { Cleanups } from "../../../../../../test/support/sign-in/closing.ts";
import { addPasskey, PasskeyBrowser, SITE } from "../../../../../../test/support/sign-in/passkeys.ts";
import { cbor, SoftPasskey, type Cbor } from "../../../../../../test/support/sign-in/soft-authenticator.ts";

const MINUTE_MS = 60_000;
const PATH = "/api/v0/auth/passkeys/";

describe("passkeys", () => {
  let app: TestApp;
  const cleanups = new Cleanups();
  before(async () => {
    app = await testApp(cleanups, AT_PUBLIC_URL);
  });
  after(() => cleanups.run());

  test("a passkey signs its owner in without a name, as with two factors, until it is deleted", async () => {
    const person = await signUp(app);
    const { browser, passkey, id } = await addPasskey(app, person);
    const other = new PasskeyBrowser(app);
    const answer = await other.signIn(passkey);
    assert.deepEqual(
      [answer.status, answer.body.id, answer.body.session_key],
      [200, person.id, undefined],
      answer.text,
    );
    const { sessions } = await other.done("GET", "/api/v0/auth/sessions/");
    assert.deepEqual(sessions.map((row: Record<string, unknown>) => [row["is_current"], row["has_tfa"]]).at(0), [
      true,
      true,
    ]);
    const { passkeys } = await browser.done("GET", PATH);
    assert.deepEqual([passkeys.length, passkeys[0].label, passkeys[0].is_synced], [1, "laptop", false]);
    assert.ok(passkeys[0].last_used >= passkeys[0].created_at);
    const renamed = await browser.done("PUT", `${PATH}${id}/`, { label: " work laptop " });
    assert.equal(renamed.passkey.label, "work laptop");
    await browser.done("DELETE", `${PATH}${id}/`);
    assert.deepEqual(outcome(await other.signIn(passkey)), [401, "passkey_refused"]);
    const audit = await app.env.pool.query("select action from audit_events where user_id = $1 order by id", [
      person.id,
    ]);
    const actions = audit.rows.map((row) => row.action).filter((action) => action.startsWith("api.passkey."));
    assert.deepEqual(actions, ["api.passkey.create", "api.passkey.update", "api.passkey.delete"]);
  });

  test("a passkey that made sure of nobody is one factor: an account with two is asked for the other", async () => {
    const person = await withAuthenticator(app);
    const browser = new PasskeyBrowser(app);
    await browser.passwordSignIn(person, codeOf(app, person.app, 1));
    const { passkey } = await addPasskey(app, person, browser);
    const unsure = await new PasskeyBrowser(app).signIn(passkey, { isPersonVerified: false });
    assert.deepEqual([unsure.status, unsure.body.msg, unsure.headers["set-cookie"]], [200, "2fa_required", undefined]);
    assert.ok(unsure.body.secret.length > 20);
    assert.equal((await new PasskeyBrowser(app).signIn(passkey)).body.id, person.id);
  });

  test("a passkey is added in a fresh session, or after a proof, and with no API key", async () => {
    const person = await signUp(app);
    assert.deepEqual(outcome(await ask(app, person.secret, "POST", "/auth/passkeys/options/")), [
      403,
      "session_needed",
    ]);
    const browser = new PasskeyBrowser(app);
    await browser.passwordSignIn(person);
    app.clock.advance(10 * MINUTE_MS);
    assert.equal((await browser.send("POST", `${PATH}options/`)).status, 200);
    app.clock.advance(1);
    assert.deepEqual(outcome(await browser.send("POST", `${PATH}options/`)), [403, "sign_in_again"]);
    await browser.done("POST", "/api/v0/tfa/authorize-new-method/", { password: PASSWORD });
    assert.equal((await browser.send("POST", `${PATH}options/`)).status, 200);
    const team = await aTeam(app, await app.caller());
    assert.deepEqual(outcome(await ask(app, team.secret, "GET", "/auth/passkeys/")), [403, "team_user_forbidden"]);
  });

  test("an answer counts once, for five minutes, in the browser and for the purpose that asked", async () => {
    const [person, other] = [await signUp(app), await signUp(app)];
    const { browser, passkey } = await addPasskey(app, person);
    const over = [400, "passkey_challenge_over"];
    const first = passkey.get(await browser.options());
    assert.equal((await browser.verify(first)).status, 200);
    assert.deepEqual(outcome(await browser.verify(first)), over, "replayed");
    const late = passkey.get(await browser.options());
    app.clock.advance(5 * MINUTE_MS);
    assert.deepEqual(outcome(await browser.verify(late)), over, "late");
    const elsewhere = passkey.get(await browser.options());
    const thief = new PasskeyBrowser(app);
    await thief.options();
    assert.deepEqual(outcome(await thief.verify(elsewhere)), over, "another browser");
    assert.deepEqual(outcome(await browser.verify(elsewhere)), over, "used up by it");
    assert.deepEqual(outcome(await new PasskeyBrowser(app).verify(elsewhere)), over, "no cookie");

    const mine = new PasskeyBrowser(app);
    await mine.passwordSignIn(person);
    const { options } = await mine.done("POST", `${PATH}options/`);
    assert.deepEqual(outcome(await mine.verify(passkey.get(options))), over, "a challenge to add one signs nobody in");
    const made = new SoftPasskey(SITE);
    const answer = made.create({ ...(await mine.options()), user: { id: "AAAA" } });
    assert.deepEqual(outcome(await mine.send("POST", PATH, { response: answer })), over, "and the other way round");

    const theirs = await mine.done("POST", `${PATH}options/`);
    await mine.passwordSignIn(other);
    const stolen = await mine.send("POST", PATH, { response: made.create(theirs.options) });
    assert.deepEqual(outcome(stolen), over, "a challenge of one account adds nothing to another");
  });

  test("answers of other sites, with wrong signatures or of other accounts are refused", async () => {
    const [person, other] = [await signUp(app), await signUp(app)];
    const { browser, passkey } = await addPasskey(app, person);
    const { passkey: foreign } = await addPasskey(app, other);
    const refused = [401, "passkey_refused"];
    for (const lie of [
      { origin: "https://evil.example" },
      { origin: `${PUBLIC_URL}:8443` },
      { rpId: "evil.example" },
    ]) {
      assert.deepEqual(outcome(await browser.signIn(passkey, lie)), refused, JSON.stringify(lie));
    }
    const options = await browser.options();
    const signed = foreign.get(options);
    const { id, rawId } = passkey.get(options);
    assert.deepEqual(outcome(await browser.verify({ ...signed, id, rawId })), refused, "signed by another key");
    const handle = passkey.get(await browser.options());
    const mixed = { ...handle, response: { ...handle.response, userHandle: signed.response.userHandle } };
    assert.deepEqual(outcome(await browser.verify(mixed)), refused, "the name of another account");
    assert.deepEqual(outcome(await browser.signIn(new SoftPasskey(SITE))), refused, "an unknown passkey");
    const twice = new PasskeyBrowser(app);
    await twice.passwordSignIn(other);
    const { options: adding } = await twice.done("POST", `${PATH}options/`);
    const taken = await twice.send("POST", PATH, { response: passkey.create(adding) });
    assert.deepEqual(outcome(taken), [400, "passkey_refused"], "a passkey belongs to one account");
    assert.equal((await browser.signIn(passkey)).body.id, person.id);
    await app.env.pool.query("update users set deleted_at = now() where id = $1", [other.id]);
    assert.deepEqual(outcome(await browser.signIn(foreign)), refused, "a deleted account");
  });

  test("a count that goes back or stands still is refused and audited, where the signature is right", async () => {
    const person = await signUp(app);
    const { browser, passkey } = await addPasskey(app, person);
    assert.equal((await browser.signIn(passkey, { count: 9 })).status, 200);
    for (const count of [9, 3, 0]) {
      assert.deepEqual(outcome(await browser.signIn(passkey, { count })), [401, "passkey_went_back"], String(count));
    }
    assert.equal((await browser.signIn(passkey, { count: 10 })).status, 200);
    const { rows } = await app.env.pool.query(
      "select arguments from audit_events where user_id = $1 and action = 'api.passkey.went_back' order by id",
      [person.id],
    );
    assert.deepEqual(
      rows.map((row) => [row.arguments.stored_count, row.arguments.sent_count]),
      [
        [9, 9],
        [9, 3],
        [9, 0],
      ],
    );
    const stranger = passkey.get(await browser.options(), { count: 1 });
    const forged = {
      ...stranger,
      response: { ...stranger.response, signature: Buffer.alloc(70).toString("base64url") },
    };
    assert.deepEqual(outcome(await browser.verify(forged)), [401, "passkey_refused"], "strangers audit nothing");
  });

  test("the only way into an account is not deleted, and no other account's passkey", async () => {
    const [person, other] = [await signUp(app), await signUp(app)];
    const { browser, id } = await addPasskey(app, person);
    const { browser: foreign } = await addPasskey(app, other);
    assert.deepEqual(outcome(await foreign.send("DELETE", `${PATH}${id}/`)), [404, "no_such_passkey"]);
    assert.deepEqual(outcome(await foreign.send("PUT", `${PATH}${id}/`, { label: "x" })), [404, "no_such_passkey"]);
    await app.env.pool.query("update users set password_hash = null where id = $1", [person.id]);
    assert.deepEqual(outcome(await browser.send("DELETE", `${PATH}${id}/`)), [409, "last_way_in"]);
    await addPasskey(app, person, browser);
    await browser.done("DELETE", `${PATH}${id}/`);
    for (const label of ["", "x".repeat(31), "a\u0000b"]) {
      const answer = await browser.send("PUT", `${PATH}${id}/`, { label });
      assert.deepEqual([answer.status, answer.body.field], [400, "label"], JSON.stringify(label));
    }
  });

  test("broken, huge and certified answers get a sentence and add nothing", async () => {
    const person = await signUp(app);
    const browser = new PasskeyBrowser(app);
    await browser.passwordSignIn(person);
    const add = async (change: (answer: ReturnType<SoftPasskey["create"]>) => unknown) => {
      const { options } = await browser.done("POST", `${PATH}options/`);
      return browser.send("POST", PATH, { response: change(new SoftPasskey(SITE).create(options)) });
    };
    const withObject = (answer: ReturnType<SoftPasskey["create"]>, bytes: Buffer) => ({
      ...answer,
      response: { ...answer.response, attestationObject: bytes.toString("base64url") },
    });
    for (const cut of [1, 10, 60, 120, 150]) {
      const answer = await add((good) =>
        withObject(good, Buffer.from(good.response.attestationObject, "base64url").subarray(0, -cut)),
      );
      assert.deepEqual(outcome(answer), [400, "passkey_refused"], `${cut} bytes less: ${answer.text}`);
    }
    const nested = Buffer.concat([Buffer.alloc(10_000, 0x81), Buffer.from([0])]);
    for (const bytes of [
      nested,
      Buffer.from([0xbf]),
      Buffer.from([0x5b, 255, 255, 255, 255, 255, 255, 255, 255]),
      cbor(7),
    ]) {
      assert.deepEqual(outcome(await add((good) => withObject(good, bytes))), [400, "passkey_refused"]);
    }
    const { options } = await browser.done("POST", `${PATH}options/`);
    const entries = new Map<Cbor, Cbor>([
      ["alg", -7],
      ["sig", Buffer.alloc(70)],
      ["x5c", [Buffer.alloc(300)]],
    ]);
    const certified = new SoftPasskey(SITE).create(options, {}, { format: "packed", entries });
    assert.deepEqual(outcome(await browser.send("POST", PATH, { response: certified })), [400, "passkey_refused"]);
    const huge = await add((good) => withObject(good, Buffer.alloc(60_000)));
    assert.ok([400, 413].includes(huge.status), huge.text);
    const text = JSON.stringify({ response: "x".repeat(70_000) });
    assert.equal((await browser.send("POST", PATH, undefined, text)).status, 413);
    assert.equal((await browser.send("POST", `${PATH}sign-in/verify/`, undefined, text)).status, 413);
    for (const response of [undefined, null, 7, {}, { id: "é", rawId: "é", type: "public-key", response: {} }]) {
      assert.equal((await browser.send("POST", PATH, { response })).status, 400);
      assert.equal((await browser.send("POST", `${PATH}sign-in/verify/`, { response })).status, 400);
    }
    assert.deepEqual((await browser.done("GET", PATH)).passkeys, []);
    assert.deepEqual(app.complaints, []);
  });

  test("a page of another site cannot sign a browser in", async () => {
    const { browser, passkey } = await addPasskey(app, await signUp(app));
    const body = { response: passkey.get(await browser.options()) };
    const headers = { origin: "https://evil.example" };
    const answer = await browser.send("POST", `${PATH}sign-in/verify/`, body, undefined, headers);
    assert.deepEqual(outcome(answer), [403, "cross_site_request"]);
  });
});
