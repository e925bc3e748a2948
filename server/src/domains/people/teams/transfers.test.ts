import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { creditOfUser, giveCredit, testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { aTeam, ask, done, join } from "../../../../../test/support/teams.ts";
import type { UserId } from "../../../base/ids.ts";
import { NANOS_PER_DOLLAR } from "../../../base/money.ts";

describe("credit of teams and subaccounts", () => {
  let app: TestApp;
  const cleanups: (() => Promise<void> | void)[] = [];
  before(async () => {
    const scope = { after: (fn: () => Promise<void> | void) => void cleanups.push(fn) };
    app = await testApp(scope as Parameters<typeof testApp>[0]);
  });
  after(async () => {
    await app.assertBooks();
    for (const cleanup of cleanups) await cleanup();
  });

  const transfer = (secret: string, body: object) =>
    ask(app, secret, "PUT", "/commands/transfer_credit/", { client_id: "me", ...body });
  const dollarsOf = async (id: UserId) =>
    Number((await creditOfUser(app, { id } as TestCaller)).balance) / Number(NANOS_PER_DOLLAR);
  const aChild = async (parent: TestCaller, dollars = 0) => {
    const name = randomUUID().slice(0, 18);
    const body = { parent_id: "me", email: `${name}@example.com`, username: name, password: "long enough" };
    const made = await done(app, parent.secret, "POST", "/users/", body);
    const child = { id: made.id as UserId, email: body.email, secret: made.api_key as string };
    if (dollars > 0) await giveCredit(app, child as TestCaller, dollars);
    return child;
  };

  test("only members send credit to a team; for others the team does not exist", async () => {
    const team = await aTeam(app, await app.caller());
    const [member, stranger] = [await app.caller(), await app.caller()];
    await join(app, team, member);
    for (const secret of [team.owner.secret, member.secret]) {
      assert.equal((await transfer(secret, { recipient: team.id, amount: 3 })).status, 200);
    }
    assert.equal(await dollarsOf(team.id), 6);
    const [foreign, absent] = [
      await transfer(stranger.secret, { recipient: team.id, amount: 3 }),
      await transfer(stranger.secret, { recipient: 2_000_000_000, amount: 3 }),
    ];
    assert.deepEqual([foreign.status, foreign.body.error], [400, "invalid_recipient"]);
    assert.equal(
      foreign.body.msg.replace(String(team.id), "N"),
      absent.body.msg.replace("2000000000", "N"),
      "a team looks like nobody",
    );
    await done(app, team.secret, "DELETE", `/team/members/${member.id}/`);
    assert.equal((await transfer(member.secret, { recipient: team.id, amount: 1 })).status, 400);
    assert.equal(await dollarsOf(team.id), 6);
  });

  test("only its owner sends credit of a team, to a member or to another team of the owner's", async () => {
    const owner = await app.caller();
    const [team, second] = [await aTeam(app, owner, { credit: 50 }), await aTeam(app, owner)];
    const foreignTeam = await aTeam(app, await app.caller());
    const [member, stranger] = [await app.caller({ dollars: 0 }), await app.caller({ dollars: 0 })];
    const manager = await join(app, team, member, "manager");
    for (const recipient of [owner.email, member.id, second.id]) {
      assert.equal((await transfer(team.secret, { recipient, amount: 2 })).status, 200, String(recipient));
    }
    assert.deepEqual([await dollarsOf(team.id), await dollarsOf(member.id), await dollarsOf(second.id)], [44, 2, 2]);
    for (const recipient of [stranger.email, foreignTeam.id, team.id]) {
      const answer = await transfer(team.secret, { recipient, amount: 2 });
      assert.deepEqual([answer.status, answer.body.error], [400, "invalid_recipient"], String(recipient));
    }
    for (const recipient of [owner.email, member.id]) {
      const answer = await transfer(manager, { recipient, amount: 2 });
      assert.deepEqual([answer.status, answer.body.error], [403, "not_allowed"], String(recipient));
    }
    assert.equal(
      (await transfer(team.secret, { recipient: owner.id, amount: 44.01 })).body.error,
      "insufficient_balance",
    );
    assert.equal(await dollarsOf(team.id), 44);
    const [record] = await done(app, team.secret, "GET", "/audit_logs/");
    assert.deepEqual(
      [record.api_route, record.args.recipient_id, record.args.member_id],
      ["api.billing.transfer_credit", second.id, owner.id],
    );
  });

  test("a subaccount pays from its own credit, and its parent sees what each has", async () => {
    const parent = await app.caller({ dollars: 20 });
    const [one, other] = [await aChild(parent, 4.5), await aChild(parent)];
    assert.equal((await transfer(parent.secret, { recipient: other.id, amount: 6 })).status, 200);
    const { users } = await done(app, parent.secret, "GET", "/subaccounts/?owner=me");
    assert.deepEqual(
      users.map(({ id, balance, credit }: Record<string, number>) => [id, balance, credit]),
      [
        [one.id, 4.5, 4.5],
        [other.id, 6, 6],
      ],
    );
    assert.deepEqual((await done(app, one.secret, "GET", "/subaccounts/")).users, []);
    const host = await app.host();
    const offer = (await app.offersOf(host)).get(1);
    await done(app, one.secret, "PUT", `/asks/${offer}/`, { image: "alpine", disk: 10 });
    assert.ok((await creditOfUser(app, one as unknown as TestCaller)).held > 0n);
    assert.equal((await creditOfUser(app, parent)).held, 0n);
    assert.deepEqual((await done(app, parent.secret, "GET", "/instances/")).instances, []);
  });

  test("a parent moves credit back from a subaccount, and between subaccounts, and nowhere else", async () => {
    const parent = await app.caller({ dollars: 10 });
    const [one, other] = [await aChild(parent, 10), await aChild(parent)];
    const stranger = await app.caller();
    const back = { sender: one.id, recipient: "me", amount: 4 };
    assert.equal((await transfer(parent.secret, back)).status, 200);
    assert.equal((await transfer(parent.secret, { sender: one.email, recipient: other.id, amount: 1 })).status, 200);
    assert.deepEqual([await dollarsOf(parent.id), await dollarsOf(one.id), await dollarsOf(other.id)], [14, 5, 1]);
    const outside = await transfer(parent.secret, { sender: one.id, recipient: stranger.id, amount: 1 });
    assert.deepEqual([outside.status, outside.body.error], [400, "invalid_recipient"]);
    const self = await transfer(parent.secret, { sender: one.id, recipient: one.id, amount: 1 });
    assert.equal(self.body.error, "invalid_recipient");
    const tooMuch = await transfer(parent.secret, { sender: one.id, recipient: "me", amount: 5.01 });
    assert.equal(tooMuch.body.error, "insufficient_balance");
    const own = await transfer(parent.secret, { sender: parent.email, recipient: one.id, amount: 1 });
    assert.equal(own.status, 200, "the sender's own name is no other's");
    assert.deepEqual([await dollarsOf(parent.id), await dollarsOf(one.id)], [13, 6]);
    const records = (await done(app, parent.secret, "GET", "/audit_logs/")).filter(
      ({ api_route: route, args }: { api_route: string; args: object }) =>
        route === "api.billing.transfer_credit" && "sender_id" in args,
    );
    assert.deepEqual(
      records.map(({ args }: { args: Record<string, unknown> }) => [args["sender_id"], args["recipient_id"]]),
      [
        [one.id, other.id],
        [one.id, parent.id],
      ],
    );
    assert.deepEqual(
      await done(app, other.secret, "GET", "/audit_logs/").then((all) =>
        all.map((r: { api_route: string }) => r.api_route),
      ),
      [],
    );
  });

  test("only its parent moves the credit of a subaccount, not another subaccount", async () => {
    const [parent, stranger] = [await app.caller(), await app.caller()];
    const [one, other] = [await aChild(parent, 10), await aChild(parent)];
    const team = await aTeam(app, parent);
    const narrow = { name: "n", permissions: { api: { user_read: {} } } };
    const { key: readOnly } = await done(app, parent.secret, "POST", "/auth/apikeys/", narrow);
    for (const secret of [stranger.secret, other.secret, team.secret]) {
      const [foreign, absent] = [
        await transfer(secret, { sender: one.id, recipient: "me", amount: 1 }),
        await transfer(secret, { sender: 2_000_000_000, recipient: "me", amount: 1 }),
      ];
      for (const { status, body } of [foreign, absent]) {
        assert.deepEqual([status, body.error, body.field], [400, "invalid_params", "sender"]);
      }
      assert.equal(foreign.body.msg.replace(String(one.id), "N"), absent.body.msg.replace("2000000000", "N"));
    }
    assert.equal((await transfer(readOnly, { sender: one.id, recipient: "me", amount: 1 })).status, 403);
    assert.equal((await transfer(one.secret, { sender: parent.id, recipient: "me", amount: 1 })).status, 400);
    assert.equal(await dollarsOf(one.id), 10);
  });

  test("a repeated request moves a subaccount's credit once", async () => {
    const parent = await app.caller({ dollars: 0 });
    const child = await aChild(parent, 10);
    const call = {
      method: "PUT",
      url: "/api/v0/commands/transfer_credit/",
      secret: parent.secret,
      body: { sender: child.id, recipient: "me", amount: 3 },
      headers: { "idempotency-key": randomUUID() },
    } as const;
    for (let attempt = 0; attempt < 3; attempt += 1) assert.equal((await app.call(call)).status, 200);
    assert.deepEqual([await dollarsOf(parent.id), await dollarsOf(child.id)], [3, 7]);
  });
});
