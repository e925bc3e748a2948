import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { aTeam } from "../../../../../../test/support/teams.ts";
import {
  ask,
  codeOf,
  done,
  factor,
  nextCode,
  outcome,
  PASSWORD,
  signIn,
  signUp,
  withAuthenticator,
} from "../../../../../../test/support/second-factors.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe("an authenticator app", () => {
  test("is set up with the password and its first code, and asked for at the next sign-in", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const status = () => done(app, person.secret, "GET", "/tfa/status/");
    assert.deepEqual(await status(), {
      ...{ success: true, tfa_enabled: false, methods: [], backup_codes_remaining: 0, new_method_authorized: false },
    });
    const { secret, provisioning_uri: uri } = await done(app, person.secret, "POST", "/tfa/totp-setup/", {});
    assert.ok(uri.startsWith("otpauth://totp/Berth:") && uri.includes(`secret=${secret}`));
    const confirm = (code: string, more = {}) =>
      ask(app, person.secret, "POST", "/tfa/confirm-new/", {
        tfa_method: "totp",
        secret,
        code,
        label: "phone",
        ...more,
      });
    assert.deepEqual(outcome(await confirm(codeOf(app, secret))), [403, "authorization_required"]);
    const authorize = (password: string) => ask(app, person.secret, "POST", "/tfa/authorize-new-method/", { password });
    assert.deepEqual(outcome(await authorize("wrong")), [400, "2fa_verification_failed"]);
    assert.equal((await authorize(PASSWORD)).status, 200);
    assert.equal((await status()).new_method_authorized, true);
    const own = { secret: "A".repeat(32) };
    assert.deepEqual(outcome(await confirm(codeOf(app, own.secret), own)), [400, "challenge_not_found"]);
    const wrong = await confirm("000000");
    assert.deepEqual([...outcome(wrong), wrong.body.fail_count], [400, "2fa_verification_failed", 1]);
    const { backup_codes: backupCodes } = (await confirm(codeOf(app, secret))).body;
    assert.equal(backupCodes.length, 10);
    const { methods, ...after } = await status();
    assert.deepEqual([after.tfa_enabled, after.backup_codes_remaining], [true, 10]);
    assert.deepEqual([methods[0].method, methods[0].label, methods[0].is_primary], ["totp", "phone", true]);

    const { body } = await signIn(app, person.name);
    assert.deepEqual(
      [body.msg, body.api_key, body.id, body.num_backup_codes],
      ["2fa_required", undefined, undefined, 10],
    );
    assert.deepEqual(body.methods, methods);
    const login = { tfa_method: "totp", secret: body.secret };
    assert.deepEqual(outcome(await factor(app, { ...login, code: codeOf(app, secret) })), [
      400,
      "2fa_verification_failed",
    ]);
    nextCode(app);
    const signedIn = await factor(app, { ...login, code: codeOf(app, secret) });
    assert.deepEqual([signedIn.status, signedIn.body.id, signedIn.body.tfa_status], [200, person.id, "enabled"]);
    const me = await done(app, signedIn.body.api_key, "GET", "/users/current/");
    assert.deepEqual([me.id, me.sid], [person.id, String(signedIn.body.key_id)]);
    nextCode(app);
    const spent = await factor(app, { ...login, code: codeOf(app, secret) });
    assert.deepEqual(outcome(spent), [400, "challenge_not_found"], "a sign-in is finished once");
  });

  test("whose code was used is refused with it, and with earlier ones, by every call", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    const login = (code: string) => ask(app, person.secret, "POST", "/tfa/", { tfa_method: "totp", code });
    nextCode(app);
    const [earlier, present] = [codeOf(app, person.app, -1), codeOf(app, person.app)];
    assert.equal((await login(present)).status, 200);
    for (const code of [present, earlier])
      assert.deepEqual(outcome(await login(code)), [400, "2fa_verification_failed"]);
    const deletion = await ask(app, person.secret, "DELETE", "/tfa/", { tfa_method: "totp", code: present });
    assert.deepEqual(outcome(deletion), [400, "2fa_verification_failed"]);
  });

  test("lends a code to one of two servers only", async (t) => {
    const app = await testApp(t);
    const second = await testApp(t, { env: app.env, clock: app.clock });
    const person = await withAuthenticator(app);
    const secrets = await Promise.all(
      Array.from({ length: 4 }, async () => (await signIn(app, person.name)).body.secret as string),
    );
    nextCode(app);
    const code = codeOf(app, person.app);
    const answers = await Promise.all(
      secrets.map((secret, index) => factor(index % 2 === 0 ? app : second, { tfa_method: "totp", secret, code })),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    const { rows } = await app.env.pool.query("select count(*)::integer as n from api_keys where kind = 'tfa'");
    assert.equal(rows[0].n, 1);
  });

  test("locks after five wrong codes on whichever server, through a restart, also for the right code", async (t) => {
    const app = await testApp(t);
    const second = await testApp(t, { env: app.env, clock: app.clock });
    const person = await withAuthenticator(app);
    const { secret } = (await signIn(app, person.name)).body;
    const login = (server: typeof app, code: string) => factor(server, { tfa_method: "totp", secret, code });
    nextCode(app);
    const wrong = await Promise.all(
      Array.from({ length: 20 }, (_, index) => login(index % 2 === 0 ? app : second, `00000${index % 10}`)),
    );
    const told = wrong.map(({ status, body }) => `${status} ${body.error}`);
    assert.equal(told.filter((one) => one === "400 2fa_verification_failed").length, 5, told.join());
    assert.equal(told.filter((one) => one === "429 tfa_locked").length, 15);
    await second.close();
    const third = await testApp(t, { env: app.env, clock: app.clock });
    const locked = await login(third, codeOf(app, person.app));
    assert.deepEqual(
      [...outcome(locked), locked.body.fail_count, typeof locked.body.locked_until],
      [429, "tfa_locked", 5, "number"],
    );
    const { methods } = await done(third, person.secret, "GET", "/tfa/status/");
    assert.deepEqual([methods[0].fail_count, methods[0].locked_until], [5, locked.body.locked_until]);
    app.clock.advance(15 * MINUTE_MS);
    const again = (await signIn(third, person.name)).body.secret as string;
    assert.equal(
      (await factor(third, { tfa_method: "totp", secret: again, code: codeOf(app, person.app) })).status,
      200,
    );
    assert.equal((await done(third, person.secret, "GET", "/tfa/status/")).methods[0].fail_count, 0);
    await third.close();
  });

  test("opens a session of a day for the holder of an API key, which ends with that key", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    const narrow = await done(app, person.secret, "POST", "/auth/apikeys/", {
      name: "narrow",
      permissions: { api: { user_write: {}, user_read: {} } },
    });
    const login = async (key: string) => {
      nextCode(app);
      return done(app, key, "POST", "/tfa/", { tfa_method: "totp", code: codeOf(app, person.app) });
    };
    const session = await login(narrow.key);
    assert.equal(session.api_key, undefined);
    assert.equal((await ask(app, session.session_key, "GET", "/instances/")).status, 403, "no more than the key");
    assert.equal((await ask(app, session.session_key, "GET", "/users/current/")).status, 200);
    await done(app, person.secret, "DELETE", `/auth/apikeys/${narrow.id}/`);
    assert.equal((await ask(app, session.session_key, "GET", "/users/current/")).status, 401);
    const [outer, other] = [await login(person.secret), await login(person.secret)];
    const inner = await login(outer.session_key);
    await done(app, outer.session_key, "DELETE", "/users/current/");
    assert.equal((await ask(app, inner.session_key, "GET", "/users/current/")).status, 401, "it ends with its opener");
    app.clock.advance(DAY_MS);
    const over = await ask(app, other.session_key, "GET", "/users/current/");
    assert.deepEqual([over.status, over.body.msg], [404, "Session expired. Please log in again."]);
  });

  test("lies encrypted in the database, and no code, secret or password lies there in clear", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    const { secret } = (await signIn(app, person.name)).body;
    const { rows } = await app.env.pool.query<{ text: string }>(
      `select (select json_agg(m) from tfa_methods m)::text || (select json_agg(b) from tfa_backup_codes b)::text
        || (select json_agg(c) from tfa_challenges c)::text || (select json_agg(a) from audit_events a)::text as text`,
    );
    for (const clear of [person.app, secret, PASSWORD, ...person.backupCodes]) {
      assert.ok(!rows[0]?.text.includes(clear));
    }
  });
});

describe("backup codes", () => {
  test("open one session each, on one of two servers, and say how many are left", async (t) => {
    const app = await testApp(t);
    const second = await testApp(t, { env: app.env, clock: app.clock });
    const person = await withAuthenticator(app);
    const [first = "", other = ""] = person.backupCodes;
    const secrets = [await signIn(app, person.name), await signIn(second, person.name)].map(({ body }) => body.secret);
    const answers = await Promise.all(
      [app, second].map((server, index) =>
        factor(server, { secret: secrets[index], backup_code: first.toLowerCase() }),
      ),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 401],
    );
    const [good, bad] = answers.toSorted((a, b) => a.status - b.status);
    assert.deepEqual([good?.body.backup_codes_remaining, bad?.body.error], [9, "invalid_backup_code"]);
    const { body } = await signIn(app, person.name);
    assert.equal(body.num_backup_codes, 9);
    assert.equal((await factor(app, { secret: body.secret, backup_code: other })).status, 200);
  });

  test("are replaced by a proof, after which the earlier ones open nothing", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    nextCode(app);
    const proof = { tfa_method: "totp", code: codeOf(app, person.app) };
    const renewed = await done(app, person.secret, "PUT", "/tfa/regen-backup-codes/", proof);
    assert.equal(renewed.backup_codes.length, 10);
    const use = (code: string) => ask(app, person.secret, "POST", "/tfa/", { backup_code: code });
    assert.deepEqual(outcome(await use(person.backupCodes[0] ?? "")), [401, "invalid_backup_code"]);
    assert.equal((await use(renewed.backup_codes[0])).status, 200);
  });
});

describe("the methods of an account", () => {
  test("are added with leave of an existing one, renamed, made primary and deleted; without any, sign-in asks for none", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    const call = (method: "POST" | "PUT" | "DELETE", path: string, body: object) =>
      ask(app, person.secret, method, `/tfa/${path}`, body);
    // The first window is over.
    app.clock.advance(31 * MINUTE_MS);
    const setup = (await call("POST", "totp-setup/", {})).body;
    const confirmation = () => ({ tfa_method: "totp", secret: setup.secret, code: codeOf(app, setup.secret) });
    assert.deepEqual(outcome(await call("POST", "confirm-new/", confirmation())), [403, "authorization_required"]);
    assert.deepEqual(outcome(await call("POST", "authorize-new-method/", { password: PASSWORD })), [
      400,
      "invalid_tfa_method",
    ]);
    const mailed = await call("POST", "authorize-new-method/", { tfa_method: "email" });
    assert.deepEqual(outcome(mailed), [400, "invalid_tfa_method"], "mail is no way around a method");
    const { secret } = (await call("POST", "authorize-new-method/", { tfa_method: "totp" })).body;
    const authorize = { secret, code: codeOf(app, person.app) };
    assert.equal((await call("PUT", "authorize-new-method/", authorize)).status, 200);
    assert.deepEqual(outcome(await call("PUT", "authorize-new-method/", { ...authorize, secret: "x" })), [
      400,
      "challenge_not_found",
    ]);
    const added = await call("POST", "confirm-new/", confirmation());
    assert.deepEqual([added.status, added.body.backup_codes], [200, undefined]);

    const { methods } = await done(app, person.secret, "GET", "/tfa/status/");
    const [first, second] = methods as { id: number; is_primary: boolean }[];
    assert.deepEqual([first?.is_primary, second?.is_primary], [true, false]);
    const update = (body: object) => call("PUT", "update/", body);
    assert.deepEqual(
      outcome(await update({ tfa_method: "totp", label: "x" })),
      [400, "missing_params"],
      "there are two",
    );
    assert.deepEqual(outcome(await update({ tfa_method_id: first?.id, label: "phone" })), [400, "invalid_params"]);
    assert.deepEqual(outcome(await update({ tfa_method_id: first?.id, is_primary: false })), [400, "invalid_params"]);
    assert.deepEqual(outcome(await update({ tfa_method_id: 2_000_000_000, label: "x" })), [404, "not_found"]);
    const tooLong = await update({ tfa_method_id: first?.id, label: "x".repeat(31) });
    assert.deepEqual([...outcome(tooLong), tooLong.body.field], [400, "invalid_args", "label"]);
    const { method } = (await update({ tfa_method_id: second?.id, label: "tablet", is_primary: true })).body;
    assert.deepEqual([method.id, method.label, method.is_primary], [second?.id, "tablet", true]);

    nextCode(app);
    const proof = () => ({ tfa_method: "totp", tfa_method_id: first?.id, code: codeOf(app, person.app) });
    const [backupCode] = person.backupCodes;
    assert.deepEqual(outcome(await call("DELETE", "", { backup_code: backupCode })), [400, "missing_params"]);
    const gone = await call("DELETE", "", { ...proof(), target_id: second?.id });
    assert.deepEqual([gone.status, gone.body.remaining_methods], [200, 1]);
    assert.equal((await done(app, person.secret, "GET", "/tfa/status/")).methods[0].is_primary, true);
    const last = await call("DELETE", "", { backup_code: backupCode, target_id: first?.id });
    assert.deepEqual([last.body.msg, last.body.remaining_methods], ["2FA Successfully Disabled", 0]);
    const { tfa_enabled: isEnabled, backup_codes_remaining: left } = await done(
      app,
      person.secret,
      "GET",
      "/tfa/status/",
    );
    assert.deepEqual([isEnabled, left], [false, 0]);
    assert.ok((await signIn(app, person.name)).body.api_key, "the password alone signs in");
  });

  test("are deleted by an administrator for a person who lost them, and the person's audit log says so", async (t) => {
    const app = await testApp(t);
    const [person, admin] = [await withAuthenticator(app), await aCaller(app.env.database, { isAdmin: true })];
    const remove = (by: string, id: number) => ask(app, by, "DELETE", `/admin/users/${id}/tfa/`);
    assert.equal((await remove(person.secret, person.id)).status, 403);
    assert.deepEqual(outcome(await remove(admin.secret, 2_000_000_000)), [404, "no_such_user"]);
    const pending = (await signIn(app, person.name)).body.secret as string;
    assert.equal((await remove(admin.secret, person.id)).status, 200);
    assert.ok((await signIn(app, person.name)).body.api_key, "the password signs in");
    const [backupCode] = person.backupCodes;
    assert.deepEqual(outcome(await factor(app, { secret: pending, backup_code: backupCode })), [
      400,
      "challenge_not_found",
    ]);
    const { text } = await ask(app, person.secret, "GET", "/audit_logs/");
    assert.ok(text.includes("api.admin.user.remove_tfa"));
  });

  test("take the leave to add others with them, apps that were being set up, and locks", async (t) => {
    const app = await testApp(t);
    const admin = await aCaller(app.env.database, { isAdmin: true });
    for (const isByAdmin of [false, true]) {
      const person = await withAuthenticator(app);
      const setup = await done(app, person.secret, "POST", "/tfa/totp-setup/", {});
      const confirm = (code: string) =>
        ask(app, person.secret, "POST", "/tfa/confirm-new/", { tfa_method: "totp", secret: setup.secret, code });
      assert.deepEqual(outcome(await confirm("no code")), [400, "2fa_verification_failed"]);
      const proof = { target_id: person.methodId, backup_code: person.backupCodes[0] };
      if (isByAdmin) await done(app, admin.secret, "DELETE", `/admin/users/${person.id}/tfa/`);
      else await done(app, person.secret, "DELETE", "/tfa/", proof);
      const status = await done(app, person.secret, "GET", "/tfa/status/");
      assert.deepEqual([status.tfa_enabled, status.new_method_authorized], [false, false]);
      assert.deepEqual(outcome(await confirm(codeOf(app, setup.secret))), [403, "authorization_required"]);
      const { rows } = await app.env.pool.query(
        `select 'lock' as what from tfa_locks where user_id = $1
         union all select 'setup' from tfa_setups where user_id = $1`,
        [person.id],
      );
      assert.deepEqual(rows, []);
    }
  });

  test("are each person's own: a team has none, and a stranger's secret or method opens nothing", async (t) => {
    const app = await testApp(t);
    const [person, other] = [await withAuthenticator(app), await withAuthenticator(app)];
    const team = await aTeam(app, await app.caller());
    assert.deepEqual(outcome(await ask(app, team.secret, "GET", "/tfa/status/")), [403, "team_user_forbidden"]);
    assert.deepEqual(outcome(await ask(app, team.secret, "POST", "/tfa/totp-setup/")), [403, "team_user_forbidden"]);
    nextCode(app);
    const { secret } = (await signIn(app, person.name)).body;
    const code = codeOf(app, other.app);
    const foreign = await factor(app, { tfa_method: "totp", secret, code, tfa_method_id: other.methodId });
    assert.deepEqual(outcome(foreign), [400, "tfa_method_not_configured"]);
    const byKey = await ask(app, other.secret, "POST", "/tfa/", { tfa_method: "totp", secret, code });
    assert.deepEqual(outcome(byKey), [400, "challenge_not_found"]);
    const target = { tfa_method: "totp", code, target_id: person.methodId };
    assert.deepEqual(outcome(await ask(app, other.secret, "DELETE", "/tfa/", target)), [404, "not_found"]);
  });

  test("refuse what is no code, secret or number without a fault of the server", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    const hostile = [
      "",
      " ",
      "0",
      "-1",
      "1e5",
      "000000'; drop table users; --",
      "💥".repeat(8),
      "９９９９９９",
      "../../etc",
    ];
    for (const text of hostile) {
      const { secret } = (await signIn(app, person.name)).body;
      const answers = [
        await factor(app, { tfa_method: "totp", secret, code: text }),
        await factor(app, { tfa_method: "totp", secret: text, code: "123456" }),
        await factor(app, { secret, backup_code: text }),
        await factor(app, { tfa_method: text, secret, code: "123456" }),
        await ask(app, person.secret, "POST", "/tfa/sms/", { phone_number: text }),
        await ask(app, person.secret, "PUT", "/tfa/authorize-new-method/", { secret: text, code: text }),
        await ask(app, person.secret, "POST", "/tfa/confirm-new/", { tfa_method: "totp", secret: text, code: text }),
      ];
      for (const answer of answers) {
        assert.ok([400, 401, 403, 429].includes(answer.status), `${text}: ${answer.status} ${answer.text}`);
      }
      app.clock.advance(DAY_MS);
    }
    assert.deepEqual(outcome(await factor(app, { tfa_method: "totp", code: "123456" })), [401, "missing_auth_value"]);
    assert.deepEqual(app.complaints, []);
  });
});
