import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { aMachine, anInstanceRow } from "../../../../../test/support/hosts/machines.ts";
import { soon, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { asId, type EndpointGroupId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { addWorker } from "../endpoints/service.ts";

/** Two servers of one database, and a stopped endpoint with a worker that is ready. */
async function twoServers(t: TestContext) {
  // The database outlives the servers: hooks run in the order in which they were added.
  const env = await testDatabase();
  const shared = { env, clock: new ManualClock(), secret: randomBytes(32) };
  const one = await testApp(t, { ...shared, dataDirKey: "one" });
  const two = await testApp(t, { ...shared, dataDirKey: "two" });
  const owner = await one.caller();
  const { secret } = owner;
  const body = { endpoint_name: "chat", min_load: 0, cold_workers: 0, endpoint_state: "stopped" };
  const made = await one.call({ method: "POST", url: "/api/v0/endptjobs/", secret, body });
  const id = asId<EndpointGroupId>(Number(made.body.result));
  const workerId = await withTransaction(env.database, shared.clock, async (tx) => {
    const instanceId = await anInstanceRow(tx, owner.id, await aMachine(tx, owner.id));
    await addWorker(tx, id, instanceId);
    const set = { url: "http://192.0.2.7:30000", ready_at: tx.now, reported_at: tx.now, claimed_perf: 100 };
    await tx.db.updateTable("endpoint_workers").set(set).where("instance_id", "=", instanceId).execute();
    return instanceId;
  });
  const change = (server: TestApp, method: "PUT" | "DELETE", sent: object) =>
    server.call({ method, url: `/api/v0/endptjobs/${id}/`, secret, body: sent });
  /** The answer to a request for a route: the worker's address, or the error. */
  const route = async (server: TestApp): Promise<string> => {
    const asked = { method: "POST" as const, url: "/route/", secret, body: { endpoint: "chat", cost: 1 } };
    const { body: said } = await server.call(asked);
    if (said.url !== undefined) server.app.routers.of(id)?.finish(workerId, [said.request_idx], 0);
    return said.url ?? said.error;
  };
  return { env, clock: shared.clock, one, two, change, route };
}

test("the state that a change sets holds for the very next request, at the server that was asked and at every other", async (t) => {
  const { one, two, change, route } = await twoServers(t);
  const [routed, stopped] = ["http://192.0.2.7:30000", "endpoint_stopped"];
  for (const server of [one, two]) assert.equal(await route(server), stopped);
  for (let round = 0; round < 5; round += 1) {
    for (const [asked, other] of [
      [one, two],
      [two, one],
    ] as const) {
      assert.equal((await change(asked, "PUT", { endpoint_state: "active" })).status, 200);
      assert.deepEqual([await route(other), await route(asked)], [routed, routed]);
      assert.equal((await change(asked, "PUT", { endpoint_state: "stopped" })).status, 200);
      assert.deepEqual([await route(other), await route(asked)], [stopped, stopped]);
    }
  }
  assert.equal((await change(one, "DELETE", {})).status, 200);
  assert.deepEqual([await route(two), await route(one)], ["auth_error", "auth_error"]);
});

test("a change is answered although another server is silent, once every live one has read it by itself", async (t) => {
  const { env, clock, one, change } = await twoServers(t);
  await env.pool.query(
    `insert into servers (data_dir_key, place, agent_addresses, settings, started_at, beat_at)
     values ('gone', 'gone', '{}', '{}', $1, $1)`,
    [clock.now()],
  );
  let isAnswered = false;
  const changing = change(one, "PUT", { endpoint_state: "active" }).finally(() => (isAnswered = true));
  await soon("the change is stored", async () => {
    const { rows } = await env.pool.query("select state from endpoint_groups");
    return rows[0]?.state === "active";
  });
  clock.advance(5_900);
  assert.equal(isAnswered, false);
  await soon("the answer", () => {
    clock.advance(1_000);
    return isAnswered;
  });
  assert.equal((await changing).status, 200);
});
