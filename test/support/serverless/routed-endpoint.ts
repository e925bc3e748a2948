// An endpoint whose route is asked for, and workers that report what a test says.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import { asId, type EndpointGroupId, type InstanceId } from "../../../server/src/base/ids.ts";
import { withTransaction } from "../../../server/src/db/transaction.ts";
import { addWorker } from "../../../server/src/domains/serverless/endpoints/service.ts";
import { notifyEndpoints } from "../../../server/src/domains/serverless/endpoints/store.ts";
import { soon, testApp, type TestApp } from "../app.ts";
import type { TestCaller } from "../fixtures.ts";
import { aMachine, anInstanceRow } from "../hosts/machines.ts";

export type Endpoint = { readonly id: EndpointGroupId; readonly name: string; readonly key: string };

export async function anEndpoint(app: TestApp, owner: TestCaller, name = "llama 70b"): Promise<Endpoint> {
  const as = { secret: owner.secret };
  const made = await app.call({ method: "POST", url: "/api/v0/endptjobs/", body: { endpoint_name: name }, ...as });
  const id = Number(made.body.result);
  const shown = await app.call({ url: `/api/v0/endptjobs/${id}/`, ...as });
  return { id: asId<EndpointGroupId>(id), name, key: shown.body.result.api_key };
}

/** A worker that reports to be ready for `perf` units a second. */
export async function aReadyWorker(
  app: TestApp,
  owner: TestCaller,
  endpoint: Endpoint,
  perf = 100,
): Promise<InstanceId> {
  const id = await withTransaction(app.env.database, app.clock, async (tx) => {
    const instanceId = await anInstanceRow(tx, owner.id, await aMachine(tx, owner.id));
    assert.equal(await addWorker(tx, endpoint.id, instanceId), "added");
    return instanceId;
  });
  const url = `http://192.0.2.7:${30_000 + id}`;
  await setWorker(app, endpoint, id, { url, ready_at: app.clock.now(), claimed_perf: perf });
  return id;
}

export async function setWorker(app: TestApp, endpoint: Endpoint, id: InstanceId, columns: Record<string, unknown>) {
  await withTransaction(app.env.database, app.clock, async (tx) => {
    const set = { reported_at: app.clock.now(), ...columns };
    await tx.db.updateTable("endpoint_workers").set(set).where("instance_id", "=", id).execute();
    await notifyEndpoints(tx, [endpoint.id]);
  });
  await app.settled();
}

/** An account with an endpoint, and its calls for a route. */
export async function aRoutedEndpoint(t: TestContext) {
  const secret = randomBytes(32);
  const app = await testApp(t, { secret });
  const owner = await app.caller();
  const endpoint = await anEndpoint(app, owner);
  const ask = (body: Readonly<Record<string, unknown>> = {}) =>
    app.call({
      method: "POST",
      url: "/route/",
      body: { endpoint: endpoint.name, api_key: endpoint.key, cost: 100, ...body },
    });
  /** Waits until this many requests are in the queue. */
  const held = (count: number) =>
    soon(`${count} held`, () => (app.app.routers.of(endpoint.id)?.queue().requestCount ?? 0) === count);
  return { app, owner, endpoint, ask, held, secret };
}
