import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction } from "../../../test/support/fixtures.ts";
import { testApp } from "../../../test/support/app.ts";
import { issueAgentToken } from "../domains/supply/hosts/for-assembly.ts";

test("the record of an account says whether it hosts, also in the list of subaccounts", async (t) => {
  const world = await testApp(t);
  const [renter, joining, host] = [await world.caller(), await world.caller(), await world.caller()];
  await inTransaction(world.env.database, (tx) =>
    issueAgentToken(tx, { userId: joining.id, name: "rig", isTrusted: false }),
  );
  await world.host({ gpus: 1, owner: host });
  const accepted = async ({ secret }: { readonly secret: string }) =>
    (await world.call({ url: "/api/v0/users/current/", secret })).body.host_agreement_accepted;
  assert.deepEqual(await Promise.all([renter, joining, host].map(accepted)), [false, true, true]);

  await world.env.pool.query("update users set parent_id = $1 where id = any ($2)", [renter.id, [joining.id, host.id]]);
  const { users } = (await world.call({ url: "/api/v0/subaccounts/", secret: renter.secret })).body;
  assert.deepEqual(
    users.map((one: { readonly host_agreement_accepted: boolean }) => one.host_agreement_accepted),
    [true, true],
  );
});
