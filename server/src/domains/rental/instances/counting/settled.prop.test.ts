import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { assertLines } from "../../../../../../test/support/money/charges.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { changeBid, destroy, setState } from "../../../../../../test/support/rentals.ts";
import { TEST_SEED } from "../../../../../../test/support/seed.ts";

const HOSTS = 50;
const USERS = 6;
const ROUNDS = 6;
const ACTS_PER_ROUND = 50;
const NOTICE_MS = 30_000;
const SLICE_MS = 60_000;
/** Longer than both the notice and the slice. */
const SPAN_MS = 61_000;
const BETWEEN_MS = 20_000;
const SETTLING_ROUNDS = 12;
const LOOPS = ["release-lost-hosts", "enforce-deadlines", "review-schedules", "settle-runs"] as const;

const pick = fc.nat({ max: 100_000 });
const bids = fc.integer({ min: 10, max: 90 }).map((cents) => cents / 100);
const act = fc.record({
  user: fc.nat({ max: USERS - 1 }),
  pick,
  kind: fc.constantFrom("rent", "bid on", "bid on", "bid on", "change", "change", "enough", "stop", "start", "destroy"),
  bid: bids,
});
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

type Market = {
  readonly world: TestApp;
  readonly hosts: readonly FakeHost[];
  readonly users: readonly TestCaller[];
  readonly rented: { readonly id: number; readonly owner: TestCaller }[];
};

/** A renter rents an offer of a search just made. Another renter may have been faster, which is no mistake. */
async function take({ world, users, rented }: Market, { user, pick: chosen, kind, bid }: Act): Promise<void> {
  const by = users[user]!;
  const own = rented.filter(({ owner }) => owner === by);
  const target = own[chosen % Math.max(1, own.length)];
  const offers = async (type: string) => {
    const found = await world.call({
      method: "POST",
      url: "/api/v0/bundles/",
      secret: by.secret,
      body: { type, limit: 64 },
    });
    return found.body.offers;
  };
  const rentOne = async (type: string, price?: number) => {
    const found = await offers(type);
    const offer = found[chosen % Math.max(1, found.length)];
    if (offer === undefined) return undefined;
    const each = price === undefined ? {} : { price: price * offer.num_gpus };
    const url = `/api/v0/asks/${offer.id}/`;
    const answer = await world.call({ method: "PUT", url, secret: by.secret, body: { image: "busybox", ...each } });
    if (typeof answer.body.new_contract === "number") rented.push({ id: answer.body.new_contract, owner: by });
    return answer;
  };
  const answer = await {
    rent: () => rentOne("ondemand"),
    "bid on": () => rentOne("bid", bid),
    change: async () => target && changeBid(world, by, target.id, bid),
    enough: async () => target && changeBid(world, by, target.id, null),
    stop: async () => target && setState(world, by, target.id, "stopped"),
    start: async () => target && setState(world, by, target.id, "running"),
    destroy: async () => target && destroy(world, by, target.id),
  }[kind]!();
  assert.ok((answer?.status ?? 200) < 500, `${kind}: ${answer?.text} ${world.complaints.at(-1)}`);
}

type Row = {
  readonly id: number;
  readonly machine_id: number;
  readonly phase: string;
  readonly is_bid: boolean;
  readonly device_count: number;
  readonly price_nanos_per_hour: bigint;
  readonly minimum: bigint;
  readonly generation: number;
  readonly leased: number;
  readonly runs: number;
  readonly last_phase: string;
  readonly causes: readonly string[];
};

async function rowsOf({ env }: TestApp): Promise<readonly Row[]> {
  const { rows } = await env.pool.query<Row>(
    `select i.id, i.machine_id, i.phase, i.is_bid, i.device_count, i.price_nanos_per_hour, i.generation,
       i.device_count * m.price_min_bid_nanos_per_hour as minimum,
       (select count(*)::integer from leases l where l.instance_id = i.id and released_at is null
          and l.generation = i.generation) as leased,
       (select count(*)::integer from instance_runs r where r.instance_id = i.id) as runs,
       (select to_phase from instance_events e where e.instance_id = i.id order by e.id desc limit 1) as last_phase,
       array(select cause from instance_events e where e.instance_id = i.id) as causes
     from instances i join machines m on m.id = i.machine_id`,
  );
  return rows;
}

const HOLDING = ["starting", "running", "yielding", "stopping"];

/** Conditions that hold at any moment. */
async function checkAlways({ world }: Market): Promise<void> {
  for (const row of await rowsOf(world)) {
    const what = `instance ${row.id} is ${row.phase} with ${row.leased} of ${row.device_count}: ${row.causes.join()}`;
    if (row.phase !== "ending") assert.equal(row.leased, HOLDING.includes(row.phase) ? row.device_count : 0, what);
    assert.equal(row.runs, row.generation, what);
    assert.equal(row.last_phase, row.phase, what);
    if (!row.is_bid) assert.ok(!row.causes.includes("outbid") && !row.causes.includes("on_demand"), what);
  }
  const { rows: overlaps } = await world.env.pool.query(
    `select * from (
       select device_id, granted_at, lag(coalesce(released_at, 'infinity'))
         over (partition by device_id order by granted_at, id) as earlier_until from leases
     ) as spans where earlier_until > granted_at`,
  );
  assert.deepEqual(overlaps, [], "a device was leased twice at one time");
  await world.assertBooks();
  await assertLines(world);
}

/** Everybody does what they are asked, and time passes, until nothing changes any more. */
async function settle({ world, hosts }: Market): Promise<void> {
  let before = "";
  for (let round = 0; round < SETTLING_ROUNDS; round += 1) {
    world.clock.jump(SPAN_MS);
    await Promise.all(hosts.map((host) => host.report(host.obedience())));
    for (const name of LOOPS) await world.runLoop(name);
    await Promise.all(hosts.map((host) => host.obey()));
    const now = (await rowsOf(world)).map(({ id, phase, generation }) => `${id} ${phase} ${generation}`).join("\n");
    if (now === before) return;
    before = now;
  }
  assert.fail("the market does not come to rest");
}

/**
 * Conditions that hold once nothing changes any more: no instance waits that could run, said without the schedule's own
 * words.
 */
async function checkSettled({ world, hosts }: Market): Promise<number> {
  const rows = await rowsOf(world);
  const waiting = rows.filter(({ phase }) => phase === "scheduled");
  for (const { phase, id } of rows)
    assert.ok(["scheduled", "running", "stopped", "ended"].includes(phase), `${id}: ${phase}`);
  for (const claim of waiting) {
    const host = hosts.find(({ machineId }) => Number(machineId) === claim.machine_id)!;
    const running = rows.filter(({ phase, machine_id }) => phase === "running" && machine_id === claim.machine_id);
    const unit = (row: Row) => row.price_nanos_per_hour / BigInt(row.device_count);
    const weaker = running.filter((row) => row.is_bid && (!claim.is_bid || unit(row) < unit(claim)));
    const free = host.gpus.length - count(running);
    if (claim.is_bid && claim.price_nanos_per_hour < claim.minimum) continue;
    assert.ok(free + count(weaker) < claim.device_count, `instance ${claim.id} waits although it could run`);
  }
  return waiting.length;
}

function count(rows: readonly Row[]): number {
  return rows.reduce((total, row) => total + row.device_count, 0);
}

test("in a market where everybody acts at once nothing is sold twice, and in the end no instance waits that could run", async (t) => {
  const world = await testApp(t, { rules: { noticeMs: NOTICE_MS, minSliceMs: SLICE_MS } });
  t.diagnostic(`seed ${TEST_SEED}`);
  const hosts = await Promise.all(Array.from({ length: HOSTS }, (_, index) => world.host({ gpus: 1 + (index % 4) })));
  const users = await Promise.all(Array.from({ length: USERS }, () => world.caller({ dollars: 10_000 })));
  const market: Market = { world, hosts, users, rented: [] };
  const acts = fc.sample(act, { seed: TEST_SEED, numRuns: ROUNDS * ACTS_PER_ROUND });
  for (let round = 0; round < ROUNDS; round += 1) {
    const now = acts.slice(round * ACTS_PER_ROUND, (round + 1) * ACTS_PER_ROUND);
    // The host may carry out its last order while it is being given another.
    const obedient = hosts.filter((_, index) => (index + round) % 2 === 0);
    await Promise.all([
      ...now.map((one) => take(market, one)),
      ...obedient.map((host) => host.report(host.obedience())),
      world.runLoop("review-schedules"),
      world.runLoop("enforce-deadlines"),
    ]);
    await checkAlways(market);
    world.clock.jump(BETWEEN_MS);
  }
  await settle(market);
  await checkAlways(market);
  const waitingCount = await checkSettled(market);
  t.diagnostic(`${market.rented.length} rented, ${waitingCount} wait`);
  assert.ok(market.rented.length > ROUNDS * 10, "hardly anything was rented");
  assert.deepEqual(world.complaints, []);
});
