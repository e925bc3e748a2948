import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import {
  ask,
  codeOf,
  done,
  nextCode,
  outcome,
  signUp,
  withAuthenticator,
} from "../../../../../../test/support/second-factors.ts";

describe("a key that demands a second factor", () => {
  test("reads and creates alone, and destroys with a session that a code opened", async (t) => {
    const app = await testApp(t);
    const person = await withAuthenticator(app);
    const make = (key: string, more = {}) => done(app, key, "POST", "/auth/apikeys/", { name: "ci", ...more });
    const { key, id } = await make(person.secret, { demands_tfa: true });
    assert.equal((await done(app, key, "GET", `/auth/apikeys/${id}/`)).demands_tfa, true);
    const spare = await make(person.secret);
    const destroy = (by: string) => ask(app, by, "DELETE", `/auth/apikeys/${spare.id}/`);
    const refused = await destroy(key);
    assert.deepEqual(outcome(refused), [401, "tfa_required"]);
    assert.match(refused.body.msg, /Two Factor Authentication/);
    for (const path of ["/commands/reset_apikey/", "/commands/transfer_credit/", "/users/"]) {
      assert.deepEqual(outcome(await ask(app, key, "PUT", path, {})), [401, "tfa_required"], path);
    }
    for (const [method, path, body] of [
      ["POST", "/team/", { team_name: "lab", transfer_credit: 1 }],
      ["POST", "/team/invite/", { email: "other@example.com", role: "member" }],
      ["PUT", "/subaccounts/regenerate_keys/", { regenerate_all: true }],
    ] as const) {
      assert.deepEqual(outcome(await ask(app, key, method, path, body)), [401, "tfa_required"], path);
    }
    const child = await make(key, { demands_tfa: false });
    assert.deepEqual(outcome(await destroy(child.key)), [401, "tfa_required"], "its keys demand as much");
    nextCode(app);
    const login = { tfa_method: "totp", code: codeOf(app, person.app) };
    const { session_key: session } = await done(app, key, "POST", "/tfa/", login);
    assert.equal((await destroy(session)).status, 200);
    assert.equal((await ask(app, person.secret, "DELETE", `/auth/apikeys/${child.id}/`)).status, 200, "others do not");
  });

  test("destroys by itself while its account has no second factor", async (t) => {
    const app = await testApp(t);
    const person = await signUp(app);
    const { key, id } = await done(app, person.secret, "POST", "/auth/apikeys/", { name: "ci", demands_tfa: true });
    const { id: child } = await done(app, key, "POST", "/auth/apikeys/", { name: "ci's" });
    assert.equal((await done(app, person.secret, "GET", `/auth/apikeys/${child}/`)).demands_tfa, true);
    const { key: teamKey } = await done(app, key, "POST", "/team/", { team_name: "lab" });
    const other = await signUp(app);
    const { key: strict } = await done(app, other.secret, "POST", "/auth/apikeys/", { name: "ci", demands_tfa: true });
    const { token } = await done(app, teamKey, "POST", "/team/invite/", { email: other.email, role: "member" });
    const { key: memberKey } = await done(app, strict, "GET", `/team/invite/${token}/`);
    for (const made of [teamKey, memberKey]) {
      const [{ demands_tfa: demands }] = (await done(app, made, "GET", "/auth/apikeys/")).apikeys;
      assert.equal(demands, true, "a key of a team that it made or joined demands as much");
    }
    assert.equal((await ask(app, key, "DELETE", `/auth/apikeys/${id}/`)).status, 200);
  });
});
