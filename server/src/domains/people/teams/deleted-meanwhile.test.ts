import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { listedHost } from "../../../../../test/support/money/contracts.ts";
import { aCaller, inTransaction } from "../../../../../test/support/fixtures.ts";
import { aTeam, ask, done } from "../../../../../test/support/teams.ts";
import { until } from "../../../../../test/support/until.ts";
import { lockBelongings, markUserDeleted } from "../accounts/users/store.ts";

type Landing = {
  readonly what: string;
  readonly table: string;
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly body: object;
};

/** Every object that a deleted team must not have and that one request creates. */
async function landings(app: TestApp): Promise<readonly Landing[]> {
  const owner = await app.caller();
  const host = await listedHost(app, { dollarsPerHour: 0 }, { owner });
  const offer = (await app.offersOf(host)).get(1);
  const listed = await done(app, owner.secret, "POST", "/volumes/", { machine: host.machineId, size: 50 });
  const admin = await aCaller(app.env.database, { isAdmin: true });
  const { disk_id: disk } = await done(app, admin.secret, "POST", "/admin/disks/", { email: owner.email, size: 100 });
  const space = await done(app, owner.secret, "POST", "/network_volume/", { disk_id: disk, size: 50 });
  const idIn = (text: unknown) => Number(/\d+/.exec(String(text))?.[0]);
  const waiting = { image: "alpine", q: { gpu_name: { eq: "none" } }, max_dph: 0.000_001 };
  return [
    {
      what: "instance",
      table: "instances",
      method: "PUT",
      path: `/asks/${offer}/`,
      body: { image: "alpine", disk: 10 },
    },
    { what: "volume", table: "volumes", method: "PUT", path: "/volumes/", body: { id: idIn(listed.msg), size: 10 } },
    {
      ...{ what: "network volume", table: "volumes", method: "PUT", path: "/network_volumes/" },
      body: { id: idIn(space.disk_id), size: 10 },
    },
    { what: "join token", table: "join_tokens", method: "POST", path: "/hosts/tokens/", body: { name: "rig" } },
    { what: "request", table: "standing_requests", method: "POST", path: "/standing_requests/", body: waiting },
    { what: "group", table: "endpoint_groups", method: "POST", path: "/endptjobs/", body: { endpoint_name: "e" } },
  ];
}

test("a deleted account keeps no object, even one that was ordered at the same time", async (t) => {
  const app = await testApp(t);
  for (const { what, table, method, path, body } of await landings(app)) {
    const team = await aTeam(app, await app.caller({ dollars: 50 }), { credit: 20 });
    const waiting = async () => {
      const { rows } = await app.env.pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    };
    const asked = await inTransaction(app.env.database, async (tx) => {
      await lockBelongings(tx, team.id);
      const answer = ask(app, team.secret, method, path, body);
      await until(`the ${what} waits for the account`, waiting);
      await markUserDeleted(tx, team.id);
      return { answer };
    });
    const { status, text } = await asked.answer;
    assert.equal(status, 401, `${what}: ${text}`);
    const { rows } = await app.env.pool.query(`select from ${table} where user_id = $1`, [team.id]);
    assert.equal(rows.length, 0, what);
  }
});
