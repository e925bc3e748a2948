import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { aUser } from "../../../../../../test/support/fixtures.ts";
import { aMachine } from "../../../../../../test/support/hosts/machines.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import type { MachineId } from "../../../../base/ids.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { leaseEnd, LEASE_MS } from "../service.ts";
import { listSpans, openSpans } from "./span-store.ts";
import { disconnectUnowned } from "../sessions/server-end-store.ts";
import { markDisconnected, touchMachines } from "../store.ts";

const MINUTE_MS = 60_000;
const MANY = 300;

const heardAt = (ids: readonly MachineId[], at: Date) => ids.map((machineId) => ({ machineId, heardAt: at }));

/** Machines whose clock only the test moves; spans are shown in minutes since they connected. */
async function market(t: TestContext, count = 1) {
  const env = await testDatabase(t);
  const clock = new ManualClock();
  const startMs = clock.now().getTime();
  const run = <T>(work: (tx: Tx) => Promise<T>) => withTransaction(env.database, clock, work);
  const ids = await run(async (tx) => {
    const { id } = await aUser(tx);
    const made: MachineId[] = [];
    for (let number = 0; number < count; number += 1) made.push(await aMachine(tx, id));
    return made;
  });
  const leave = (some: readonly MachineId[] = ids, sessionNumber = 0) =>
    run((tx) =>
      markDisconnected(
        tx,
        some.map((machineId) => ({ machineId, sessionNumber, heardAt: clock.now() })),
      ),
    );
  const comeBack = (some: readonly MachineId[] = ids) =>
    run(async (tx) => {
      await openSpans(tx, some, LEASE_MS);
      await touchMachines(tx, heardAt(some, tx.now), leaseEnd(tx.now, LEASE_MS));
    });
  const hear = () => run((tx) => touchMachines(tx, heardAt(ids, tx.now), leaseEnd(tx.now, LEASE_MS)));
  const minutes = (at: Date | undefined) => at && (at.getTime() - startMs) / MINUTE_MS;
  const spansOf = async (id: MachineId | undefined, from = new Date(startMs)) => {
    const found = id && (await listSpans(env.database.kysely, ids, from)).get(id);
    return found?.spans.map(({ fromAt, untilAt }) => [minutes(fromAt), minutes(untilAt)]);
  };
  const pass = (count: number) => clock.jump(count * MINUTE_MS);
  return { env, run, ids, leave, comeBack, hear, spansOf, pass };
}

test("a machine is in touch from its registration until it was last heard of", async (t) => {
  const { ids, leave, spansOf, pass } = await market(t);
  assert.deepEqual(await spansOf(ids[0]), [[0, undefined]]);
  pass(7);
  await leave();
  assert.deepEqual(await spansOf(ids[0]), [[0, 7]]);
});

test("a machine that is back within a heartbeat lease was there all the time, and one that is back later was not", async (t) => {
  const { ids, leave, comeBack, spansOf, pass } = await market(t);
  pass(5);
  await leave();
  pass(10);
  await comeBack();
  assert.deepEqual(await spansOf(ids[0]), [[0, undefined]], "its counters went on");
  pass(5);
  await leave();
  pass(10.1);
  await comeBack();
  assert.deepEqual(await spansOf(ids[0]), [
    [0, 20],
    [30.1, undefined],
  ]);
  await comeBack();
  assert.deepEqual((await spansOf(ids[0]))?.length, 2, "a second connection is the same touch");
});

test("the end of an older connection ends nothing", async (t) => {
  const { ids, leave, spansOf, pass } = await market(t);
  pass(1);
  await leave(ids, 99);
  assert.deepEqual(await spansOf(ids[0]), [[0, undefined]]);
});

test("after a crash of the server machines were there up to their last message, or all the time if they are back soon", async (t) => {
  const { ids, run, comeBack, hear, spansOf, pass } = await market(t, 2);
  pass(5);
  await hear();
  pass(5);
  await run((tx) => disconnectUnowned(tx, new Date(tx.now.getTime() + 1)));
  assert.deepEqual(await spansOf(ids[0]), [[0, 5]]);
  await comeBack(ids.slice(0, 1));
  pass(6);
  await comeBack(ids.slice(1));
  assert.deepEqual(await spansOf(ids[0]), [[0, undefined]]);
  assert.deepEqual(await spansOf(ids[1]), [
    [0, 5],
    [16, undefined],
  ]);
});

test("a span that no process closed ended with the last message", async (t) => {
  const { ids, comeBack, hear, spansOf, pass } = await market(t);
  pass(3);
  await hear();
  pass(11);
  await comeBack();
  assert.deepEqual(await spansOf(ids[0]), [
    [0, 3],
    [14, undefined],
  ]);
});

test("hundreds of machines leave and come back in one transaction each", async (t) => {
  const { ids, env, leave, comeBack, pass } = await market(t, MANY);
  pass(1);
  await leave();
  pass(1);
  await comeBack(ids.slice(0, MANY / 2));
  pass(11);
  await comeBack();
  const { rows } = await env.pool.query(
    "select count(*)::integer as spans, count(*) filter (where until_at is null)::integer as open from machine_spans",
  );
  assert.deepEqual(rows, [{ spans: MANY + MANY / 2 + MANY / 2, open: MANY }]);
});

test("only spans that reach into the requested time are read", async (t) => {
  const { ids, leave, comeBack, spansOf, pass, run } = await market(t);
  for (let round = 0; round < 3; round += 1) {
    pass(5);
    await leave();
    pass(20);
    await comeBack();
  }
  const now = await run((tx) => Promise.resolve(tx.now));
  assert.deepEqual(await spansOf(ids[0], now), [[75, undefined]]);
});
