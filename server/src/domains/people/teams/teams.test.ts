import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { creditOfUser, giveCredit, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { listedHost } from "../../../../../test/support/money/contracts.ts";
import { inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { aTeam, ask, done, join } from "../../../../../test/support/teams.ts";
import { until } from "../../../../../test/support/until.ts";
import { NANOS_PER_DOLLAR } from "../../../base/money.ts";
import { listAddresses } from "../accounts/for-payments.ts";
import { lockBelongings, markUserDeleted } from "../accounts/users/store.ts";

describe("teams", () => {
  let app: TestApp;
  const cleanups: (() => Promise<void> | void)[] = [];
  before(async () => {
    const scope = { after: (fn: () => Promise<void> | void) => void cleanups.push(fn) };
    app = await testApp(scope as Parameters<typeof testApp>[0]);
  });
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  const me = (secret: string) => done(app, secret, "GET", "/users/current/");
  const dollarsOf = async (id: TestCaller["id"]) =>
    Number((await creditOfUser(app, { id } as TestCaller)).balance) / Number(NANOS_PER_DOLLAR);
  const auditOf = async (secret: string): Promise<readonly string[]> =>
    (await done(app, secret, "GET", "/audit_logs/")).map((record: { api_route: string }) => record.api_route);

  test("rentals with a team's key are charged to the team, and those with a personal key to the person", async () => {
    const owner = await app.caller({ dollars: 50 });
    const team = await aTeam(app, owner, { credit: 20 });
    const member = await app.caller({ dollars: 50 });
    const memberKey = await join(app, team, member);
    const host = await app.host({ gpus: 2 });
    const rent = async (secret: string) => {
      const offers = await app.offersOf(host);
      const answer = await ask(app, secret, "PUT", `/asks/${offers.get(1)}/`, { image: "alpine", disk: 10 });
      assert.equal(answer.status, 200, answer.text);
      await app.settled();
      return answer.body.new_contract as number;
    };
    const [ofTeam, ofMember] = [await rent(memberKey), await rent(member.secret)];
    const { rows } = await app.env.pool.query(
      `select i.id, i.user_id, a.user_id as payer from instances i
       join instance_tabs t on t.instance_id = i.id join ledger_holds h on h.id = t.hold_id join ledger_accounts a on a.id = h.account_id order by i.id`,
    );
    assert.deepEqual(rows, [
      { id: ofTeam, user_id: team.id, payer: team.id },
      { id: ofMember, user_id: member.id, payer: member.id },
    ]);
    const listOf = async (secret: string) =>
      (await done(app, secret, "GET", "/instances/")).instances.map(({ id }: { id: number }) => id);
    assert.deepEqual(await listOf(team.secret), [ofTeam]);
    assert.deepEqual(await listOf(memberKey), [ofTeam]);
    assert.deepEqual(await listOf(member.secret), [ofMember]);
    assert.equal((await done(app, member.secret, "GET", `/instances/${ofTeam}/`)).instances, null);
  });

  describe("deleting one", () => {
    test("leaves no instance to a deleted account, even one that cost nothing and was ordered at the same time", async () => {
      const team = await aTeam(app, await app.caller());
      const host = await listedHost(app, { dollarsPerHour: 0 });
      const offer = (await app.offersOf(host)).get(1);
      const waiting = async () => {
        const { rows } = await app.env.pool.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length > 0;
      };
      const renting = await inTransaction(app.env.database, async (tx) => {
        await lockBelongings(tx, team.id);
        const answer = ask(app, team.secret, "PUT", `/asks/${offer}/`, { image: "alpine", disk: 10 });
        await until("the order waits for the account", waiting);
        await markUserDeleted(tx, team.id);
        return { answer };
      });
      assert.equal((await renting.answer).status, 401);
      const { rows } = await app.env.pool.query("select from instances where user_id = $1", [team.id]);
      assert.equal(rows.length, 0);
    });

    test("gives its credit back to the owner, names the key that made it, and ends every key of the team", async () => {
      const owner = await app.caller({ dollars: 30 });
      const team = await aTeam(app, owner, { credit: 10 });
      const member = await app.caller();
      const memberKey = await join(app, team, member);
      const { key: other } = await done(app, team.secret, "POST", "/auth/apikeys/", { name: "other" });
      const answer = await ask(app, team.secret, "DELETE", "/team/");
      assert.deepEqual(answer.body, { success: true, msg: "Team Successfully Deleted!", pkey_id: owner.key.id });
      for (const secret of [team.secret, memberKey, other]) {
        assert.equal((await ask(app, secret, "GET", "/users/current/")).status, 401);
      }
      assert.equal((await me(owner.secret)).id, owner.id);
      assert.equal(await dollarsOf(owner.id), 30);
      assert.deepEqual((await done(app, owner.secret, "GET", "/teams/")).teams, []);
      assert.ok((await auditOf(owner.secret)).includes("api.team.delete"));
      assert.equal((await ask(app, owner.secret, "DELETE", "/team/")).status, 404);
      await app.assertBooks();
    });

    test("names no key when the one that made it is gone", async () => {
      const owner = await app.caller();
      const founding = await done(app, owner.secret, "POST", "/auth/apikeys/", { name: "founding" });
      const made = await done(app, founding.key, "POST", "/team/", { team_name: randomUUID() });
      await done(app, owner.secret, "DELETE", `/auth/apikeys/${founding.id}/`);
      assert.equal((await me(made.key)).id, made.id);
      assert.equal((await done(app, made.key, "DELETE", "/team/")).pkey_id, null);
      assert.equal((await ask(app, made.key, "GET", "/users/current/")).status, 401);
    });

    test("gives the owner back a founding key that an earlier version made the team's", async () => {
      const owner = await app.caller();
      const founding = await done(app, owner.secret, "POST", "/auth/apikeys/", { name: "founding" });
      const made = await done(app, founding.key, "POST", "/team/", { team_name: randomUUID() });
      await app.env.pool.query("update api_keys set user_id = $1, member_id = $2 where id = $3", [
        made.id,
        owner.id,
        founding.id,
      ]);
      assert.equal((await done(app, made.key, "DELETE", "/team/")).pkey_id, founding.id);
      assert.equal((await me(founding.key)).id, owner.id);
    });

    test("is allowed to the owner only, for all permissions of others", async () => {
      const team = await aTeam(app, await app.caller());
      const manager = await join(app, team, await app.caller(), "manager");
      const answer = await ask(app, manager, "DELETE", "/team/");
      assert.deepEqual(
        [answer.status, answer.body.error, answer.body.msg],
        [403, "not_allowed", "Only the Team's Owner may delete the team"],
      );
      const personal = await ask(app, team.owner.secret, "DELETE", "/team/");
      assert.deepEqual([personal.status, personal.body.error], [404, "not_found"]);
    });

    test("is refused while anything is left, with a list of it", async () => {
      const owner = await app.caller();
      const team = await aTeam(app, owner, { credit: 20 });
      const leftOf = async () => {
        const answer = await ask(app, team.secret, "DELETE", "/team/");
        assert.deepEqual([answer.status, answer.body.error], [409, "team_not_empty"], answer.text);
        for (const one of answer.body.left) assert.ok(answer.body.msg.includes(one));
        return answer.body.left;
      };
      await done(app, team.secret, "POST", "/hosts/tokens/", { name: "rig" });
      const [token] = (await done(app, team.secret, "GET", "/hosts/tokens/")).tokens;
      assert.deepEqual(await leftOf(), ["1 join token"]);
      await done(app, team.secret, "DELETE", `/hosts/tokens/${token.id}/`);
      const { result: group } = await done(app, team.secret, "POST", "/endptjobs/", { endpoint_name: "e" });
      assert.deepEqual(await leftOf(), ["1 endpoint group"]);
      await done(app, team.secret, "DELETE", `/endptjobs/${group}/`);
      const waiting = { image: "alpine", q: { gpu_name: { eq: "none" } }, max_dph: 0.000_001 };
      const { id: request } = await done(app, team.secret, "POST", "/standing_requests/", waiting);
      assert.deepEqual(await leftOf(), ["1 standing request"]);
      await done(app, team.secret, "DELETE", `/standing_requests/${request}/`);
      const host = await app.host();
      const offer = (await app.offersOf(host)).get(1);
      await done(app, team.secret, "PUT", `/asks/${offer}/`, { image: "alpine", disk: 10 });
      assert.deepEqual(await leftOf(), ["1 instance", "charges that are being settled"]);
      assert.equal((await me(team.secret)).id, team.id);
    });

    test("during a rental for it leaves no rental without a payer", async () => {
      const host = await app.host({ gpus: 8 });
      for (let round = 0; round < 8; round += 1) {
        const team = await aTeam(app, await app.caller(), { credit: 20 });
        const renter = await join(app, team, await app.caller());
        const offer = (await app.offersOf(host)).get(1);
        const [rented, deleted] = await Promise.all([
          ask(app, renter, "PUT", `/asks/${offer}/`, { image: "alpine", disk: 10 }),
          ask(app, team.secret, "DELETE", "/team/"),
        ]);
        assert.ok(rented.status !== 200 || deleted.status === 409, `${rented.text} ${deleted.text}`);
        assert.ok(rented.status < 500 && deleted.status < 500, `${rented.text} ${deleted.text}`);
        assert.ok(rented.status === 200 || deleted.status === 200, "one of them is done");
        await app.settled();
      }
      const { rows } = await app.env.pool.query(
        "select i.id from instances i join users u on u.id = i.user_id where u.deleted_at is not null and i.phase <> 'ended'",
      );
      assert.deepEqual(rows, []);
      await app.assertBooks();
    });

    test("sends credit that comes too late to its last owner", async () => {
      const owner = await app.caller({ dollars: 1 });
      const team = await aTeam(app, owner);
      await done(app, team.secret, "DELETE", "/team/");
      await giveCredit(app, { id: team.id } as TestCaller, 7);
      assert.deepEqual(await app.runLoop("return-team-credit"), { returned: 1 });
      assert.deepEqual(await app.runLoop("return-team-credit"), { returned: 0 });
      assert.equal(await dollarsOf(owner.id), 8);
    });
  });

  describe("changing one", () => {
    test("a new name shows everywhere and is taken for other teams", async () => {
      const [team, other] = [await aTeam(app, await app.caller()), await aTeam(app, await app.caller())];
      const name = `New ${randomUUID()}`;
      const answer = await done(app, team.secret, "PUT", "/team/", { team_name: name });
      assert.deepEqual([answer.success, answer.id, answer.team_name], [true, team.id, name]);
      assert.equal((await me(team.secret)).username, name);
      assert.equal((await done(app, team.owner.secret, "GET", "/teams/")).teams[0].team_name, name);
      const taken = await ask(app, other.secret, "PUT", "/team/", { team_name: name.toLowerCase() });
      assert.deepEqual([taken.status, taken.body.error], [400, "team_name_exists"]);
      assert.equal((await ask(app, team.secret, "PUT", "/team/", { team_name: "a\u0001" })).status, 400);
      assert.equal((await ask(app, team.owner.secret, "PUT", "/team/", { team_name: "mine" })).status, 404);
    });

    test("handed over, it has a new owner and the old one is a manager, at once for their keys", async () => {
      const team = await aTeam(app, await app.caller());
      const heir = await app.caller();
      const heirKey = await join(app, team, heir);
      assert.equal((await ask(app, heirKey, "GET", "/team/members/")).status, 403);
      const answer = await done(app, team.secret, "PUT", "/team/transfer/", { new_team_owner_id: heir.id });
      assert.equal(answer.success, true);
      const members = await done(app, heirKey, "GET", "/team/members/");
      assert.deepEqual(
        members.map(({ id, role }: { id: number; role: string }) => [id, role]),
        [
          [team.owner.id, "Manager"],
          [heir.id, "Owner"],
        ],
      );
      assert.equal((await ask(app, team.secret, "DELETE", "/team/")).status, 403);
      assert.equal((await done(app, heirKey, "DELETE", "/team/")).pkey_id, null);
      assert.equal((await ask(app, team.secret, "GET", "/users/current/")).status, 401);
    });

    test("its notifications go to its owner's address", async () => {
      const team = await aTeam(app, await app.caller());
      const heir = await app.caller();
      await join(app, team, heir);
      const addressOf = async () => (await listAddresses(app.env.database.kysely, [team.id])).get(team.id);
      assert.equal(await addressOf(), team.owner.email);
      await done(app, team.secret, "PUT", "/team/transfer/", { email: heir.email });
      assert.equal(await addressOf(), heir.email);
    });

    test("is handed over only by its owner, and only to a member", async () => {
      const team = await aTeam(app, await app.caller());
      const stranger = await app.caller();
      const manager = await join(app, team, await app.caller(), "manager");
      const transfer = (secret: string, body: unknown) => ask(app, secret, "PUT", "/team/transfer/", body);
      assert.equal((await transfer(manager, { user_id: stranger.id })).body.error, "not_allowed");
      const bodies = [{ user_id: stranger.id }, { user_id: 2_000_000_000 }, { email: stranger.email }];
      for (const body of bodies) {
        const answer = await transfer(team.secret, body);
        assert.deepEqual([answer.status, answer.body.error], [404, "no_such_member"]);
      }
      assert.equal((await transfer(team.secret, {})).status, 400);
      assert.equal((await transfer(team.secret, { user_id: team.owner.id })).status, 400);
    });

    test("balances are shown to roles with billing, and keys to roles with members", async () => {
      const owner = await app.caller({ dollars: 10 });
      const team = await aTeam(app, owner, { credit: 4 });
      const person = await app.caller();
      const member = await join(app, team, person);
      const balances = [{ team_id: team.id, team_name: team.name, balance: 4, credit: 4 }];
      assert.deepEqual(await done(app, team.secret, "GET", "/team/balances/"), {
        success: true,
        msg: "1 team",
        balances,
      });
      assert.deepEqual((await done(app, owner.secret, "GET", "/team/balances/")).balances, balances);
      assert.equal((await ask(app, member, "GET", "/team/balances/")).status, 403);
      assert.deepEqual((await done(app, person.secret, "GET", "/team/balances/")).balances, []);
      const { apikeys, ...shown } = await done(app, team.secret, "GET", "/team/apikeys/");
      const roles = await done(app, team.secret, "GET", "/team/roles-full/");
      const memberRole = roles.find((role: { readonly identifier: string }) => role.identifier === "member");
      const keys = Object.entries<{ user_id: number; username: string; key: string; role_name: string }[]>(shown.keys);
      assert.deepEqual([shown.success, shown.keys_found, keys.length], [true, 2, 2]);
      assert.deepEqual(
        shown.keys[memberRole.id].map((key: Record<string, unknown>) => [key["user_id"], key["role_name"], key["key"]]),
        [[person.id, "Member", ""]],
      );
      assert.deepEqual(
        apikeys.map((key: Record<string, unknown>) => [key["user_id"], key["team_id"], key["team_owner"]]),
        [
          [owner.id, team.id, owner.id],
          [person.id, team.id, owner.id],
        ],
      );
      assert.equal((await ask(app, member, "GET", "/team/apikeys/")).status, 403);
    });
  });
});
