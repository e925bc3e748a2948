import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { assertLines } from "../../../../../../test/support/money/charges.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { changeBid, destroy, reboot, setState } from "../../../../../../test/support/rentals.ts";
import { TEST_SEED } from "../../../../../../test/support/seed.ts";

const STATES = [
  "pulling",
  "created",
  "starting",
  "running",
  "stopping",
  "stopped",
  "exited",
  "failed",
  "absent",
] as const;
const LOOPS = ["release-lost-hosts", "enforce-deadlines", "review-schedules", "end-contracts", "settle-runs"] as const;
const NOTICE_MS = 30_000;
const SLICE_MS = 60_000;
/** The time after which no other case begins: a slow machine checks fewer cases, each to its end, and at least one. */
const BEGUN_WITHIN_MS = 40_000;

const user = fc.integer({ min: 0, max: 2 });
const machine = fc.integer({ min: 0, max: 1 });
const pick = fc.nat({ max: 1000 });
/** Mostly the user's own instance, because the rules for other users' instances are simple. */
const isOwn = fc.constantFrom(true, true, true, true, false);
const kind = <const K extends string>(name: K) => fc.constant(name);
const prices = fc.constantFrom(undefined, undefined, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1, 1.5);
const targets = fc.constantFrom("running", "running", "running", "running", "stopped");
const acts = fc.constantFrom("stop", "stop", "start", "start", "start", "destroy", "reboot");
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: kind("rent"), user, machine, size: pick, price: prices, target: targets }),
  },
  { weight: 7, arbitrary: fc.record({ kind: kind("act"), user, isOwn, pick, act: acts }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind("bid"),
      user,
      isOwn,
      pick,
      price: fc.constantFrom(null, null, 0.01, 0.2, 0.4, 0.8, 1.6),
    }),
  },
  { weight: 12, arbitrary: fc.record({ kind: kind("obey"), machine }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: kind("say"), machine, pick, state: fc.constantFrom(...STATES), isOld: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind("repeat"), machine, pick }) },
  { weight: 1, arbitrary: fc.record({ kind: kind("link"), machine }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind("pass"),
      ms: fc.constantFrom(1_000, 5_000, 29_999, 30_001, 61_000, 660_000, 4_000_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind("loop"), name: fc.constantFrom(...LOOPS) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type Said = { readonly seen: Parameters<FakeHost["report"]>[0]; readonly version: number };
type World = {
  readonly world: TestApp;
  readonly hosts: readonly FakeHost[];
  readonly users: readonly TestCaller[];
  readonly rented: { readonly id: number; readonly owner: TestCaller }[];
  readonly said: Map<FakeHost, Said[]>;
  readonly away: Set<FakeHost>;
  readonly generations: Map<number, number>;
};

async function rentSome(w: World, { user: index, machine: at, size, price, target }: Extract<Step, { kind: "rent" }>) {
  const [owner, host] = [w.users[index]!, w.hosts[at]!];
  const offers = [...(await w.world.offersOf(host)).values()];
  const offerId = offers[size % Math.max(1, offers.length)];
  if (offerId === undefined) return;
  const answer = await w.world.call({
    method: "PUT",
    url: `/api/v0/asks/${offerId}/`,
    secret: owner.secret,
    body: { image: "busybox", price, target_state: target },
  });
  assert.ok(answer.status < 500, `${answer.text} ${w.world.complaints.at(-1)}`);
  const id = answer.body.new_contract;
  if (typeof id === "number") w.rented.push({ id, owner });
}

/** An instance and the user who changes it. */
function choose(w: World, { user: index, isOwn: isOwner, pick: chosen }: Extract<Step, { kind: "act" | "bid" }>) {
  const target = w.rented.at(-1 - (chosen % Math.min(6, Math.max(1, w.rented.length))));
  return target && { ...target, by: isOwner ? target.owner : w.users[index]! };
}

async function act(w: World, one: Extract<Step, { kind: "act" }>) {
  const target = choose(w, one);
  if (target === undefined) return;
  const { by } = target;
  const { world } = w;
  const answer = await {
    stop: () => setState(world, by, target.id, "stopped"),
    start: () => setState(world, by, target.id, "running"),
    destroy: () => destroy(world, by, target.id),
    reboot: () => reboot(world, by, target.id),
  }[one.act]!();
  assert.ok(answer.status < 500, `${answer.text} ${w.world.complaints.at(-1)}`);
  if (target.owner !== by) assert.equal(answer.status, 404, "another user's instance does not exist for the caller");
}

async function tell(w: World, host: FakeHost, said: Said): Promise<void> {
  w.said.get(host)?.push(said);
  await host.report(said.seen, { version: said.version });
}

async function take(w: World, one: Step): Promise<void> {
  const host = "machine" in one ? w.hosts[one.machine]! : undefined;
  const isAway = host !== undefined && w.away.has(host);
  switch (one.kind) {
    case "rent":
      return rentSome(w, one);
    case "act":
      return act(w, one);
    case "bid": {
      const target = choose(w, one);
      const answer = target && (await changeBid(w.world, target.by, target.id, one.price));
      assert.ok((answer?.status ?? 200) < 500, `${answer?.text} ${w.world.complaints.at(-1)}`);
      return;
    }
    case "obey":
      if (isAway || host === undefined) return;
      await host.synced();
      checkOrders(host);
      return tell(w, host, { seen: host.obedience(), version: host.desired?.version ?? 0 });
    case "say": {
      const ordered = host?.desired?.instances ?? [];
      const target = ordered[one.pick % Math.max(1, ordered.length)];
      if (isAway || host === undefined || target === undefined) return;
      const generation = one.isOld ? Math.max(0, target.generation - 1) : target.generation;
      const seen = [{ instance_id: target.instance_id, generation, state: one.state }];
      return tell(w, host, { seen, version: one.isOld ? 0 : (host.desired?.version ?? 0) });
    }
    case "repeat": {
      const said = host && w.said.get(host);
      const again = said?.[one.pick % Math.max(1, said.length)];
      if (isAway || host === undefined || again === undefined) return;
      await host.report(again.seen, { version: Math.min(again.version, host.desired?.version ?? 0) });
      return;
    }
    case "link":
      if (host === undefined) return;
      if (isAway) await host.connect();
      else await host.disconnect();
      w.said.set(host, []);
      if (isAway) w.away.delete(host);
      else w.away.add(host);
      return;
    case "pass":
      return w.world.clock.jump(one.ms);
    case "loop":
      await w.world.runLoop(one.name);
  }
}

/** Orders that a host has at one time never share a device. */
function checkOrders(host: FakeHost): void {
  const orders = (host.desired?.instances ?? []).filter(({ run }) => run === "running");
  const uuids = orders.flatMap((order) => order.gpu_uuids);
  assert.equal(new Set(uuids).size, uuids.length, JSON.stringify(orders));
  for (const { gpu_uuids: own, instance_id: id } of orders) assert.ok(own.length > 0, `instance ${id} has no GPU`);
}

/** The from phase, the to phase, the cause and the time of each event. */
type Event = readonly [string | null, string, string, number];

function isDisplacement(cause: string): boolean {
  return cause === "outbid" || cause === "on_demand";
}

/**
 * A resumed instance is spared by other bids for the minimum slice: of two displacements by bids between which it ran,
 * the second comes no sooner than that after it was granted its devices. And an eviction notice is kept: a yielding
 * instance leaves when the time is over, or by itself, its owner or its host.
 */
function checkSlice(events: readonly Event[], what: string): void {
  let [wasDisplaced, grantedAt, noticedAt] = [false, 0, 0];
  for (const [from, to, cause, at] of events) {
    if (cause === "devices_granted") grantedAt = at;
    if (cause === "outbid" && wasDisplaced) assert.ok(at - grantedAt >= SLICE_MS, what);
    if (isDisplacement(cause)) {
      noticedAt = at;
      assert.equal(to, from === "running" ? "yielding" : "stopping", what);
    }
    if (from === "yielding" && cause === "deadline_passed") assert.ok(at - noticedAt >= NOTICE_MS, what);
    if (from === "running" || from === "yielding" || from === "starting") {
      // A run that its owner stopped was not displaced; a run that was begun again has no history.
      if (cause === "stop_requested") wasDisplaced = false;
    }
    if (to === "stopping" && isDisplacement(cause)) wasDisplaced = true;
    if (from === "yielding" && to !== "running" && cause !== "stop_requested") wasDisplaced = true;
    if (cause === "start_requested") wasDisplaced = false;
  }
}

async function check(w: World): Promise<void> {
  const { world, hosts, users, generations } = w;
  const machineIds = hosts.map((host) => host.machineId);
  const { rows: instances } = await world.env.pool.query(
    `select i.id, i.user_id, i.phase, i.desired, i.generation, i.device_count, i.is_bid, t.hold_id, i.deadline_at,
       (select count(*)::integer from leases l where l.instance_id = i.id and released_at is null) as leased,
       (select count(*)::integer from leases l where l.instance_id = i.id and released_at is null
          and (l.generation <> i.generation or l.is_bid <> i.is_bid or l.machine_id <> i.machine_id)) as wrong,
       (select count(*)::integer from instance_runs r where r.instance_id = i.id) as runs,
       (select coalesce(json_agg(json_build_array(
            from_phase, to_phase, cause, extract(epoch from e.at) * 1000) order by e.id), '[]')
          from instance_events e where e.instance_id = i.id) as events
     from instances i join instance_tabs t on t.instance_id = i.id where i.machine_id = any($1)`,
    [machineIds],
  );
  for (const row of instances) {
    const what = JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    const holds = ["starting", "running", "yielding", "stopping"].includes(row.phase);
    if (holds) assert.equal(row.leased, row.device_count, what);
    else if (row.phase === "ending") assert.ok(row.leased === 0 || row.leased === row.device_count, what);
    else assert.equal(row.leased, 0, what);
    assert.equal(row.wrong, 0, what);
    assert.equal(row.runs, row.generation, what);
    assert.ok(row.generation >= (generations.get(row.id) ?? 0), what);
    generations.set(row.id, row.generation);
    const events: Event[] = row.events;
    checkSlice(events, what);
    events.forEach(([from], index) => assert.equal(from, events[index - 1]?.[1] ?? null, what));
    assert.equal(events.at(-1)?.[1], row.phase, what);
    if (!row.is_bid) assert.ok(!events.some(([, , cause]) => isDisplacement(cause)), what);
    const isTransient = ["starting", "yielding", "stopping", "ending"].includes(row.phase);
    assert.equal(row.deadline_at !== null, isTransient, what);
    if (row.phase === "scheduled") assert.equal(row.desired, "running", what);
    if (row.hold_id === null) assert.ok(["stopped", "ended", "stopping", "ending"].includes(row.phase), what);
  }
  const { rows: offers } = await world.env.pool.query(
    `select m.id, coalesce((select array_agg(o.device_count order by o.device_count) from offers o
         where o.machine_id = m.id and retired_at is null), '{}') as sizes,
       (select count(*)::integer from devices d where d.machine_id = m.id and not exists (
          select from leases l where l.device_id = d.id and released_at is null and not is_bid)) as available
     from machines m where id = any($1)`,
    [machineIds],
  );
  const expected = [[], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4]];
  for (const row of offers) assert.deepEqual(row.sizes, expected[row.available], `offers of machine ${row.id}`);
  for (const owner of users) {
    const answer = await world.call({ url: "/api/v0/instances/", secret: owner.secret });
    const own = instances.filter((row) => row.user_id === owner.id && !["ending", "ended"].includes(row.phase));
    const ids = answer.body.instances.map((record: { id: number }) => record.id);
    assert.deepEqual(
      ids,
      own.map((row) => row.id).toSorted((a, b) => a - b),
    );
  }
  const { rows: overcounted } = await world.env.pool.query(
    "select * from instance_runs where charged_running_ms > running_ms or running_ms < 0",
  );
  assert.deepEqual(overcounted, []);
  await world.assertBooks();
  await assertLines(world);
}

test("after any actions of users, hosts and time nothing is sold twice and the books agree", async (t) => {
  const world = await testApp(t, { rules: { noticeMs: NOTICE_MS, minSliceMs: SLICE_MS } });
  t.diagnostic(`seed ${TEST_SEED}`);
  const endMs = performance.now() + BEGUN_WITHIN_MS;
  let caseCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60, size: "max" }), async (steps) => {
      if (caseCount > 0 && performance.now() > endMs) return;
      caseCount += 1;
      const hosts = [await world.host({ gpus: 2 }), await world.host({ gpus: 4 })];
      const users = [await world.caller(), await world.caller({ dollars: 2 }), await world.caller({ dollars: 0.3 })];
      const said = new Map<FakeHost, Said[]>(hosts.map((host) => [host, []]));
      const w: World = { world, hosts, users, rented: [], said, away: new Set(), generations: new Map() };
      try {
        for (const one of steps) {
          await take(w, one);
          await check(w);
        }
      } finally {
        for (const host of hosts) host.terminate();
      }
      assert.deepEqual(world.complaints, []);
    }),
    {
      seed: TEST_SEED,
      numRuns: Number(process.env["BERTH_PROPERTY_RUNS"] ?? 15),
      endOnFailure: true,
    },
  );
  t.diagnostic(`${caseCount} cases`);
});
