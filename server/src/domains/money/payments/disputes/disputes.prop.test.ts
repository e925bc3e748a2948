import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { aMachine, anInstanceRow } from "../../../../../../test/support/hosts/machines.ts";
import { aPaymentShop, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { spendAt } from "../../../../../../test/support/money/spending.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { noteDeposit } from "../../deposits/deposit-store.ts";
import { balanceOf, creditOf, depositOf, postTransfers } from "../../ledger/index.ts";
import type { AccountRef } from "../../ledger/for-payments.ts";
import { planTracing } from "./rules/tracing.ts";

const DOLLAR = 1_000_000_000n;
const DAY_MS = 86_400_000;
const PEOPLE = 4;
const KINDS = [
  "pay",
  "pay",
  "transfer",
  "transfer",
  "transfer",
  "spend",
  "prepay",
  "dispute",
  "dispute",
  "win",
  "wait",
] as const;

type Step = {
  readonly kind: (typeof KINDS)[number];
  readonly from: number;
  readonly to: number;
  readonly dollars: number;
};

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    from: fc.nat(PEOPLE - 1),
    to: fc.nat(PEOPLE - 1),
    dollars: fc.integer({ min: 5, max: 60 }),
  }),
  { minLength: 6, maxLength: 18 },
);

type Paid = { readonly intent: string; readonly cents: number; readonly by: TestCaller };
type Accounts = Map<string, bigint>;

test("disputes and won disputes preserve all sums: no account gains, and none loses more than it received", async (t) => {
  const shop = await aPaymentShop(t);
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const people = await Promise.all(Array.from({ length: PEOPLE }, () => shop.user()));
      const deposits = new Map<TestCaller, AccountRef>();
      for (const one of people) deposits.set(one, await aDeposit(shop, one));
      /** The balances without any dispute, and the amounts that each user received from others. */
      const [undisputed, received]: [Accounts, Accounts] = [new Map(), new Map()];
      const open = new Map<string, Paid>();
      const paid: Paid[] = [];
      let paidIn = 0n;
      const move = (debit: string | undefined, credit: string, amount: bigint) => {
        if (debit !== undefined) {
          undisputed.set(debit, (undisputed.get(debit) ?? 0n) - amount);
          received.set(credit, (received.get(credit) ?? 0n) + amount);
        }
        undisputed.set(credit, (undisputed.get(credit) ?? 0n) + amount);
      };
      for (const { kind, from, to, dollars } of sequence) {
        const [one, other] = [people[from], people[to]] as [TestCaller, TestCaller];
        const amount = BigInt(dollars) * DOLLAR;
        const { available } = await balanceOf(shop.env.database.kysely, one.id);
        if (kind === "wait") shop.clock.advance(dollars * DAY_MS);
        else if (kind === "pay" && [...open.values()].every(({ by }) => by !== one)) {
          paid.push(await payIn(shop, one, dollars));
          move(undefined, `renter ${one.id}`, amount);
          paidIn += amount;
        } else if (kind === "transfer" && one !== other && available >= amount) {
          await post(shop, { debit: creditOf(one.id), credit: creditOf(other.id), amount, code: "credit_transfer" });
          move(`renter ${one.id}`, `renter ${other.id}`, amount);
        } else if (kind === "prepay" && available >= amount) {
          await post(shop, {
            debit: creditOf(one.id),
            credit: deposits.get(one) as AccountRef,
            amount,
            code: "prepay",
          });
        } else if (kind === "spend" && one !== other && available >= amount) {
          await spendAt(shop, { renter: one, host: other, dollars });
          move(`renter ${one.id}`, `earnings ${other.id}`, amount);
        } else if (kind === "dispute") {
          const [one] = paid.splice(from % Math.max(1, paid.length), 1);
          if (one === undefined) continue;
          await shop.deliverAll([shop.stripe.disputed(one.intent, one.cents, "needs_response")]);
          open.set(one.intent, one);
        } else if (kind === "win") {
          const [first] = open.values();
          if (first === undefined) continue;
          await win(shop, first);
          open.delete(first.intent);
        }
        const disputed = [...open.values()].reduce((sum, { cents }) => sum + BigInt(cents) * (DOLLAR / 100n), 0n);
        const now = await accountsOf(shop, people);
        const sum = [...now.values()].reduce((total, { balance }) => total + balance, 0n);
        assert.equal(sum, paidIn - disputed, "all accounts have together what was paid in and not disputed");
        for (const [name, taken] of await takenOf(shop, people)) {
          assert.ok(taken <= (received.get(name) ?? 0n), `${name} lost ${taken}`);
        }
      }
      for (const one of open.values()) await win(shop, one);
      for (const [name, { balance, granted }] of await accountsOf(shop, people)) {
        assert.equal(balance, undisputed.get(name) ?? 0n, `${name} has what it had without a dispute`);
        assert.equal(granted, 0n, `${name} has cash as without a dispute`);
      }
      assert.deepEqual([...(await takenOf(shop, people))], []);
    }),
    { numRuns: 4 },
  );
  await shop.assertBooks();
});

/** A deposit for an instance that never runs. */
async function aDeposit(shop: PaymentShop, owner: TestCaller): Promise<AccountRef> {
  return withTransaction(shop.env.database, shop.clock, async (tx) => {
    const machineId = await aMachine(tx, owner.id);
    const instanceId = await anInstanceRow(tx, owner.id, machineId);
    await noteDeposit(tx, { instanceId, userId: owner.id, discountPpm: 10_000 });
    return depositOf(owner.id, instanceId);
  });
}

type Sides = Parameters<typeof transferOf>[0];

async function post(shop: PaymentShop, sides: Sides): Promise<void> {
  await withTransaction(shop.env.database, shop.clock, (tx) => postTransfers(tx, [transferOf(sides)]));
}

async function payIn(shop: PaymentShop, by: TestCaller, dollars: number): Promise<Paid> {
  const answer = await shop.call(by, "POST", "/api/v0/billing/checkout/", { amount: dollars });
  assert.equal(answer.status, 200, answer.text);
  await shop.deliverAll(shop.stripe.pay(shop.stripe.lastSession));
  return { intent: [...shop.stripe.intents.keys()].at(-1) ?? "", cents: dollars * 100, by };
}

/** Delivers the event twice, as the provider may. */
async function win(shop: PaymentShop, { intent, cents }: Paid): Promise<void> {
  const told = () => shop.stripe.disputed(intent, cents, "won");
  await shop.deliverAll([told(), told()]);
}

/** The sum of a user's credit and deposits: a dispute's share of a deposit returns as credit. */
async function accountsOf(shop: PaymentShop, people: readonly TestCaller[]) {
  const { rows } = await shop.env.pool.query<{ name: string; balance: string; granted: string }>(
    `select case when kind = 'earnings' then kind else 'renter' end || ' ' || user_id as name,
       sum(balance_nanos)::text as balance, sum(granted_nanos)::text as granted
     from ledger_accounts where user_id = any($1) group by 1`,
    [people.map(({ id }) => id)],
  );
  return new Map(
    rows.map(({ name, balance, granted }) => [name, { balance: BigInt(balance), granted: BigInt(granted) }]),
  );
}

/** The amounts that disputes of others took. */
async function takenOf(shop: PaymentShop, people: readonly TestCaller[]): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await shop.env.pool.query<{ name: string; taken: string }>(
    `select case when t.account_kind = 'earnings' then t.account_kind else 'renter' end || ' ' || t.user_id as name,
       sum(t.amount_nanos)::text as taken
     from payment_takings t join payment_returns r on r.key = t.return_key join payments p on p.intent_id = r.intent_id
     where t.user_id = any($1) and t.given_back_at is null and (p.user_id <> t.user_id or t.account_kind = 'earnings')
     group by 1`,
    [people.map(({ id }) => id)],
  );
  return new Map(rows.map(({ name, taken }) => [name, BigInt(taken)]));
}

test("tracing takes back the most that was sent on and is still there, and counts no amount twice", () => {
  const names = ["payer", "a", "b", "c", "d"];
  const amounts = fc.bigInt(-3n, 30n);
  const edge = fc.record({ from: fc.constantFrom(...names), to: fc.constantFrom(...names), nanos: amounts });
  fc.assert(
    fc.property(
      amounts,
      fc.array(edge, { maxLength: 12 }),
      fc.tuple(amounts, amounts, amounts, amounts),
      (wanted, edges, cash) => {
        const cashOf = new Map(names.slice(1).map((name, index) => [name, cash[index] ?? 0n]));
        const { parts, missingNanos } = planTracing(wanted, { payer: "payer", edges, cashOf });
        const sum = (list: readonly bigint[]) => list.reduce((total, one) => total + one, 0n);
        const positive = (amount: bigint) => (amount > 0n ? amount : 0n);
        const sent = (from: string, to: string) =>
          sum(edges.filter((one) => one.from === from && one.to === to).map(({ nanos }) => positive(nanos)));
        for (const name of names.slice(1)) {
          const taken = sum(parts.filter(({ path }) => path.at(-1) === name).map(({ amount }) => amount));
          assert.ok(taken <= positive(cashOf.get(name) ?? 0n));
          for (const from of names) {
            const through = parts.filter(({ path }) =>
              path.some((to, index) => to === name && (path[index - 1] ?? "payer") === from),
            );
            assert.ok(sum(through.map(({ amount }) => amount)) <= sent(from, name));
          }
        }
        // The most that can come back is the minimum cut between the payer and the cash.
        const cuts = Array.from({ length: 16 }, (_, bits) => {
          const near = names.filter((_name, index) => index === 0 || (bits >> (index - 1)) % 2 === 1);
          const out = near.flatMap((from) => names.filter((to) => !near.includes(to)).map((to) => sent(from, to)));
          return sum([...out, ...near.map((name) => positive(cashOf.get(name) ?? 0n))]);
        });
        const most = cuts.reduce((least, one) => (one < least ? one : least));
        const taken = sum(parts.map(({ amount }) => amount));
        assert.equal(taken, most < positive(wanted) ? most : positive(wanted));
        assert.equal(taken + missingNanos, positive(wanted));
      },
    ),
  );
});
