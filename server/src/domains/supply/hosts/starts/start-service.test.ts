import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { aUser } from "../../../../../../test/support/fixtures.ts";
import { aMachine, anInstanceRow } from "../../../../../../test/support/hosts/machines.ts";
import { followMarketNews } from "../../../../../../test/support/hosts/market-news.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import type { InstanceId, UserId } from "../../../../base/ids.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { refreshOffers } from "../../market/index.ts";
import { rentals } from "../../../rental/instances/for-assembly.ts";
import { hostLoops } from "../loops.ts";
import { recordFailedStarts, recordUnansweredStarts, type FailedStart } from "./start-service.ts";
import { listRestReasons, recordBegunStarts } from "./start-store.ts";
import { lockMachines } from "../store.ts";
import { reportReliability } from "../trust/service.ts";

const MINUTE_MS = 60_000;

/** One machine, and renters whose instances start and fail on it. */
async function machineOnTrial(t: TestContext) {
  const env = await testDatabase(t);
  const clock = new ManualClock();
  const run = <T>(work: (tx: Tx) => Promise<T>) => withTransaction(env.database, clock, work);
  const { machineId, hostId } = await run(async (tx) => {
    const { id } = await aUser(tx);
    return { machineId: await aMachine(tx, id), hostId: id };
  });
  const renter = () => run(async (tx) => (await aUser(tx)).id);
  const start = (renterId: UserId, more: Partial<FailedStart> = {}) =>
    run(async (tx): Promise<FailedStart> => {
      const instanceId: InstanceId = await anInstanceRow(tx, renterId, machineId);
      return { machineId, instanceId, generation: 1, renterId, reason: "the engine is silent", ...more };
    });
  const within = (work: (tx: Tx) => Promise<void>) =>
    run(async (tx) => {
      await lockMachines(tx, [machineId]);
      await work(tx);
    });
  const machine = async () => {
    const { rows } = await env.pool.query("select * from machines where id = $1", [machineId]);
    return rows[0] as { rests_until_at: Date | null; rest_count: number; first_start_succeeded_at: Date | null };
  };
  const told = await followMarketNews(t, env);
  return {
    env,
    clock,
    told,
    hostId,
    machineId,
    run,
    renter,
    start,
    machine,
    fail: (...starts: FailedStart[]) => within((tx) => recordFailedStarts(tx, starts)),
    timeOut: (...starts: FailedStart[]) => within((tx) => recordUnansweredStarts(tx, starts)),
    begin: (...starts: FailedStart[]) => within((tx) => recordBegunStarts(tx, starts)),
    endRests: async () => {
      const loop = hostLoops({ database: env.database, clock, refreshOffers, rentals }).find(
        ({ name }) => name === "end-rests",
      );
      assert.ok(loop);
      return loop.run();
    },
    today: async () => {
      const { days } = await reportReliability(env.database.kysely, machineId, clock.now());
      return [days[0]?.startsSucceeded ?? 0, days[0]?.startsFailed ?? 0];
    },
  };
}

test("three failed starts bring a rest that ends by itself; the next one is longer, and a success ends it all", async (t) => {
  const trial = await machineOnTrial(t);
  const renters = [await trial.renter(), await trial.renter(), await trial.renter()];
  for (const renter of renters) await trial.fail(await trial.start(renter));
  const at = trial.clock.now().getTime();
  assert.equal((await trial.machine()).rests_until_at?.getTime(), at + 10 * MINUTE_MS);
  assert.deepEqual(await trial.told(), [trial.machineId]);
  const { kysely } = trial.env.database;
  const reasons = await listRestReasons(kysely, [trial.machineId], trial.clock.now());
  assert.match(reasons.get(trial.machineId) ?? "", /last starts failed.*the engine is silent/);
  assert.deepEqual(await trial.endRests(), { machines: 0 });
  trial.clock.advance(10 * MINUTE_MS);
  const ended = await Promise.all([trial.endRests(), trial.endRests()]);
  assert.deepEqual(
    ended.map(({ machines }) => machines).toSorted((a, b) => Number(a) - Number(b)),
    [0, 1],
  );
  assert.equal((await trial.machine()).rests_until_at, null);
  await trial.fail(await trial.start(await trial.renter()));
  assert.equal((await trial.machine()).rests_until_at?.getTime(), at + 30 * MINUTE_MS);
  trial.clock.advance(20 * MINUTE_MS);
  await trial.endRests();
  await trial.begin(await trial.start(renters[0] ?? trial.hostId));
  assert.equal((await trial.machine()).rest_count, 0);
  await trial.fail(await trial.start(await trial.renter()));
  assert.equal((await trial.machine()).rests_until_at, null);
});

test("the host is told of each rest, with the last reason", async (t) => {
  const trial = await machineOnTrial(t);
  const failing = async () => trial.fail(await trial.start(await trial.renter(), { reason: "no space left" }));
  for (let failure = 1; failure <= 4; failure += 1) await failing();
  const { rows } = await trial.env.pool.query("select user_id, kind, message from notices order by id");
  assert.deepEqual(
    rows.map((row) => [row.user_id, row.kind]),
    [[trial.hostId, "host:machine_error"]],
  );
  assert.match(rows[0].message, /until 2026-01-01 00:10 UTC\. The last reason was: no space left$/);
});

test("a run counts once on any number of reports, and not at all when it begins in the end", async (t) => {
  const trial = await machineOnTrial(t);
  const [one, other] = [await trial.start(await trial.renter()), await trial.start(await trial.renter())];
  await trial.fail(one, other);
  await trial.fail(one);
  await trial.fail(one, other);
  assert.deepEqual(await trial.today(), [0, 2]);
  await trial.begin(one);
  assert.deepEqual(await trial.today(), [1, 1]);
  await trial.fail({ ...one, generation: 2 });
  assert.deepEqual(await trial.today(), [1, 2]);
});

test("failures of one renter count once an hour, and those of the host's own jobs not at all", async (t) => {
  const trial = await machineOnTrial(t);
  const renter = await trial.renter();
  await trial.fail(...(await Promise.all([1, 2, 3, 4, 5].map(() => trial.start(renter)))));
  for (let tries = 0; tries < 5; tries += 1) await trial.fail(await trial.start(trial.hostId));
  assert.deepEqual(await trial.today(), [0, 1]);
  assert.equal((await trial.machine()).rests_until_at, null);
  trial.clock.advance(60 * MINUTE_MS);
  await trial.fail(await trial.start(renter));
  assert.deepEqual(await trial.today(), [0, 2]);
});

test("a host's own job clears no failure of renters, but shows that starts work", async (t) => {
  const trial = await machineOnTrial(t);
  await trial.fail(await trial.start(await trial.renter()), await trial.start(await trial.renter()));
  await trial.begin(await trial.start(trial.hostId));
  assert.ok((await trial.machine()).first_start_succeeded_at);
  assert.deepEqual(await trial.today(), [0, 2]);
  await trial.fail(await trial.start(await trial.renter()));
  assert.notEqual((await trial.machine()).rests_until_at, null);
});

test("a start without an answer is no fault of a machine that was away, or has just come back", async (t) => {
  const trial = await machineOnTrial(t);
  const lost = await trial.start(await trial.renter());
  await trial.timeOut(lost);
  await trial.env.pool.query("update machines set is_connected = false");
  trial.clock.advance(60 * MINUTE_MS);
  await trial.timeOut(lost);
  assert.deepEqual(await trial.today(), [0, 0]);
  await trial.env.pool.query("update machines set is_connected = true");
  await trial.timeOut(lost);
  assert.deepEqual(await trial.today(), [0, 1]);
});

test("the first successful start is remembered, and hosts' reasons are shortened to texts that can be stored", async (t) => {
  const trial = await machineOnTrial(t);
  assert.equal((await trial.machine()).first_start_succeeded_at, null);
  await trial.begin(await trial.start(await trial.renter()));
  const first = (await trial.machine()).first_start_succeeded_at;
  assert.deepEqual(first, trial.clock.now());
  trial.clock.advance(MINUTE_MS);
  await trial.begin(await trial.start(await trial.renter()), await trial.start(await trial.renter()));
  assert.deepEqual((await trial.machine()).first_start_succeeded_at, first);
  assert.deepEqual(await trial.today(), [3, 0]);
  await trial.fail(
    await trial.start(await trial.renter(), { reason: `\0x${"🦊".repeat(2000)}` }),
    await trial.start(await trial.renter(), { reason: "\0" }),
    await trial.start(await trial.renter(), { reason: "\ud83e half" }),
  );
  const { rows } = await trial.env.pool.query("select length(reason) as n from failed_starts order by instance_id");
  assert.deepEqual(rows, [{ n: 501 }, { n: 24 }, { n: 6 }]);
});
