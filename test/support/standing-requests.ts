import assert from "node:assert/strict";
import type { TestApp } from "./app.ts";
import type { FakeHost } from "./hosts/fake-host.ts";
import type { TestCaller } from "./fixtures.ts";
import type { TestAnswer } from "./network/http.ts";
import { refreshOffersOf } from "./hosts/refresh-offers.ts";
import { until } from "./until.ts";

const MATCH_LOOP = "match-standing-requests";

/** Sends a standing request for one GPU at up to a dollar an hour, unless the body says otherwise. */
export function askToWait(world: TestApp, user: TestCaller, body: Readonly<Record<string, unknown>> = {}) {
  const usual = { q: { num_gpus: { eq: 1 } }, max_dph: 1, image: "busybox", disk: 10 };
  return world.call({
    method: "POST",
    url: "/api/v0/standing_requests/",
    secret: user.secret,
    body: { ...usual, ...body },
  });
}

/** Makes a standing request that must be taken; returns its id. */
export async function waitFor(world: TestApp, user: TestCaller, body: Readonly<Record<string, unknown>> = {}) {
  const answer = await askToWait(world, user, body);
  assert.equal(answer.status, 200, answer.text);
  return Number(answer.body.id);
}

export async function showRequest(world: TestApp, user: TestCaller, id: number) {
  const answer = await world.call({ url: `/api/v0/standing_requests/${id}/`, secret: user.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.standing_request;
}

export function cancelRequest(world: TestApp, user: TestCaller, id: number): Promise<TestAnswer> {
  return world.call({ method: "DELETE", url: `/api/v0/standing_requests/${id}/`, secret: user.secret, body: {} });
}

/** Lets the server look for matches until the request has this status; returns its record. */
export function becomes(world: TestApp, user: TestCaller, id: number, status: string) {
  return until(`standing request ${id} to be ${status}`, async () => {
    const record = await showRequest(world, user, id);
    if (record.status === status) return record;
    world.app.loops.wake(MATCH_LOOP);
    return undefined;
  });
}

/** Lets the server look for matches at least this often, in full. */
export async function matchRuns(world: TestApp, count = 2): Promise<void> {
  await world.settled();
  const runs = () => world.app.loops.report().find(({ name }) => name === MATCH_LOOP)?.run_count ?? 0;
  // The run under way may have begun before the caller's change, so one more run has to end.
  const enough = runs() + count + 1;
  await until(`${count} looks for matches`, () => {
    world.app.loops.wake(MATCH_LOOP);
    return runs() >= enough;
  });
}

/** Sets the host's prices of a GPU in dollars an hour: on demand, and the minimum bid. */
export async function setPrices(
  world: TestApp,
  { machineId }: FakeHost,
  { price, minBid = price / 2, disk = 0 }: { readonly price: number; readonly minBid?: number; readonly disk?: number },
): Promise<void> {
  const nanos = (dollars: number) => String(Math.round(dollars * 1e9));
  await world.env.pool.query(
    `update machines set price_device_nanos_per_hour = $2, price_min_bid_nanos_per_hour = $3,
       price_disk_nanos_per_gb_month = $4 where id = $1`,
    [machineId, nanos(price), nanos(minBid), nanos(disk)],
  );
  await refreshOffersOf(world, [machineId]);
  await world.settled();
}
