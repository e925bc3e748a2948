import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test, type TestContext } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { anSmtpServer } from "../../../../../../test/support/network/smtp-server.ts";
import {
  ask,
  codeOf,
  done,
  factor,
  nextCode,
  outcome,
  signIn,
  signUp,
  withAuthenticator,
  type Person,
} from "../../../../../../test/support/second-factors.ts";
import { createSmsSender, type SmsMessage } from "../sms.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const PHONE = "+46701234567";

/** A server that mails and texts; `isTaken` says whether the provider takes messages. */
async function withSenders(t: TestContext) {
  const smtp = await anSmtpServer(t);
  const texts: SmsMessage[] = [];
  const provider = { isTaken: true };
  const app = await testApp(t, {
    notifications: { mail: { smtpUrl: smtp.url, from: "Berth <berth@market.example>" } },
    sms: async (message) => {
      if (provider.isTaken) texts.push(message);
      return provider.isTaken;
    },
  });
  const mailed = async (address: string) => {
    await app.runLoop("send-mails");
    const mail = smtp.mails.filter(({ to, text }) => to.includes(address) && text.includes("Your code")).at(-1);
    return /^ {2}(\d{6})\r?$/m.exec(mail?.text ?? "")?.[1] ?? "";
  };
  const texted = () => texts.at(-1)?.text.slice(0, 6) ?? "";
  const prove = ({ id }: Person) =>
    app.env.pool.query("update users set email_proven_at = now(), email_proven_by = 'mail' where id = $1", [id]);
  return { app, texts, provider, mailed, texted, prove };
}

/** Another six digits than these. */
const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

describe("a mailed code", () => {
  test("authorizes the first method of a proven address, and signs in once", async (t) => {
    const { app, mailed, prove } = await withSenders(t);
    const person = await signUp(app);
    const begin = () => ask(app, person.secret, "POST", "/tfa/authorize-new-method/", {});
    assert.deepEqual(outcome(await begin()), [400, "email_not_verified"]);
    await prove(person);
    const { secret } = (await begin()).body;
    const finish = (code: string) => ask(app, person.secret, "PUT", "/tfa/authorize-new-method/", { secret, code });
    const code = await mailed(person.email);
    assert.deepEqual(outcome(await finish(otherThan(code))), [400, "2fa_verification_failed"]);
    assert.equal((await finish(code)).status, 200);
    assert.deepEqual(outcome(await finish(code)), [400, "challenge_not_found"]);
    const setup = await done(app, person.secret, "POST", "/tfa/totp-setup/", {});
    const confirmation = { tfa_method: "totp", secret: setup.secret, code: codeOf(app, setup.secret) };
    await done(app, person.secret, "POST", "/tfa/confirm-new/", confirmation);

    const challenge = (await signIn(app, person.name)).body.secret as string;
    assert.deepEqual(outcome(await factor(app, { tfa_method: "email", secret: challenge, code: "123456" })), [
      400,
      "no_challenge_found",
    ]);
    const sent = await factor(app, { secret: challenge }, "/tfa/email/");
    assert.equal(sent.body.secret, challenge);
    assert.deepEqual(outcome(await factor(app, { secret: challenge }, "/tfa/email/")), [400, "tfa_challenge_exists"]);
    const login = async () => factor(app, { tfa_method: "email", secret: challenge, code: await mailed(person.email) });
    assert.equal((await login()).body.id, person.id);
    assert.deepEqual(outcome(await login()), [400, "challenge_not_found"]);
  });

  test("is good on one of two servers, for ten minutes, and dies of the one that replaces it", async (t) => {
    const { app, mailed, prove } = await withSenders(t);
    const second = await testApp(t, { env: app.env, clock: app.clock });
    const person = await withAuthenticator(app);
    await prove(person);
    const challenge = (await signIn(app, person.name)).body.secret as string;
    const send = () => factor(app, { secret: challenge }, "/tfa/email/");
    const login = (server: typeof app, code: string) =>
      factor(server, { tfa_method: "email", secret: challenge, code });
    await send();
    const first = await mailed(person.email);
    app.clock.advance(MINUTE_MS);
    await send();
    const other = await mailed(person.email);
    if (first !== other) assert.deepEqual(outcome(await login(app, first)), [400, "2fa_verification_failed"]);
    app.clock.advance(10 * MINUTE_MS);
    assert.deepEqual(outcome(await login(app, other)), [400, "2fa_expired"]);
    const late = (await done(app, person.secret, "POST", "/tfa/email/", {})).secret;
    app.clock.advance(10 * MINUTE_MS);
    const code = await mailed(person.email);
    const expired = await ask(app, person.secret, "POST", "/tfa/", { tfa_method: "email", secret: late, code });
    assert.deepEqual(outcome(expired), [400, "2fa_expired"]);
    const fresh = (await done(app, person.secret, "POST", "/tfa/email/", {})).secret;
    const body = { tfa_method: "email", secret: fresh, code: await mailed(person.email) };
    const both = await Promise.all([app, second].map((server) => ask(server, person.secret, "POST", "/tfa/", body)));
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 400],
    );
    await second.close();
  });

  test("changes no method, and goes to a mailbox ten times a day at most", async (t) => {
    const { app, mailed, prove } = await withSenders(t);
    const person = await withAuthenticator(app);
    await prove(person);
    const { secret } = await done(app, person.secret, "POST", "/tfa/email/", {});
    const proof = { tfa_method: "email", secret, code: await mailed(person.email) };
    assert.deepEqual(outcome(await ask(app, person.secret, "DELETE", "/tfa/", proof)), [400, "invalid_tfa_method"]);
    const regen = await ask(app, person.secret, "PUT", "/tfa/regen-backup-codes/", proof);
    assert.deepEqual(outcome(regen), [400, "invalid_tfa_method"]);
    for (let count = 2; count <= 10; count += 1) {
      app.clock.advance(MINUTE_MS);
      await done(app, person.secret, "POST", "/tfa/email/", {});
    }
    app.clock.advance(MINUTE_MS);
    assert.deepEqual(outcome(await ask(app, person.secret, "POST", "/tfa/email/", {})), [429, "sms_rate_limited"]);
    app.clock.advance(DAY_MS);
    assert.equal((await ask(app, person.secret, "POST", "/tfa/email/", {})).status, 200);
  });

  test("is refused where there is no mail server, and the answer says so", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const answer = await ask(app, person.secret, "POST", "/tfa/authorize-new-method/", {});
    assert.deepEqual(outcome(answer), [400, "tfa_method_not_configured"]);
    assert.match(answer.body.msg, /no mail server/);
  });
});

describe("a text message", () => {
  /** A person whose phone is a second factor, beside an app. */
  async function withPhone(t: TestContext) {
    const senders = await withSenders(t);
    const { app, texted } = senders;
    const person = await withAuthenticator(app);
    const { secret } = await done(app, person.secret, "POST", "/tfa/sms/", { phone_number: "+46 70-123 45 67" });
    const confirm = (body: object) =>
      ask(app, person.secret, "POST", "/tfa/confirm-new/", { tfa_method: "sms", secret, ...body });
    const other = await confirm({ code: texted(), phone_number: "+46700000000" });
    assert.deepEqual(outcome(other), [400, "phone_number_mismatch"]);
    assert.equal((await confirm({ code: texted(), phone_number: PHONE, label: "work" })).status, 200);
    const { methods } = await done(app, person.secret, "GET", "/tfa/status/");
    return { ...senders, person, phone: methods[1] };
  }

  test("confirms a phone, whose number is shown masked and stored encrypted, and signs in", async (t) => {
    const { app, texts, texted, person, phone } = await withPhone(t);
    assert.equal(texts.at(-1)?.to, PHONE);
    assert.deepEqual([phone.method, phone.phone_number, phone.is_primary], ["sms", "**********67", false]);
    const { rows } = await app.env.pool.query<{ text: string }>(
      "select (select json_agg(m) from tfa_methods m)::text || (select json_agg(c) from tfa_challenges c)::text as text",
    );
    assert.ok(!rows[0]?.text.includes("4567"));
    const challenge = (await signIn(app, person.name)).body.secret as string;
    const send = (path: string) => factor(app, { secret: challenge, tfa_method_id: phone.id }, path);
    assert.equal((await send("/tfa/sms/")).status, 200);
    const first = texted();
    assert.deepEqual(outcome(await send("/tfa/sms/")), [400, "tfa_challenge_exists"]);
    assert.deepEqual(outcome(await send("/tfa/sms/resend/")), [429, "sms_rate_limited"]);
    app.clock.advance(MINUTE_MS);
    assert.equal((await send("/tfa/resend/")).status, 200);
    const login = (code: string) => factor(app, { secret: challenge, code });
    if (first !== texted()) assert.deepEqual(outcome(await login(first)), [400, "2fa_verification_failed"]);
    assert.equal((await login(texted())).body.id, person.id, "sms is the default method");
  });

  test("to a new number needs an authorization, and a code of it proves nothing else", async (t) => {
    const { app, texted, person, phone } = await withPhone(t);
    const { secret } = await done(app, person.secret, "POST", "/tfa/sms/", { phone_number: "+46709999999" });
    const proof = { tfa_method: "sms", secret, code: texted() };
    assert.deepEqual(outcome(await ask(app, person.secret, "POST", "/tfa/", proof)), [400, "no_challenge_found"]);
    const deletion = { ...proof, target_id: phone.id };
    assert.deepEqual(outcome(await ask(app, person.secret, "DELETE", "/tfa/", deletion)), [400, "no_challenge_found"]);
    const { secret: verifying } = await done(app, person.secret, "POST", "/tfa/sms/", { tfa_method_id: phone.id });
    app.clock.advance(MINUTE_MS);
    const turned = await ask(app, person.secret, "POST", "/tfa/sms/resend/", {
      secret: verifying,
      phone_number: "+46709999999",
    });
    assert.deepEqual(outcome(turned), [400, "challenge_not_found"]);
    app.clock.advance(31 * MINUTE_MS);
    const late = await ask(app, person.secret, "POST", "/tfa/sms/", { phone_number: "+46708888888" });
    assert.deepEqual(outcome(late), [403, "authorization_required"]);
    const challenge = (await signIn(app, person.name)).body.secret as string;
    const stranger = await factor(app, { secret: challenge, phone_number: "+46708888888" }, "/tfa/sms/");
    assert.deepEqual(outcome(stranger), [403, "authorization_required"]);
  });

  test("locks its phone after three wrong codes, and no other method", async (t) => {
    const { app, texted, person, phone } = await withPhone(t);
    const challenge = (await signIn(app, person.name)).body.secret as string;
    await factor(app, { secret: challenge, tfa_method_id: phone.id }, "/tfa/sms/");
    const login = (code: string) => factor(app, { secret: challenge, code });
    for (let count = 1; count <= 3; count += 1) {
      assert.equal((await login(otherThan(texted()))).body.fail_count, count);
    }
    assert.deepEqual(outcome(await login(texted())), [429, "tfa_locked"]);
    nextCode(app);
    const byApp = await factor(app, { secret: challenge, tfa_method: "totp", code: codeOf(app, person.app) });
    assert.equal(byApp.status, 200);
  });

  test("that the provider does not take is told, and leaves no code behind", async (t) => {
    const { app, provider, texted, person, phone } = await withPhone(t);
    provider.isTaken = false;
    const send = () => ask(app, person.secret, "POST", "/tfa/sms/", { tfa_method_id: phone.id });
    assert.deepEqual(outcome(await send()), [503, "service_unavailable"]);
    provider.isTaken = true;
    const { secret } = (await send()).body;
    const login = { tfa_method: "sms", secret, code: texted() };
    assert.equal((await ask(app, person.secret, "POST", "/tfa/", login)).status, 200);
  });

  test("that the provider does not take is sent by a repetition under the same Idempotency-Key, once", async (t) => {
    const { app, texts, provider, texted, person, phone } = await withPhone(t);
    for (const path of ["/tfa/sms/", "/tfa/authorize-new-method/"]) {
      const body = { tfa_method_id: phone.id, ...(path === "/tfa/sms/" ? {} : { tfa_method: "sms" }) };
      const call = { method: "POST", url: `/api/v0${path}`, secret: person.secret, body } as const;
      const send = () => app.call({ ...call, headers: { "idempotency-key": path } });
      const count = texts.length;
      provider.isTaken = false;
      for (const answer of [await send(), await send()]) {
        assert.deepEqual(outcome(answer), [503, "service_unavailable"], path);
      }
      provider.isTaken = true;
      const [sent, again] = [await send(), await send()];
      assert.deepEqual([sent.status, again.text, texts.length], [200, sent.text, count + 1], path);
      const proof = { tfa_method: "sms", secret: sent.body.secret, code: texted() };
      const method = path === "/tfa/sms/" ? "POST" : "PUT";
      const used = await ask(app, person.secret, method, path === "/tfa/sms/" ? "/tfa/" : path, proof);
      assert.equal(used.status, 200, used.text);
    }
  });

  test("is refused where no provider is set up, and the answer says so", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    const answer = await ask(app, person.secret, "POST", "/tfa/sms/", { phone_number: PHONE });
    assert.deepEqual(outcome(answer), [400, "tfa_method_not_configured"]);
    assert.match(answer.body.msg, /sends no text messages/);
  });

  test("is handed to the operator's address as JSON with its token, and a refusal or silence is no success", async (t) => {
    const got: unknown[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += String(chunk)));
      request.on("end", () => {
        got.push([request.headers.authorization, JSON.parse(text)]);
        response.writeHead(got.length === 1 ? 202 : 500).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const send = createSmsSender({ url: `http://127.0.0.1:${port}/send`, token: "t" });
    const message = { to: PHONE, text: "hello" };
    assert.deepEqual([await send(message), await send(message)], [true, false]);
    assert.deepEqual(got[0], ["Bearer t", message]);
    const nowhere = createSmsSender({ url: "http://127.0.0.1:1/" });
    assert.equal(await nowhere(message), false);
  });
});
