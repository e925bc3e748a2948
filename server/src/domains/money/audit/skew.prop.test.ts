// The books when nothing comes in order: clocks that differ, concurrent and interrupted settlements, reports that lie,
// repeat or never arrive, and machines that are away.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { assertLines } from "../../../../../test/support/money/charges.ts";
import { listedHost, prepay } from "../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { refreshOffersOf } from "../../../../../test/support/hosts/refresh-offers.ts";
import { askFor, changeBid, destroy, reboot, setState } from "../../../../../test/support/rentals.ts";
import type { Clock } from "../../../base/clock.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { settleDue } from "../charging/index.ts";
import { settleInstances } from "../charging/settlement/settlement.ts";
import { audit } from "./audit-service.ts";
import { lockDueInstances } from "../charging/settlement/billable-store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A larger difference than the clocks of two servers should have. */
const SKEW_MAX_MS = 20_000;
const STEPS = 40;
const LOOPS = ["release-lost-hosts", "enforce-deadlines", "review-schedules", "return-deposits", "settle-volumes"];

const kinds = fc.constantFrom(
  "rent",
  "rent",
  "bid on",
  "bid",
  "bid",
  "stop",
  "start",
  "reboot",
  "destroy",
  "prepay",
  "report",
  "report",
  "count",
  "count",
  "count",
  "replay",
  "inflate",
  "short outage",
  "long outage",
  "settle",
  "settle",
  "settle at once",
  "settle and die",
  "loops",
);
const step = fc.record({
  kind: kinds,
  pick: fc.nat({ max: 1000 }),
  skewMs: fc.oneof(fc.constant(0), fc.integer({ min: -SKEW_MAX_MS, max: SKEW_MAX_MS })),
  passMs: fc.oneof(
    fc.nat({ max: 3_000 }),
    fc.integer({ min: 1_000, max: 20 * MINUTE_MS }),
    fc.nat({ max: 9 * HOUR_MS }),
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type Market = {
  readonly world: TestApp;
  readonly host: FakeHost;
  readonly user: TestCaller;
  readonly rented: number[];
};

/** The host's report of its instances, with counters derived from the true ones. */
function lying({ host }: Market, of: (ms: number) => number) {
  return host.obedience().map((one) => {
    const ms = of(one.counters?.running_ms ?? 0);
    return {
      ...one,
      counters: { running_ms: ms, received_bytes: ms * 10, sent_bytes: ms * 5 },
      status_msg: `at ${ms}`,
    };
  });
}

async function outage({ world, host }: Market, ms: number): Promise<void> {
  await host.disconnect();
  world.clock.jump(ms);
  await world.runLoop("release-lost-hosts");
  await host.connect();
  await host.obey();
}

async function settleAtOnce({ world, host }: Market, skewMs: number): Promise<void> {
  const { clock, env } = world;
  const other: Clock = {
    now: () => new Date(clock.now().getTime() + skewMs),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    every: (ms, run) => clock.every(ms, run),
  };
  await Promise.all([settleDue(env.database, clock), settleDue(env.database, other), host.report(host.obedience())]);
}

async function settleAndDie({ env, clock }: TestApp): Promise<void> {
  const dying = withTransaction(env.database, clock, async (tx) => {
    await settleInstances(tx, await lockDueInstances(tx, 500), { isPassing: false });
    throw new Error("it died");
  });
  await assert.rejects(dying, /it died/);
}

async function act(market: Market, { kind, pick, skewMs, passMs }: Step): Promise<void> {
  const { world, host, user, rented } = market;
  const { clock } = world;
  const target = rented[pick % Math.max(1, rented.length)];
  clock.jump(passMs);
  clock.skewMs = skewMs;
  const makeAllDue = () =>
    world.env.pool.query("update instance_tabs set settle_at = $1 where settle_at > $1", [clock.now()]);
  const rentAt = async (price?: number) => {
    if ((await world.offersOf(host)).get(1) === undefined) return;
    const answer = await askFor(world, user, host, price === undefined ? {} : { price });
    // A bid that is too low creates an instance that waits.
    if (typeof answer.body.new_contract === "number") rented.push(answer.body.new_contract);
  };
  const acts: Readonly<Record<Step["kind"], () => Promise<unknown>>> = {
    rent: () => rentAt(),
    "bid on": () => rentAt(0.2 + (pick % 100) / 100),
    bid: async () => target && changeBid(world, user, target, 0.2 + (pick % 100) / 100),
    stop: async () => target && setState(world, user, target, "stopped"),
    start: async () => target && setState(world, user, target, "running"),
    reboot: async () => target && reboot(world, user, target),
    destroy: async () => target && pick % 2 === 0 && destroy(world, user, target),
    prepay: async () => target && prepay(world, user, target, 0.5 + (pick % 100) / 50),
    report: () => host.report(host.obedience()),
    count: () => host.count(),
    replay: async () => {
      const seen = lying(market, (ms) => ms);
      await host.report(seen);
      await host.report(seen);
    },
    inflate: () => host.report(lying(market, (ms) => ms * 2 + 3 * HOUR_MS)),
    "short outage": () => outage(market, pick * 100),
    "long outage": () => outage(market, HOUR_MS + pick * MINUTE_MS),
    settle: async () => {
      await makeAllDue();
      await world.runLoop("settle-runs");
    },
    "settle at once": async () => {
      await makeAllDue();
      await settleAtOnce(market, (pick % 41) * 1000 - SKEW_MAX_MS);
    },
    "settle and die": async () => {
      await makeAllDue();
      await settleAndDie(world);
    },
    loops: async () => {
      for (const name of LOOPS) await world.runLoop(name);
    },
  };
  await acts[kind]();
  clock.skewMs = 0;
}

async function assertSound(market: Market): Promise<void> {
  const { world } = market;
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  const differences = checks.flatMap(({ name, differences: found }) => found.map((one) => ({ name, ...one })));
  assert.deepEqual(differences, []);
  await world.assertBooks();
}

/** Ends, reports and settles everything, and returns the final state. */
async function finish(market: Market): Promise<void> {
  const { world, host, user, rented } = market;
  for (const id of rented) await destroy(world, user, id);
  for (let round = 0; round < 3; round += 1) {
    world.clock.jump(SKEW_MAX_MS + MINUTE_MS);
    await host.count();
    for (const name of [...LOOPS, "settle-runs"]) await world.runLoop(name);
  }
  const { rows } = await world.env.pool.query(
    `select i.id, i.phase, t.settle_at, r.generation, r.charged_running_ms, r.running_ms
     from instances i join instance_tabs t on t.instance_id = i.id
     left join instance_runs r on r.instance_id = i.id and r.charged_running_ms < r.running_ms
     where i.phase <> 'ended' or t.settle_at is not null or r.generation is not null`,
  );
  assert.deepEqual(rows, [], "something is not over, or not charged");
}

test("a full audit finds no difference after reports that are late, repeated, out of order or missing", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS }), async (steps) => {
      const world = await testApp(t, { rules: { noticeMs: 30_000, minSliceMs: 60_000 } });
      const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
      await world.env.pool.query(
        `update machines set price_disk_nanos_per_gb_month = 150000000, price_inet_up_nanos_per_gb = 2000000,
           price_inet_down_nanos_per_gb = 3000000 where id = $1`,
        [host.machineId],
      );
      await refreshOffersOf(world, [host.machineId]);
      const market: Market = { world, host, user: await world.caller({ dollars: 100_000 }), rented: [] };
      for (const one of steps) await act(market, one);
      // An instance that ended a moment ago keeps its hold until its settlement, a second later.
      world.clock.jump(SKEW_MAX_MS);
      await world.runLoop("settle-runs");
      await assertSound(market);
      await finish(market);
      await assertSound(market);
      await assertLines(world);
      assert.deepEqual(world.complaints, []);
      await world.close();
    }),
    { numRuns: 4, endOnFailure: true },
  );
});
