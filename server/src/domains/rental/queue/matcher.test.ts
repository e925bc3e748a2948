import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { setPrices, showRequest, waitFor } from "../../../../../test/support/standing-requests.ts";
import { until } from "../../../../../test/support/until.ts";
import { OrderDesk } from "../instances/index.ts";
import { searchOffers } from "../../supply/market/for-assembly.ts";
import { resolveLaunch } from "../templates/index.ts";
import { Matcher, SEARCHES_PER_RUN } from "./matcher.ts";
import type { Query } from "./rules/standing-request.ts";

/** A server without its own matcher loop, which would serve the requests that the test's matchers are to serve. */
async function aWorld(t: TestContext): Promise<TestApp> {
  const world = await testApp(t);
  await world.app.loops.stop();
  return world;
}

/** A matcher as a second server would have it, with a count of its searches. */
function aMatcher({ env: { database }, app, clock, encryption }: TestApp) {
  const secret = randomBytes(32);
  const desk = new OrderDesk(database, clock, { secret, encryption });
  let searches = 0;
  const search = (query: Query) => {
    searches += 1;
    return searchOffers(app.offers.index, query, { now: clock.now(), rentedMachines: new Set() });
  };
  const matcher = new Matcher({ database, clock, encryption, desk, search });
  app.offers.follow((ids) => matcher.note(ids));
  const run = async () => {
    searches = 0;
    const status = await matcher.run();
    assert.equal(status["searches"], searches);
    return status;
  };
  return { matcher, run };
}

const COUNT = 10_000;

/** A machine that joins and then gets its price may be announced once for each. */
const TOLD_TWICE = 2;

test("with ten thousand standing requests a run is bounded, and a change asks only the requests that it may concern", async (t) => {
  const world = await aWorld(t);
  const renter = await world.caller();
  const model = await waitFor(world, renter, { max_dph: 0.001 });
  await world.env.pool.query(
    `insert into standing_requests (user_id, query, total_max_nanos_per_hour, launch, created_at, expires_at)
     select user_id, jsonb_build_object('gpu_name', jsonb_build_object('eq', case when n % 2 = 0 then 'H100 SXM' else 'L40S' end)),
       case when n % 2 = 0 then 1000000000 else 1000000 end, $3, created_at, expires_at
     from standing_requests, generate_series(1, $1) as n where id = $2 order by n`,
    [COUNT, model, JSON.stringify(resolveLaunch(undefined, { image: "busybox", disk: 10 }))],
  );
  const { matcher, run } = aMatcher(world);
  let total = 0;
  for (let searches = 1; searches > 0; total += searches) {
    searches = Number((await run())["searches"]);
    assert.ok(searches < SEARCHES_PER_RUN + 10, `${searches} searches`);
  }
  assert.deepEqual([total, matcher.book.size], [COUNT + 1, COUNT + 1]);

  // Too expensive for one half of the requests, and of another model than the other half wants.
  const dear = await world.host({ gpus: 2, gpuName: "L40S" });
  await setPrices(world, dear, { price: 0.5 });
  const { searches: searchesForOne, ...rest } = await run();
  assert.deepEqual(rest, { open: COUNT + 1, claimed: 0 });
  assert.ok(Number(searchesForOne) <= TOLD_TWICE, `${searchesForOne} searches`);

  const wanted = await world.host({ gpus: 1, gpuName: "H100 SXM" });
  await setPrices(world, wanted, { price: 0.9 });
  const { searches, claimed } = await run();
  assert.equal(claimed, 1);
  assert.ok(Number(searches) <= 1 + TOLD_TWICE, `${searches} searches`);
  const { rows } = await world.env.pool.query("select id from standing_requests where status = 'claimed'");
  // The second inserted request is the oldest that wants this model.
  assert.deepEqual(rows, [{ id: model + 2 }]);
});

test("one request that cannot be handled does not keep the others waiting", async (t) => {
  const world = await aWorld(t);
  const renter = await world.caller();
  const ids = [await waitFor(world, renter), await waitFor(world, renter), await waitFor(world, renter)];
  const [unreadable, broken, sound] = ids as [number, number, number];
  // A search that only another version understands, and settings without their encrypted part.
  await world.env.pool.query(
    `update standing_requests set query = jsonb_build_object('order', jsonb_build_array(jsonb_build_array('no', 'asc')))
     where id = $1`,
    [unreadable],
  );
  await world.env.pool.query("update standing_requests set launch = launch - 'sealed' where id = $1", [broken]);
  // The failure of this request cannot be stored either.
  const unwritable = await waitFor(world, renter, { max_dph: 0.6 });
  await world.env.pool.query(
    `update standing_requests set query = '{"order": [["no", "asc"]]}', id = 0 where id = $1`,
    [unwritable],
  );
  await world.env.pool.query(`
    create function refuse_writing() returns trigger language plpgsql as $$ begin raise 'it is not to be'; end $$;
    create trigger refuse before update on standing_requests for each row when (old.id = 0)
      execute function refuse_writing();
  `);
  const { matcher } = aMatcher(world);
  const host = await world.host({ gpus: 3 });
  await setPrices(world, host, { price: 0.5 });
  await until("the sound one to be served", async () => {
    await matcher.run().catch((error: unknown) => assert.match(String(error), /TypeError|it is not to be/));
    return (await showRequest(world, renter, sound)).status === "claimed";
  });
  const { rows } = await world.env.pool.query(
    "select id, status, reason from standing_requests where id > 0 order by id",
  );
  assert.deepEqual(rows[1], { id: broken, status: "open", reason: "" });
  assert.match(String(rows[0].reason), /order/);
});
