import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { creditOfUser, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { assertLines, settleNow } from "../../../../../test/support/money/charges.ts";
import { depositBalance, listedHost, pass, prepay } from "../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { destroy, rent, setState } from "../../../../../test/support/rentals.ts";

const DOLLAR = 1_000_000_000n;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FUNDS = 100_000n * DOLLAR;
const PPM = 1_000_000n;

const kind = <const K extends string>(name: K) => fc.constant(name);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: kind("prepay"), cents: fc.integer({ min: 1, max: 80_000 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: kind("pass"),
      ms: fc.oneof(fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: HOUR_MS, max: 400 * HOUR_MS })),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: kind("settle") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("stop" as const, "start" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The counted and uncharged stretch of a run, in milliseconds since 1970. */
type Run = { fromMs: number; toMs: number };

/** The rules once more, as simply as possible: one account book, fractions, no database. */
class Naive {
  credit = FUNDS;
  deposit = 0n;
  earned = 0n;
  fees = 0n;
  atStake = 0n;
  saved = 0n;
  discount = 0n;
  runs: Run[] = [];
  readonly price: bigint;

  constructor(price: bigint, now: Date) {
    this.price = price;
    this.start(now);
  }

  start(now: Date): void {
    this.runs.push({ fromMs: now.getTime(), toMs: now.getTime() });
  }

  count(ms: number): void {
    this.runs.at(-1)!.toMs += ms;
  }

  /** Charges each day by itself. */
  settle(): void {
    for (const run of this.runs) {
      while (run.fromMs < run.toMs) {
        const end = Math.min(run.toMs, (Math.floor(run.fromMs / DAY_MS) + 1) * DAY_MS);
        this.#charge(BigInt(end - run.fromMs));
        run.fromMs = end;
      }
    }
  }

  #charge(ms: bigint): void {
    const { discount } = this;
    const unit = this.price * (PPM - discount); // Of 3.6·10¹² parts of a nano-dollar, each millisecond.
    let cheap = 0n;
    if (discount > 0n && this.deposit > 0n) {
      cheap = (this.deposit * 3_600_000_000_000n) / unit;
      if (cheap > ms) cheap = ms;
      const cost = (unit * cheap) / 3_600_000_000_000n;
      const full = (this.price * cheap) / 3_600_000n;
      this.deposit -= cost;
      this.earned += cost;
      this.saved += full - cost;
      this.atStake += full - cost;
      if (cheap < ms || this.deposit * 3_600_000_000_000n < unit) [this.atStake, this.discount] = [0n, 0n];
    }
    const rest = (this.price * (ms - cheap)) / 3_600_000n;
    this.credit -= rest;
    this.earned += rest;
  }

  prepay(amount: bigint, ratePpm: bigint): void {
    this.credit -= amount;
    this.deposit += amount;
    this.discount = ratePpm;
  }

  destroy(): void {
    const fee = (this.atStake * 5n) / 100n;
    const toHost = this.atStake < this.deposit ? this.atStake : this.deposit;
    const toHouse = fee < this.deposit - toHost ? fee : this.deposit - toHost;
    this.earned += toHost;
    this.fees += toHouse;
    this.credit += this.deposit - toHost - toHouse;
    this.deposit = 0n;
  }
}

async function books({ env }: TestApp, host: FakeHost, renter: TestCaller, id: number) {
  const { rows } = await env.pool.query<{ earned: bigint; fees: bigint; deposit: bigint; total: bigint }>(
    `select
       coalesce(sum(balance_nanos) filter (where kind = 'earnings' and user_id = m.host_id), 0)::bigint as earned,
       coalesce(sum(balance_nanos) filter (where kind = 'fees'), 0)::bigint as fees,
       coalesce(sum(balance_nanos) filter (where kind = 'deposit:' || $2), 0)::bigint as deposit,
       coalesce(sum(balance_nanos), 0)::bigint as total
     from ledger_accounts, machines m where m.id = $1`,
    [host.machineId, id],
  );
  return { ...rows[0]!, credit: (await creditOfUser({ env }, renter)).balance };
}

/** Destroys the instance and runs all loops that follow, each twice. */
async function finish(world: TestApp, host: FakeHost, user: TestCaller, id: number): Promise<void> {
  await destroy(world, user, id);
  await host.obey();
  for (const loop of ["return-deposits", "settle-runs", "settle-runs", "return-deposits", "return-deposits"]) {
    await world.runLoop(loop);
  }
}

test("after any prepayments, runs, stops and ends every nano-dollar is where a second computation of the rules puts it", async (t) => {
  const world = await testApp(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 20 }),
      fc.integer({ min: 10_000_000, max: 2_000_000_000 }),
      fc.constantFrom(0.1, 0.25, 0.4, 0.5),
      async (steps: readonly Step[], price, discountMax) => {
        const host = await listedHost(world, { dollarsPerHour: price / 1e9, discountMax, days: 1500 });
        const user = await world.caller({ dollars: Number(FUNDS / DOLLAR) });
        const before = await books(world, host, user, 0);
        const id = await rent(world, user, host);
        await host.obey();
        const naive = new Naive(BigInt(price), world.clock.now());
        let isRunning = true;
        for (const one of steps) {
          switch (one.kind) {
            case "prepay": {
              const answer = await prepay(world, user, id, one.cents / 100);
              if (answer.status !== 200) {
                assert.match(answer.body.msg, /too small|at most/);
                break;
              }
              naive.settle();
              naive.prepay(BigInt(one.cents) * 10_000_000n, BigInt(Math.round(answer.body.discount_rate * 1e6)));
              break;
            }
            case "pass":
              await pass(world, host, one.ms);
              if (isRunning) naive.count(one.ms);
              break;
            case "settle":
              await settleNow(world);
              naive.settle();
              break;
            default:
              await setState(world, user, id, one.kind === "stop" ? "stopped" : "running");
              await host.obey();
              if (one.kind === "start" && !isRunning) naive.start(world.clock.now());
              isRunning = one.kind === "start";
          }
          const now = await books(world, host, user, id);
          assert.equal(now.deposit, naive.deposit, `deposit after ${one.kind}`);
          assert.equal(now.credit, naive.credit, `credit after ${one.kind}`);
        }
        await settleNow(world);
        naive.settle();
        const { body } = await depositBalance(world, user, id);
        assert.equal(BigInt(Math.round(body.total_discount * 1e9)), naive.saved);
        await finish(world, host, user, id);
        naive.destroy();
        const after = await books(world, host, user, id);
        assert.deepEqual(
          [after.credit, after.deposit, after.earned, after.fees - before.fees],
          [naive.credit, 0n, naive.earned, naive.fees],
        );
        assert.equal(after.total, 0n);
        host.terminate();
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
  const { rows } = await world.env.pool.query(
    `select instance_id, saved_nanos from deposits d where saved_nanos <> (
       select coalesce(sum((t.cause ->> 'discount_nanos')::numeric), 0) from ledger_transfers t
       join ledger_accounts a on a.id = t.debit_account_id where a.kind = 'deposit:' || d.instance_id
     )`,
  );
  assert.deepEqual(rows, [], "what was saved is what the ledger says");
  await world.assertBooks();
  await assertLines(world);
});
