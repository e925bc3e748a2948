import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { aCaller, aKey, aUser, inTransaction } from "../../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { systemClock } from "../../../../base/clock.ts";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { createLog } from "../../../../base/log.ts";
import { listen } from "../../../../db/listener.ts";
import { API_KEYS_CHANNEL, createIdentities } from "./identities.ts";
import { insertInstanceKeys } from "./store.ts";
import { newKey } from "./rules/keys.ts";
import { deleteMember, insertMember, insertRole, setMemberRole, updateRole } from "../team-accounts/member-store.ts";

const { database, connection, pool } = await testDatabase();
const log = createLog("silent");
const reading = { api: { instance_read: {}, misc: {} } };

/** A team with a role and a member who has it, and a key of the member's for the team. */
async function aTeamWithMember() {
  const person = await aCaller(database);
  return inTransaction(database, async (tx) => {
    const { id: teamId } = await aUser(tx, { isTeam: true });
    const roleId = await insertRole(tx, teamId, { name: "Reader", identifier: "reader", permissions: reading });
    const managerId = await insertRole(tx, teamId, { name: "Manager", identifier: "manager", permissions: undefined });
    await insertMember(tx, { teamId, memberId: person.id, roleId });
    const key = await aKey(tx, { id: teamId, memberId: person.id });
    const permissions = { api: { misc: {}, user_read: {} } };
    const narrow = await aKey(tx, { id: teamId, memberId: person.id }, { permissions });
    return { person, teamId, roleId, managerId, key, narrow };
  });
}

test("a key of a team stands for the team, within its holder's role and its own permissions", async () => {
  const { person, teamId, key, narrow } = await aTeamWithMember();
  const identities = createIdentities({ database, clock: systemClock, random: randomBytes });
  const expected = { userId: teamId, memberId: person.id, isAdmin: false, instanceId: undefined };
  const [whole, part] = [await identities.authenticate(key.secret), await identities.authenticate(narrow.secret)];
  assert.deepEqual(whole, { ...expected, apiKeyId: key.id, permissions: reading });
  assert.deepEqual(part, { ...expected, apiKeyId: narrow.id, permissions: { api: { misc: {} } } });
});

test("a key whose holder is no member is invalid, and an instance's key needs no holder", async () => {
  const { teamId, person, key } = await aTeamWithMember();
  const identities = createIdentities({ database, clock: systemClock, random: randomBytes });
  const ofInstance = newKey(randomBytes);
  const row = { userId: teamId, instanceId: asId<InstanceId>(5), ...ofInstance };
  await inTransaction(database, async (tx) => {
    await insertInstanceKeys(tx, [row]);
    assert.ok(await deleteMember(tx, teamId, person.id));
  });
  assert.equal(await identities.authenticate(key.secret), undefined);
  assert.equal((await identities.authenticate(ofInstance.secret))?.userId, teamId);
});

test("changes of roles and members elsewhere reach this process, and so does the end of a member's account", async (t) => {
  const identities = createIdentities({ database, clock: systemClock, random: randomBytes });
  let heard = 0;
  const handler = {
    onGap: () => identities.channelHandler.onGap(),
    onMessage: (payload: string) => {
      identities.channelHandler.onMessage(payload);
      heard += 1;
    },
  };
  const listener = await listen(connection, new Map([[API_KEYS_CHANNEL, handler]]), { clock: systemClock, log });
  t.after(() => listener.close());
  const untilHeard = async (expected: number) => {
    while (heard < expected) await new Promise((resolve) => setImmediate(resolve));
  };
  const { person, teamId, roleId, managerId, key } = await aTeamWithMember();
  const permissionsNow = async () => (await identities.authenticate(key.secret))?.permissions;
  assert.deepEqual(await permissionsNow(), reading);

  const less = { api: { misc: {} } };
  await inTransaction(database, (tx) => updateRole(tx, teamId, { id: roleId, name: "Reader", permissions: less }));
  await untilHeard(1);
  assert.deepEqual(await permissionsNow(), less);

  await inTransaction(database, (tx) => setMemberRole(tx, { teamId, memberId: person.id, roleId: managerId }));
  await untilHeard(2);
  assert.equal(Object.keys((await permissionsNow())?.api ?? {}).length, 11);

  await pool.query("update users set deleted_at = now() where id = $1", [person.id]);
  await untilHeard(4);
  assert.equal(await identities.authenticate(key.secret), undefined);
});
