import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { CrowdStart, Rush, RushOutcome } from "../../../../../../test/support/crowd.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { TEST_SEED } from "../../../../../../test/support/seed.ts";

const CROWD = path.join(import.meta.dirname, "../../../../../../test/support/crowd.ts");
const PROCESSES = 2;
const RUSHES = 125;
/** Attempts under way at once in each process; 4,000 make a million in all. */
const RUSH = Number(process.env["BERTH_STORM_RUSH"] ?? 100);
const ATTEMPTS = RUSHES * PROCESSES * RUSH;
/** Offers that a crowd remembers of those that it saw last. */
const KNOWN_OFFERS = 10;
/** Milliseconds from one rush to the next. */
const TICK_MS = 10;

type Tally = {
  count: number;
  readonly ownerOf: Map<number, TestCaller>;
  readonly refusals: Map<string, number>;
};

function startCrowds(start: Omit<CrowdStart, "seed">, seed: number): readonly ChildProcess[] {
  return Array.from({ length: PROCESSES }, (_, index) => {
    const child = fork(CROWD, [], { execArgv: ["--disable-warning=ExperimentalWarning"] });
    child.send({ ...start, seed: seed + index } satisfies CrowdStart);
    return child;
  });
}

async function runRush(child: ChildProcess, rush: Rush): Promise<RushOutcome> {
  const answer = once(child, "message");
  child.send(rush);
  const [outcome] = (await answer) as [RushOutcome];
  return outcome;
}

function countOutcome(tally: Tally, users: readonly TestCaller[], { attemptCount, successes, refusals }: RushOutcome) {
  tally.count += attemptCount;
  for (const { id, renter } of successes) tally.ownerOf.set(id, users[renter]!);
  for (const [name, count] of Object.entries(refusals)) {
    tally.refusals.set(name, (tally.refusals.get(name) ?? 0) + count);
  }
}

/** Some renters leave, and the hosts do what they were ordered; all that while others rent. */
async function freeSome(world: TestApp, hosts: readonly FakeHost[], tally: Tally, turn: number): Promise<void> {
  const { rows } = await world.env.pool.query<{ id: number }>("select id from instances where phase = 'running'");
  const leaving = rows.filter(({ id }) => (id + turn) % 2 === 0 && tally.ownerOf.has(id));
  for (const { id } of leaving) {
    const secret = tally.ownerOf.get(id)?.secret ?? "";
    const answer = await world.call({ method: "DELETE", url: `/api/v0/instances/${id}/`, secret });
    assert.equal(answer.status, 200, answer.text);
  }
  await world.settled();
  for (const host of hosts) await host.report(host.obedience());
}

async function audit({ env, assertBooks }: TestApp, { ownerOf }: Tally): Promise<void> {
  const { rows: overlaps } = await env.pool.query(`
    select * from (
      select device_id, granted_at, released_at, lag(coalesce(released_at, 'infinity'))
        over (partition by device_id order by granted_at, id) as earlier_until
      from leases
    ) as spans where earlier_until > granted_at`);
  assert.deepEqual(overlaps, [], "a device was leased twice at one time");
  const { rows: foreign } = await env.pool.query(`
    select l.id from leases l join devices d on d.id = l.device_id join instances i on i.id = l.instance_id
    where d.machine_id <> l.machine_id or i.machine_id <> l.machine_id`);
  assert.deepEqual(foreign, [], "a device was leased to an instance elsewhere");
  const { rows: instances } = await env.pool.query(`
    select i.id, i.phase, i.device_count, i.is_bid, array(
      select count(distinct device_id)::integer from leases where instance_id = i.id group by generation
    ) as held from instances i order by i.id`);
  assert.deepEqual(
    instances.map((row) => row.id),
    [...ownerOf.keys()].toSorted((a, b) => a - b),
    "each success is an instance, and the other way round",
  );
  for (const row of instances) {
    for (const held of row.held) assert.equal(held, row.device_count, JSON.stringify(row));
    // A bid may be outbid before its devices are free.
    assert.ok(row.held.length > 0 || (row.is_bid && row.phase === "scheduled"), `no lease: ${JSON.stringify(row)}`);
  }
  const { rows: offers } = await env.pool.query(`
    select offer_id from instances group by offer_id having count(*) > 1
    union all select o.id from offers o join instances i on i.offer_id = o.id where o.retired_at is null`);
  assert.deepEqual(offers, [], "an offer was rented twice, or is for rent still");
  await assertBooks();
}

/** Runs one rush after the other; each is about the devices that came free since the one before. */
async function storm(world: TestApp, hosts: readonly FakeHost[], users: readonly TestCaller[], seed: number) {
  const tally: Tally = { count: 0, ownerOf: new Map(), refusals: new Map() };
  const crowds = startCrowds({ url: world.env.url, identities: users.map((user) => user.identity) }, seed);
  let known: readonly number[] = [];
  try {
    for (let turn = 0; turn < RUSHES; turn += 1) {
      const live = await Promise.all(hosts.map((host) => world.offersOf(host)));
      // Most order present offers, and some order offers of a moment ago.
      known = [...new Set([...live.flatMap((offers) => [...offers.values()]), ...known])].slice(0, KNOWN_OFFERS);
      world.clock.jump(TICK_MS);
      const rush: Rush = { offerIds: known, attemptCount: RUSH, nowMs: world.clock.now().getTime() };
      let isOver = false;
      const rushes = Promise.all(crowds.map((crowd) => runRush(crowd, rush))).finally(() => (isOver = true));
      do await freeSome(world, hosts, tally, turn);
      while (!isOver);
      for (const outcome of await rushes) countOutcome(tally, users, outcome);
    }
    // Bids that the last rush displaced leave, so that the higher claims get their devices.
    await freeSome(world, hosts, tally, 0);
  } finally {
    for (const crowd of crowds) crowd.disconnect();
  }
  return tally;
}

test(`${ATTEMPTS} attempts to rent a few GPUs, through two processes at once, sell no GPU twice`, async (t) => {
  const world = await testApp(t);
  const hosts = [await world.host({ gpus: 4 }), await world.host({ gpus: 3 })];
  const users = await Promise.all(Array.from({ length: 8 }, () => world.caller({ dollars: 100_000 })));
  t.diagnostic(`seed ${TEST_SEED} (BERTH_TEST_SEED, BERTH_STORM_RUSH)`);
  const tally = await storm(world, hosts, users, TEST_SEED);
  t.diagnostic(`${tally.ownerOf.size} rented; refused: ${JSON.stringify([...tally.refusals])}`);
  assert.equal(tally.count, ATTEMPTS);
  const refused = [...tally.refusals.values()].reduce((all, count) => all + count, 0);
  assert.equal(refused + tally.ownerOf.size, ATTEMPTS);
  for (const name of tally.refusals.keys()) assert.match(name, /^(gone no_such_ask|invalid bid_below_minimum)$/);
  assert.ok(tally.ownerOf.size >= 100, "hardly anything was for rent");
  await audit(world, tally);
  assert.deepEqual(world.complaints, []);
});
