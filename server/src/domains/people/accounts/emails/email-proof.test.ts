import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aCaller } from "../../../../../../test/support/fixtures.ts";
import { anSmtpServer } from "../../../../../../test/support/network/smtp-server.ts";
import { aTeam, ask, done } from "../../../../../../test/support/teams.ts";

const ADDRESS = "newhire@corp.example";
const DAY_MS = 86_400_000;
const PROOF = "/users/me/email/proof/";
const CONFIRM = "/users/me/email/confirm/";

async function withMail(t: TestContext) {
  const smtp = await anSmtpServer(t);
  const app = await testApp(t, {
    notifications: { mail: { smtpUrl: smtp.url, from: "Berth <berth@market.example>" } },
  });
  /** The tokens that were mailed to an address, oldest first. */
  const tokensTo = async (address: string) => {
    await app.runLoop("send-mails");
    const mails = smtp.mails.filter(({ to }) => to.includes(address));
    // A mail server may break a long line: `=` at its end.
    return mails.flatMap(({ text }) => /berth (?:email confirm|team accept) (\S+)/.exec(unfolded(text))?.[1] ?? []);
  };
  return { app, tokensTo };
}

const unfolded = (text: string) => text.replaceAll("=\r\n", "").replaceAll("=3D", "=");

let nameCount = 0;
async function signUp(app: TestApp, email = ADDRESS) {
  nameCount += 1;
  const body = { email, username: `person${nameCount}`, password: "long enough" };
  const answer = await app.call({ method: "POST", url: "/api/v0/users/", body });
  return { status: answer.status, id: answer.body.id, secret: answer.body.api_key, text: answer.text };
}

const me = (app: TestApp, secret: string) => done(app, secret, "GET", "/users/current/");
const give = (app: TestApp, secret: string, recipient: string) =>
  ask(app, secret, "PUT", "/commands/transfer_credit/", { recipient, amount: 1 });

describe("an address where mail can prove it", () => {
  test("is proven by the token that was mailed there, once, with the account's own key", async (t) => {
    const { app, tokensTo } = await withMail(t);
    const [person, other] = [await signUp(app), await app.caller()];
    assert.equal((await me(app, person.secret)).email_verified, false);
    const [token] = await tokensTo(ADDRESS);
    assert.ok(token !== undefined);
    assert.equal((await ask(app, other.secret, "POST", CONFIRM, { token })).status, 404);
    await done(app, person.secret, "POST", CONFIRM, { token });
    assert.equal((await me(app, person.secret)).email_verified, true);
    const again = await ask(app, person.secret, "POST", CONFIRM, { token });
    assert.deepEqual([again.status, again.body.error], [404, "no_such_proof"]);
    const { rows } = await app.env.pool.query("select count(*)::integer as left from direct_mails");
    assert.equal(rows[0].left, 0, "what was sent is deleted");
  });

  test("counts for nothing while anybody may claim it: no invitation is accepted, no credit received", async (t) => {
    const { app, tokensTo } = await withMail(t);
    const [owner, squatter] = [await app.caller(), await signUp(app)];
    const team = await aTeam(app, owner);
    const { token } = await done(app, team.secret, "POST", "/team/invite/", { email: ADDRESS, role: "manager" });
    const notices = await app.env.pool.query("select message from notices where user_id = $1", [squatter.id]);
    assert.deepEqual(notices.rows, []);
    assert.ok((await tokensTo(ADDRESS)).includes(token), "it goes to the mailbox");
    const accepted = await ask(app, squatter.secret, "GET", `/team/invite/${token}/`);
    assert.deepEqual([accepted.status, accepted.body.error], [403, "email_not_verified"]);
    const given = await give(app, owner.secret, ADDRESS);
    assert.deepEqual([given.status, given.body.error], [409, "recipient_not_proven"]);
    assert.deepEqual(given.body.recipients, [{ id: squatter.id, email_verified: false }]);
    assert.equal((await give(app, owner.secret, String(squatter.id))).status, 200, "an id is nobody's claim");
  });

  test("gets at most five invitations a day by all teams, and none from a person without a proven address", async (t) => {
    const { app, tokensTo } = await withMail(t);
    const invite = async (secret: string) => {
      const { token, msg } = await done(app, secret, "POST", "/team/invite/", { email: ADDRESS, role: "member" });
      return { token, isMailed: msg.startsWith("New invitation sent") };
    };
    const unproven = await signUp(app, "spammer@corp.example");
    const { key } = await done(app, unproven.secret, "POST", "/team/", { team_name: "Buy here" });
    assert.equal((await invite(key)).isMailed, false);
    const owner = await app.caller();
    const outcomes: { readonly token: string; readonly isMailed: boolean }[] = [];
    for (let count = 0; count < 6; count += 1) outcomes.push(await invite((await aTeam(app, owner)).secret));
    assert.deepEqual(
      outcomes.map(({ isMailed }) => isMailed),
      [true, true, true, true, true, false],
    );
    const mailed = await tokensTo(ADDRESS);
    assert.deepEqual(new Set(mailed), new Set(outcomes.slice(0, 5).map(({ token }) => token)));
  });

  test("goes to the account that proves it, and an account that only claimed it keeps everything else", async (t) => {
    const { app, tokensTo } = await withMail(t);
    const [sender, squatter] = [await app.caller(), await signUp(app)];
    assert.equal((await tokensTo(ADDRESS)).length, 1);
    app.clock.jump(60_000);
    const person = await signUp(app);
    assert.equal(person.status, 200, person.text);
    const token = (await tokensTo(ADDRESS)).at(-1);
    assert.equal((await ask(app, squatter.secret, "POST", CONFIRM, { token })).status, 404);
    await done(app, person.secret, "POST", CONFIRM, { token });
    const former = await me(app, squatter.secret);
    assert.deepEqual([former.id, former.email], [squatter.id, `account-${squatter.id}@unproven.invalid`]);
    const { rows } = await app.env.pool.query("select kind from notices where user_id = $1", [squatter.id]);
    assert.deepEqual(rows, [{ kind: "client:email_lost" }]);
    assert.equal((await give(app, sender.secret, ADDRESS)).status, 200);
    assert.equal((await me(app, person.secret)).credit, 1);
    const late = await signUp(app);
    assert.equal(late.status, 409, "a proven address is taken");
    const back = await ask(app, squatter.secret, "PUT", "/users/", { normalized_email: ADDRESS });
    assert.deepEqual([back.status, back.body.error], [409, "user_exists"]);
  });

  test("loses its proof when the account changes its address, and an old token is invalid then", async (t) => {
    const { app, tokensTo } = await withMail(t);
    const person = await signUp(app);
    const [first] = await tokensTo(ADDRESS);
    const other = "other@corp.example";
    await done(app, person.secret, "PUT", "/users/", { normalized_email: other });
    assert.equal((await ask(app, person.secret, "POST", CONFIRM, { token: first })).status, 404);
    const [second] = await tokensTo(other);
    await done(app, person.secret, "POST", CONFIRM, { token: second });
    await done(app, person.secret, "PUT", "/users/", { normalized_email: other.toUpperCase() });
    assert.equal((await me(app, person.secret)).email_verified, true, "the same address is no change");
    await done(app, person.secret, "PUT", "/users/", { normalized_email: ADDRESS });
    assert.equal((await me(app, person.secret)).email_verified, false);
  });

  test("gets at most one token a minute and five a day, for all accounts together, and a token is valid for a day", async (t) => {
    const { app, tokensTo } = await withMail(t);
    const person = await signUp(app);
    const refused = await ask(app, person.secret, "POST", PROOF, {});
    assert.equal(refused.status, 429);
    assert.match(refused.body.msg, /in 60 seconds/);
    // Each mail is sent before the next token is requested: mails sent together arrive in any order.
    await tokensTo(ADDRESS);
    for (const _ of [2, 3, 4, 5]) {
      app.clock.jump(60_000);
      await done(app, person.secret, "POST", PROOF, {});
      await tokensTo(ADDRESS);
    }
    app.clock.jump(60_000);
    assert.equal((await ask(app, person.secret, "POST", PROOF, {})).status, 429);
    assert.equal((await signUp(app)).status, 200, "another account is made, and mails nothing");
    const tokens = await tokensTo(ADDRESS);
    assert.equal(tokens.length, 5);
    assert.equal((await ask(app, person.secret, "POST", CONFIRM, { token: tokens[0] })).status, 404, "replaced");
    app.clock.jump(DAY_MS);
    assert.equal((await ask(app, person.secret, "POST", CONFIRM, { token: tokens.at(-1) })).status, 404, "over");
  });
});

describe("an address where no mail can prove it", () => {
  test("counts by the operator's word, which takes it from accounts that only claim it", async (t) => {
    const app = await testApp(t);
    const [admin, sender] = [await aCaller(app.env.database, { isAdmin: true }), await app.caller()];
    const claimant = await signUp(app);
    const refused = await ask(app, claimant.secret, "POST", PROOF, {});
    assert.deepEqual([refused.status, refused.body.error], [409, "no_mail_server"]);
    const given = await give(app, sender.secret, ADDRESS);
    assert.match(given.body.msg, new RegExp(`Account ${claimant.id} claims ${ADDRESS}: not proven`));
    await done(app, admin.secret, "POST", `/admin/users/${claimant.id}/prove_email/`, { email: ADDRESS });
    assert.equal((await give(app, sender.secret, ADDRESS)).status, 200);
    const second = await signUp(app, "second@corp.example");
    const made = await done(app, admin.secret, "POST", "/admin/users/", { email: "second@corp.example" });
    assert.equal((await me(app, made.api_key)).email_verified, true);
    assert.equal((await me(app, second.secret)).email, `account-${second.id}@unproven.invalid`);
  });

  test("is invited by a token that the inviter hands over, and that no notification shows", async (t) => {
    const app = await testApp(t);
    const [owner, claimant] = [await app.caller(), await signUp(app)];
    const team = await aTeam(app, owner);
    const { token } = await done(app, team.secret, "POST", "/team/invite/", { email: ADDRESS, role: "manager" });
    const { rows } = await app.env.pool.query("select count(*)::integer as told from notices where message like $1", [
      `%${token}%`,
    ]);
    assert.equal(rows[0].told, 0);
    assert.equal((await ask(app, claimant.secret, "GET", `/team/invite/${token}/`)).status, 200);
  });
});
