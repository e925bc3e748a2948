// Charges equal the count of a clock, after any actions in any order, and after any reports of them.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { withTransaction } from "../../server/src/db/transaction.ts";
import { issueAgentToken } from "../../server/src/domains/supply/hosts/for-assembly.ts";
import { lockMachines } from "../../server/src/domains/supply/hosts/index.ts";
import { refreshOffers } from "../../server/src/domains/supply/market/index.ts";
import { audit } from "../../server/src/domains/money/audit/audit-service.ts";
import { NO_CEILINGS, testApp, type TestApp } from "../support/app.ts";
import { assertLines } from "../support/money/charges.ts";
import { prepay } from "../support/money/contracts.ts";
import type { TestCaller } from "../support/fixtures.ts";
import { setPlainTerms } from "../support/hosts/machines.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { askFor, changeBid, destroy, setState } from "../support/rentals.ts";
import { costOf, countMilliseconds, type Gap, type Rental, type Stored } from "./milliseconds-oracle.ts";
import { MonthHost } from "./month/host.ts";

const MINUTE_MS = 60_000;
const LEASE_MS = 10 * MINUTE_MS;
/** A host that is there is heard of within a lease; here it says nothing for no longer than this. */
const SILENCE_MS_MAX = 8 * MINUTE_MS;
/** A host that is asked to stop something has done so by then; what it runs on after 45 seconds is its own affair. */
const OBEYS_MS_MAX = 40_000;
const STEPS = 45;
const GB = 1_000_000_000n;

const step = fc.record({
  kind: fc.constantFrom(
    ...(["rent", "rent", "bid on", "bid on", "bid", "bid", "bid", "stop", "stop", "start", "start", "prepay"] as const),
    ...(["reprice", "flow", "flow", "report", "report", "report", "count", "count", "repeat", "reorder"] as const),
    ...(["short outage", "long outage", "settle", "settle", "keep", "remove", "destroy"] as const),
  ),
  pick: fc.nat({ max: 1000 }),
  passMs: fc.oneof({ weight: 3, arbitrary: fc.nat({ max: 20_000 }) }, fc.nat({ max: 3 * MINUTE_MS })),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type Terms = { readonly gpu: bigint; readonly disk: bigint; readonly up: bigint; readonly down: bigint };

type Play = {
  readonly world: TestApp;
  readonly host: MonthHost;
  readonly owner: TestCaller;
  readonly user: TestCaller;
  readonly rentals: Rental[];
  readonly volumes: Stored[];
  readonly gaps: Gap[];
  readonly fromMs: number;
  volumeOfferId: number;
  listed: Terms;
  heardMs: number;
  /** The time of a request that may make the host stop something, until the host says that it knows of it. */
  askedMs: number | undefined;
  /** The last report of the host. */
  said: ReturnType<MonthHost["obedience"]>;
};

const VOLUME_NANOS = 3_000_000_000n;

async function begin(t: TestContext): Promise<Play> {
  // Ten minutes before midnight, where lines are divided.
  const clock = new ManualClock("2026-03-09T23:50:00Z");
  const world = await testApp(t, { clock, ceilings: NO_CEILINGS, rules: { noticeMs: 0, minSliceMs: 0 } });
  const { database } = world.env;
  const [owner, user] = [await world.caller({ dollars: 0 }), await world.caller({ dollars: 1_000_000 })];
  const token = await withTransaction(database, clock, (tx) =>
    issueAgentToken(tx, { userId: owner.id, name: "host", isTrusted: true }),
  );
  const host = new MonthHost({ origin: world.origin, token, clock, database, gpus: 3 });
  t.after(() => host.terminate());
  await host.connect();
  await withTransaction(database, clock, (tx) => setPlainTerms(tx, host.machineId));
  const fromMs = clock.now().getTime();
  const facts = {
    rentals: [],
    volumes: [],
    gaps: [],
    fromMs,
    heardMs: fromMs,
    askedMs: undefined,
    said: [],
    volumeOfferId: 0,
  };
  const play: Play = { world, host, owner, user, listed: { gpu: 0n, disk: 0n, up: 0n, down: 0n }, ...facts };
  const body = { machine: host.machineId, size: 400, price_disk: 3 };
  const answer = await world.call({ method: "POST", url: "/api/v0/volumes/", secret: owner.secret, body });
  assert.equal(answer.status, 200, answer.text);
  play.volumeOfferId = Number(/\d+/.exec(String(answer.body.msg))?.[0]);
  await reprice(play, 100);
  return play;
}

/** New prices for rentals from now on. */
async function reprice(play: Play, pick: number): Promise<void> {
  const { world, host } = play;
  const unit = BigInt(pick + 1);
  play.listed = { gpu: unit * 10_000_019n, disk: unit * 1_500_007n, up: unit * 20_011n, down: unit * 30_013n };
  const { gpu, disk, up, down } = play.listed;
  await world.env.pool.query(
    `update machines set price_device_nanos_per_hour = $2, price_min_bid_nanos_per_hour = 1000,
       price_disk_nanos_per_gb_month = $3, price_inet_up_nanos_per_gb = $4, price_inet_down_nanos_per_gb = $5
     where id = $1`,
    [host.machineId, gpu, disk, up, down],
  );
  await withTransaction(world.env.database, world.clock, async (tx) => {
    await lockMachines(tx, [host.machineId]);
    await refreshOffers(tx, [host.machineId]);
  });
  await world.settled();
}

async function rent(play: Play, pick: number, bidDollars: number | undefined): Promise<void> {
  const { world, host, user, rentals, listed } = play;
  const size = 1 + (pick % 2);
  if ((await world.offersOf(host)).get(size) === undefined) return;
  const diskGb = 10 + (pick % 7);
  const price = bidDollars === undefined ? {} : { price: bidDollars };
  const answer = await askFor(world, user, host, { size, disk: diskGb, ...price });
  // A bid that is too low is refused with an instance that waits.
  if (typeof answer.body.new_contract !== "number") return;
  const gpuNanos = bidDollars === undefined ? listed.gpu * BigInt(size) : nanosOf(bidDollars);
  rentals.push({
    kind: "instance",
    id: answer.body.new_contract,
    host,
    diskBytes: BigInt(diskGb) * GB,
    diskNanos: listed.disk,
    upNanos: listed.up,
    downNanos: listed.down,
    agreed: [{ fromMs: world.clock.now().getTime(), gpuNanos, discountPpm: 0 }],
    overMs: undefined,
  });
}

function nanosOf(dollars: number): bigint {
  return BigInt(Math.round(dollars * 1e9));
}

async function bid({ world, user }: Play, rental: Rental, dollars: number): Promise<void> {
  const { status } = await changeBid(world, user, rental.id, dollars);
  const [last] = rental.agreed.slice(-1);
  assert.ok(last);
  if (status !== 200) return;
  rental.agreed.push({ ...last, fromMs: world.clock.now().getTime(), gpuNanos: nanosOf(dollars) });
}

async function reserve({ world, user }: Play, rental: Rental, dollars: number): Promise<void> {
  const { status, body } = await prepay(world, user, rental.id, dollars);
  const [last] = rental.agreed.slice(-1);
  assert.ok(last);
  if (status !== 200) return;
  const discountPpm = Math.round(body.discount_rate * 1e6);
  rental.agreed.push({ ...last, fromMs: world.clock.now().getTime(), discountPpm });
}

async function destroyOne({ world, user }: Play, rental: Rental): Promise<void> {
  if (rental.overMs !== undefined) return;
  assert.equal((await destroy(world, user, rental.id)).status, 200);
  rental.overMs = world.clock.now().getTime();
}

async function keep({ world, host, user, volumes, volumeOfferId }: Play, pick: number): Promise<void> {
  const size = 1 + (pick % 20);
  const body = { id: volumeOfferId, size };
  const answer = await world.call({ method: "PUT", url: "/api/v0/volumes/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  const fromMs = world.clock.now().getTime();
  const stored = { id: Number(answer.body.id), diskBytes: BigInt(size) * GB, diskNanos: VOLUME_NANOS };
  volumes.push({ kind: "volume", host, ...stored, fromMs, overMs: undefined });
}

async function remove({ world, user }: Play, volume: Stored): Promise<void> {
  if (volume.overMs !== undefined) return;
  const body = { id: volume.id };
  const answer = await world.call({ method: "DELETE", url: "/api/v0/volumes/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  volume.overMs = world.clock.now().getTime();
}

/** Traffic in each millisecond of the next minutes, while the instance runs. */
function flow({ host, world }: Play, { id }: Rental, pick: number): void {
  const fromMs = world.clock.now().getTime();
  host.flows.push({
    instanceId: id,
    fromMs,
    untilMs: fromMs + pick * 1000,
    receivedPerSecond: (1 + (pick % 17)) * 1_000_000,
    sentPerSecond: (1 + (pick % 5)) * 3_000_000,
  });
}

/** Reports the true state; with `stored` the server stores its counters at once. */
async function say(play: Play, stored: boolean): Promise<void> {
  const { host, world } = play;
  if (stored) await host.count();
  else await host.obey();
  play.askedMs = undefined;
  play.said = host.obedience();
  play.heardMs = world.clock.now().getTime();
}

/** A report that was on its way for longer may be paid in part alone (`countRun`). */
const LATE_MS_MAX = 30_000;

/** Reports the counters of an earlier report: late by a little, or overtaken by a newer one. */
async function sayOld(play: Play): Promise<void> {
  const { host, said, world, heardMs } = play;
  if (world.clock.now().getTime() - heardMs > LATE_MS_MAX) await say(play, true);
  const old = new Map(said.map((one) => [`${one.instance_id} ${one.generation}`, one.counters]));
  const seen = host.obedience().map((one) => {
    // The last count of a run that is over comes with the word of its end.
    const counters = one.state === "running" ? old.get(`${one.instance_id} ${one.generation}`) : undefined;
    return { ...one, ...(counters === undefined ? {} : { counters }), status_msg: "of before" };
  });
  await host.report(seen, { volumes: host.obedientVolumes() });
  play.heardMs = world.clock.now().getTime();
}

/** An absence shorter than a lease: all containers went on. People do things meanwhile. */
async function shortOutage(play: Play, pick: number): Promise<void> {
  const { world, host, rentals, user } = play;
  await say(play, true);
  await host.disconnect();
  world.clock.jump(pick * 200);
  const target = rentals[pick % Math.max(1, rentals.length)];
  if (target !== undefined && pick % 3 === 0) await setState(world, user, target.id, "stopped");
  if (target !== undefined && pick % 3 === 1) await bid(play, target, (30 + pick) / 100);
  // The host hears of orders given meanwhile before obeying later would cost it anything.
  world.clock.jump(Math.min(pick * 200, OBEYS_MS_MAX));
  await host.connect();
  await say(play, true);
}

/** An absence longer than a lease: all containers stopped at its end, and nobody saw their work before. */
async function longOutage(play: Play, pick: number): Promise<void> {
  const { world, host, gaps, volumes } = play;
  await say(play, true);
  const fromMs = world.clock.now().getTime();
  await host.disconnect();
  world.clock.jump(20 * MINUTE_MS + pick * 100);
  if (pick % 2 === 0) await world.runLoop("release-lost-hosts");
  const volume = volumes[pick % Math.max(1, volumes.length)];
  if (volume !== undefined && pick % 5 === 0) await remove(play, volume);
  host.stopAll(fromMs + LEASE_MS);
  await host.connect();
  gaps.push({ host, fromMs, untilMs: world.clock.now().getTime() });
  await say(play, true);
}

async function settle({ world }: Play): Promise<void> {
  for (const table of ["instance_tabs", "volumes"]) {
    await world.env.pool.query(`update ${table} set settle_at = $1 where settle_at > $1`, [world.clock.now()]);
  }
  for (const loop of ["settle-runs", "settle-volumes", "return-deposits"]) await world.runLoop(loop);
}

async function act(play: Play, { kind, pick, passMs }: Step): Promise<void> {
  const { world, user, rentals, volumes } = play;
  const nowMs = world.clock.now().getTime();
  await pass(play, Math.min(passMs, play.heardMs + SILENCE_MS_MAX - nowMs));
  const live = rentals.filter(({ overMs }) => overMs === undefined);
  const target = live[pick % Math.max(1, live.length)];
  const volume = volumes[pick % Math.max(1, volumes.length)];
  const acts: Readonly<Record<Step["kind"], () => unknown>> = {
    rent: () => rent(play, pick, undefined),
    "bid on": () => rent(play, pick, (30 + pick) / 100),
    bid: () => target && bid(play, target, (30 + pick) / 100),
    stop: () => target && setState(world, user, target.id, "stopped"),
    start: () => target && setState(world, user, target.id, "running"),
    prepay: () => target && reserve(play, target, 20 + pick),
    reprice: () => reprice(play, pick),
    flow: () => target && flow(play, target, pick),
    report: () => say(play, false),
    count: () => say(play, true),
    repeat: async () => {
      await say(play, true);
      await say(play, true);
    },
    reorder: () => sayOld(play),
    "short outage": () => shortOutage(play, pick),
    "long outage": () => longOutage(play, pick),
    settle: () => settle(play),
    keep: () => keep(play, pick),
    remove: () => volume && remove(play, volume),
    destroy: () => target && pick % 2 === 0 && destroyOne(play, target),
  };
  await acts[kind]();
  if (ASKS.has(kind)) play.askedMs ??= world.clock.now().getTime();
}

const ASKS: ReadonlySet<Step["kind"]> = new Set([
  "rent",
  "bid on",
  "bid",
  "stop",
  "start",
  "prepay",
  "destroy",
  "reorder",
]);

/** Lets time pass; the host carries out its orders meanwhile, before the time of a stop is over. */
async function pass(play: Play, ms: number): Promise<void> {
  const { clock } = play.world;
  const endMs = clock.now().getTime() + ms;
  const obeysMs = play.askedMs === undefined ? Infinity : play.askedMs + OBEYS_MS_MAX;
  if (obeysMs < endMs) {
    clock.jump(Math.max(0, obeysMs - clock.now().getTime()));
    await say(play, false);
  }
  clock.jump(endMs - clock.now().getTime());
}

/** Ends the play: all rentals are given up, reported and settled. */
async function finish(play: Play): Promise<void> {
  await say(play, true);
  for (const rental of play.rentals) await destroyOne(play, rental);
  await say(play, true);
  for (const volume of play.volumes) await remove(play, volume);
  for (let round = 0; round < 3; round += 1) {
    play.world.clock.jump(MINUTE_MS);
    await say(play, true);
    await settle(play);
  }
}

type Charged = {
  readonly key: string;
  readonly quantity: bigint;
  readonly charged: bigint;
  readonly unpaid: bigint;
  readonly count: bigint;
};

/** The sums of all charge lines, by contract, component, price and discount. */
async function chargedIn({ world }: Play): Promise<readonly Charged[]> {
  const { rows } = await world.env.pool.query<Charged>(
    `select concat_ws(' ', case when volume_id is null then 'instance' else 'volume' end,
         coalesce(instance_id, volume_id), component, unit_price_nanos, discount_ppm) as key,
       sum(quantity)::bigint as quantity, sum(amount_nanos)::bigint as charged, sum(unpaid_nanos)::bigint as unpaid,
       count(*) as count
     from charge_lines group by 1 order by 1`,
  );
  return rows;
}

async function assertCharged(play: Play): Promise<void> {
  const { world, rentals, volumes, gaps, fromMs } = play;
  const untilMs = world.clock.now().getTime();
  const expected = countMilliseconds([...rentals, ...volumes], gaps, { fromMs, untilMs });
  const charged = await chargedIn(play);
  const inOrder = (entries: Iterable<readonly [string, bigint]>) =>
    [...entries].toSorted(([a], [b]) => a.localeCompare(b)).map(([key, quantity]) => `${key}: ${quantity}`);
  assert.deepEqual(inOrder(charged.map(({ key, quantity }) => [key, quantity] as const)), inOrder(expected));
  const sizes = new Map([...rentals, ...volumes].map(({ kind, id, diskBytes }) => [`${kind} ${id}`, diskBytes]));
  for (const { key, quantity, charged: paid, unpaid, count } of charged) {
    const { above, below } = costOf(key, quantity, sizes.get(key.split(" ", 2).join(" ")) ?? 0n);
    const missing = above - paid * below;
    assert.ok(missing >= 0n && missing < count * below, `${key}: ${paid} on ${count} lines`);
    assert.equal(unpaid, 0n, key);
  }
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  const differences = checks.flatMap(({ name, differences: found }) => found.map((one) => ({ name, ...one })));
  assert.deepEqual(differences, []);
  await assertLines(world);
  await world.assertBooks();
  assert.deepEqual(world.complaints, []);
}

test("charges equal the count of a clock, millisecond by millisecond", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS }), async (steps) => {
      const play = await begin(t);
      for (const one of steps) await act(play, one);
      await finish(play);
      await assertCharged(play);
      play.host.terminate();
      await play.world.close();
    }),
    { numRuns: 4, endOnFailure: true },
  );
});
