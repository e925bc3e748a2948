import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { destroy } from "../../../../../test/support/rentals.ts";
import { cancelRequest, setPrices, waitFor } from "../../../../../test/support/standing-requests.ts";
import { until } from "../../../../../test/support/until.ts";

const MATCH_LOOP = "match-standing-requests";

type Row = { readonly id: number; readonly status: string; readonly instance: number | null };

async function rowsOf({ env }: TestApp, ids: readonly number[]): Promise<readonly Row[]> {
  const { rows } = await env.pool.query<Row>(
    "select id, status, instance_id as instance from standing_requests where id = any($1) order by id",
    [ids],
  );
  return rows;
}

/** Runs the matchers of all servers until nothing is left for these requests, and returns how many were claimed. */
async function matchAll(worlds: readonly TestApp[], ids: readonly number[], freeCount: () => number) {
  return until("the queue to be served", async () => {
    for (const { app } of worlds) app.loops.wake(MATCH_LOOP);
    const rows = await rowsOf(worlds[0] as TestApp, ids);
    const claimed = rows.filter(({ status }) => status === "claimed");
    return claimed.length >= Math.min(ids.length, freeCount()) ? rows : undefined;
  });
}

type Round = { readonly requestCount: number; readonly gpuCounts: readonly number[]; readonly passerBys: number };

const rounds: fc.Arbitrary<Round> = fc.record({
  requestCount: fc.integer({ min: 1, max: 9 }),
  gpuCounts: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
  passerBys: fc.integer({ min: 0, max: 2 }),
});

test("two servers serve each request once, lose none, and serve equals in the order of their age", async (t) => {
  const first = await testApp(t);
  const second = await testApp(t, { env: first.env, clock: first.clock });
  const worlds = [first, second];
  const renters: readonly TestCaller[] = [await first.caller(), await first.caller()];
  const passerBy = await first.caller();

  const round = async ({ requestCount, gpuCounts, passerBys }: Round) => {
    const ids: number[] = [];
    for (let index = 0; index < requestCount; index += 1) {
      const world = worlds[index % worlds.length] as TestApp;
      ids.push(await waitFor(world, renters[index % renters.length] as TestCaller));
    }
    const hosts = await Promise.all(gpuCounts.map((gpus) => first.host({ gpus })));
    let free = gpuCounts.reduce((sum, gpus) => sum + gpus, 0);
    const taken: number[] = [];
    const passing = Array.from({ length: passerBys }, async (_, index) => {
      const host = hosts[index % hosts.length];
      const offerId = host && (await first.offersOf(host)).get(1);
      if (offerId === undefined) return;
      // A standing request may have taken the offer by now.
      const body = { image: "busybox", disk: 10 };
      const url = `/api/v0/asks/${offerId}/`;
      const answer = await first.call({ method: "PUT", url, secret: passerBy.secret, body });
      if (answer.status !== 200) return;
      taken.push(Number(answer.body.new_contract));
      free -= 1;
    });
    await Promise.all([...passing, ...hosts.map((host) => setPrices(first, host, { price: 0.5 }))]);
    const rows = await matchAll(worlds, ids, () => free);
    const claimed = rows.filter(({ status }) => status === "claimed");
    assert.equal(claimed.length, Math.min(requestCount, free));
    assert.deepEqual(
      claimed.map(({ id }) => id),
      ids.slice(0, claimed.length),
      "the oldest are served",
    );
    const made = claimed.map(({ instance }) => instance);
    assert.equal(new Set(made).size, made.length, "each has an instance of its own");
    const { rows: living } = await first.env.pool.query<{ id: number }>(
      "select id from instances where ended_at is null and phase <> 'ending' order by id",
    );
    assert.deepEqual(
      living.map(({ id }) => id),
      [...made, ...taken].toSorted((a, b) => Number(a) - Number(b)),
      "nothing else was rented",
    );
    for (const { id, instance } of rows) {
      const owner = renters[ids.indexOf(id) % renters.length] as TestCaller;
      await cancelRequest(first, owner, id);
      if (instance !== null) await destroy(first, owner, instance);
    }
    for (const id of taken) await destroy(first, passerBy, id);
    for (const host of hosts) {
      await host.obey();
      await host.disconnect();
    }
    await first.assertBooks();
  };
  await fc.assert(fc.asyncProperty(rounds, round), { numRuns: 4 });
  // The database ends with the first server, so the second closes before.
  await second.close();
});
