import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { grantOf, inTransaction, makeUsers, transferOf } from "../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { systemClock } from "../../../base/clock.ts";
import type { UserId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import { auditLedger, balanceOf, createTransferPoster, creditOf, earningsOf, FEES } from "./index.ts";
import { placeHolds, postHold, postTransfers } from "./index.ts";
import { releaseHolds } from "./for-instances.ts";
import type { AccountRef } from "./for-payments.ts";
import type { HoldId, TransferRequest } from "./index.ts";
import type { TransferOutcome } from "./for-invoices.ts";

const { database } = await testDatabase();
const USER_COUNT = 4;
const FUNDS = 100n;

/** A naive model of the ledger. */
class Model {
  readonly #balances = new Map<string, bigint>();
  readonly #helds = new Map<string, bigint>();
  readonly #byKey = new Map<string, TransferRequest>();
  readonly #holds: { readonly name: string; readonly amount: bigint; isPending: boolean }[] = [];

  post(request: TransferRequest): TransferOutcome["kind"] {
    const earlier = this.#byKey.get(request.key);
    if (earlier !== undefined) return contentOf(earlier) === contentOf(request) ? "exists" : "key_conflict";
    if (request.debit.kind !== "issuance" && this.available(request.debit) < request.amount) return "insufficient";
    this.#byKey.set(request.key, request);
    this.#add(this.#balances, nameOf(request.debit), -request.amount);
    this.#add(this.#balances, nameOf(request.credit), request.amount);
    return "posted";
  }

  /** The position of the new hold; undefined when there is too little credit. */
  hold(userId: UserId, amount: bigint): number | undefined {
    if (this.available(creditOf(userId)) < amount) return undefined;
    this.#add(this.#helds, nameOf(creditOf(userId)), amount);
    return this.#holds.push({ name: nameOf(creditOf(userId)), amount, isPending: true }) - 1;
  }

  close(index: number): boolean {
    const hold = this.#holds[index];
    if (hold?.isPending !== true) return false;
    hold.isPending = false;
    this.#add(this.#helds, hold.name, -hold.amount);
    return true;
  }

  available(account: AccountRef): bigint {
    return this.balance(account) - (this.#helds.get(nameOf(account)) ?? 0n);
  }

  balance(account: AccountRef): bigint {
    return this.#balances.get(nameOf(account)) ?? 0n;
  }

  #add(amounts: Map<string, bigint>, name: string, amount: bigint): void {
    amounts.set(name, (amounts.get(name) ?? 0n) + amount);
  }
}

function nameOf(account: AccountRef): string {
  return "userId" in account ? `${account.kind} ${account.userId}` : account.kind;
}

function contentOf({ debit, credit, amount, code, cause }: TransferRequest): string {
  return `${nameOf(debit)} → ${nameOf(credit)} ${amount} ${code} ${JSON.stringify(cause)}`;
}

type Move = {
  readonly debit: number;
  readonly credit: number;
  readonly amount: bigint;
  readonly key: number;
  readonly cause: number;
};

const ACCOUNT_COUNT = 2 * USER_COUNT + 1;
const moves = fc
  .record({
    debit: fc.nat(ACCOUNT_COUNT - 1),
    credit: fc.nat(ACCOUNT_COUNT - 1),
    amount: fc.oneof(fc.bigInt({ min: 1n, max: 130n }), fc.constant(FUNDS)),
    key: fc.nat(40),
    cause: fc.nat(1),
  })
  .filter(({ debit, credit }) => debit !== credit);

type Step =
  | { readonly kind: "post"; readonly moves: readonly Move[] }
  | { readonly kind: "hold"; readonly requests: readonly { readonly user: number; readonly amount: bigint }[] }
  | { readonly kind: "release"; readonly holds: readonly number[] }
  | { readonly kind: "postHold"; readonly hold: number; readonly moves: readonly Move[] };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("post" as const), moves: fc.array(moves, { maxLength: 8 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("hold" as const),
        requests: fc.array(fc.record({ user: fc.nat(USER_COUNT - 1), amount: fc.bigInt({ min: 1n, max: 60n }) }), {
          maxLength: 5,
        }),
      }),
    },
    fc.record({ kind: fc.constant("release" as const), holds: fc.array(fc.nat(12), { maxLength: 4 }) }),
    fc.record({
      kind: fc.constant("postHold" as const),
      hold: fc.nat(12),
      moves: fc.array(moves, { maxLength: 2 }),
    }),
  ),
  { minLength: 1, maxLength: 12 },
);

/** Users with their own funds and keys, so that runs do not see each other. */
async function newRun() {
  const users = await makeUsers(database.pool, USER_COUNT);
  const run = crypto.randomUUID();
  const model = new Model();
  const grants = users.map((userId) => grantOf(userId, FUNDS));
  await inTransaction(database, (tx) => postTransfers(tx, grants));
  for (const grant of grants) model.post(grant);
  const accounts: readonly AccountRef[] = [...users.map(creditOf), ...users.map(earningsOf), FEES];
  const feesBefore = await houseBalance("fees");
  const at = <T>(list: readonly T[], index: number): T => {
    const member = list[index];
    assert.ok(member !== undefined);
    return member;
  };
  const requestOf = (move: Move): TransferRequest =>
    transferOf({
      // Fees are shared between runs: only payments of this run may leave them, so they are never debited here.
      debit: at(accounts, move.debit === ACCOUNT_COUNT - 1 ? (move.credit + 1) % (ACCOUNT_COUNT - 1) : move.debit),
      credit: at(accounts, move.credit),
      amount: move.amount,
      key: `${run} ${move.key}`,
      cause: { instance_id: move.cause },
    });
  const assertEqual = async () => {
    for (const userId of users) {
      const { balance, held, available } = await balanceOf(database.kysely, userId);
      assert.equal(balance, model.balance(creditOf(userId)));
      assert.equal(available, model.available(creditOf(userId)));
      assert.equal(held, balance - available);
      const earnings = await balanceOf(database.kysely, userId, "earnings");
      assert.equal(earnings.balance, model.balance(earningsOf(userId)));
    }
    assert.equal((await houseBalance("fees")) - feesBefore, model.balance(FEES));
  };
  return { users, model, requestOf, assertEqual, userAt: (index: number) => at(users, index) };
}

async function houseBalance(kind: string): Promise<bigint> {
  const { rows } = await database.pool.query<{ balance_nanos: bigint }>(
    "select balance_nanos from ledger_accounts where user_id is null and kind = $1",
    [kind],
  );
  return rows[0]?.balance_nanos ?? 0n;
}

const kindsOf = (outcomes: readonly TransferOutcome[]) => outcomes.map(({ kind }) => kind);

test("any sequence of transfers and holds agrees with the naive model", async () => {
  const property = fc.asyncProperty(steps, async (sequence) => {
    const { model, requestOf, assertEqual, userAt } = await newRun();
    const holdIds: HoldId[] = [];
    const postAsModel = (list: readonly Move[]) => list.map((move) => model.post(requestOf(move)));
    for (const step of sequence) {
      await inTransaction(database, async (tx) => {
        switch (step.kind) {
          case "post":
            assert.deepEqual(kindsOf(await postTransfers(tx, step.moves.map(requestOf))), postAsModel(step.moves));
            return;
          case "hold": {
            const requests = step.requests.map(({ user, amount }) => ({
              userId: userAt(user),
              amount: nanos(amount),
              cause: { instance_id: 1 },
              scopes: [],
            }));
            const outcomes = await placeHolds(tx, requests);
            requests.forEach(({ userId, amount }, index) => {
              const available = model.available(creditOf(userId));
              const outcome = outcomes[index];
              if (model.hold(userId, amount) !== undefined) {
                assert.equal(outcome?.kind, "placed");
                if (outcome?.kind === "placed") holdIds.push(outcome.holdId);
              } else {
                const shortfallNanos = amount - available;
                assert.deepEqual(outcome, {
                  kind: "insufficient",
                  shortfallNanos,
                  availableNanos: available,
                  limitedBy: { kind: "balance" },
                });
              }
            });
            return;
          }
          case "release": {
            const known = [...new Set(step.holds.filter((index) => index < holdIds.length))];
            const expected = known.filter((index) => model.close(index)).map((index) => holdIds[index]);
            const released = await releaseHolds(
              tx,
              known.flatMap((index) => holdIds[index] ?? []),
            );
            assert.deepEqual(new Set(released), new Set(expected));
            return;
          }
          case "postHold": {
            const holdId = holdIds[step.hold];
            if (holdId === undefined) return;
            model.close(step.hold);
            assert.deepEqual(kindsOf(await postHold(tx, holdId, step.moves.map(requestOf))), postAsModel(step.moves));
          }
        }
      });
    }
    await assertEqual();
  });
  await fc.assert(property, { numRuns: 60 });
  const { differences } = await auditLedger(database.kysely);
  assert.deepEqual(differences, []);
});

test("replaying posted transfers in any order, batching and number changes nothing", async () => {
  const batches = fc.array(fc.array(fc.nat(19), { minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 6 });
  const property = fc.asyncProperty(
    fc.array(moves, { minLength: 1, maxLength: 20 }),
    batches,
    async (list, replays) => {
      const { model, requestOf, assertEqual } = await newRun();
      const requests = list.map(requestOf);
      await inTransaction(database, (tx) => postTransfers(tx, requests));
      const posted = requests.filter((request) => model.post(request) === "posted");
      fc.pre(posted.length > 0);
      for (const replay of replays) {
        const batch = replay.flatMap((index) => posted[index % posted.length] ?? []);
        const outcomes = await inTransaction(database, (tx) => postTransfers(tx, batch));
        assert.ok(outcomes.every(({ kind }) => kind === "exists"));
      }
      await assertEqual();
    },
  );
  await fc.assert(property, { numRuns: 30 });
});

test("affordable transfers give the same balances in any order, alone or together", async () => {
  const small = moves.map((move) => ({ ...move, amount: (move.amount % 4n) + 1n }));
  const distinct = fc.uniqueArray(small, { selector: ({ key }) => key, minLength: 2, maxLength: 8 });
  const property = fc.asyncProperty(
    distinct.chain((list) => fc.shuffledSubarray(list, { minLength: list.length })),
    async (list) => {
      const { users, model, requestOf, assertEqual } = await newRun();
      const poster = createTransferPoster(database, systemClock);
      // Only credit pays, and each account can afford all transfers of the list.
      const requests = list.map((move) => requestOf({ ...move, debit: move.debit % users.length }));
      const affordable = requests.filter(({ debit, credit }) => nameOf(debit) !== nameOf(credit));
      const outcomes = await Promise.all(affordable.map((request) => poster.post(request)));
      assert.ok(outcomes.every(({ kind }) => kind === "posted"));
      for (const request of affordable.toReversed()) model.post(request);
      await assertEqual();
    },
  );
  await fc.assert(property, { numRuns: 30 });
});
