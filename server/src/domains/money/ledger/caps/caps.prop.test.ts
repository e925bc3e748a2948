import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { grantOf, makeUsers, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import type { LedgerCapId, UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { auditLedger, balanceOf, creditOf, earningsOf } from "../index.ts";
import { deleteCap, putCap } from "../for-limits.ts";
import { listCaps, lockCapRoom, lockCredit, noteSpending, placeHolds } from "../index.ts";
import { CAP_PERIODS, postTransfers, startOf } from "../index.ts";
import { releaseHolds } from "../for-instances.ts";
import type { CapPeriod } from "../for-limits.ts";
import type { CapScope, HoldId } from "../index.ts";
import type { HoldOutcome } from "../for-instances.ts";

const { database } = await testDatabase();
const FUNDS = 200n;
const HOUR_MS = 3_600_000;

type ModelCap = { readonly scope: CapScope; readonly period: CapPeriod; id: LedgerCapId; limit: bigint };
type Hold = { readonly amount: bigint; readonly scopes: readonly CapScope[]; isPending: boolean };

/** A naive model of caps: it counts everything from the recorded events each time. */
class Model {
  balance = FUNDS;
  readonly caps: ModelCap[] = [];
  readonly holds: Hold[] = [];
  readonly spent: { readonly at: Date; readonly amount: bigint; readonly scopes: readonly CapScope[] }[] = [];

  spentOf({ scope, period }: Pick<ModelCap, "scope" | "period">, now: Date): bigint {
    const from = startOf(period, now);
    return sum(this.spent.filter((one) => one.at >= from && one.scopes.includes(scope)));
  }

  heldOf(scope: CapScope): bigint {
    return sum(this.holds.filter((hold) => hold.isPending && hold.scopes.includes(scope)));
  }

  roomOf(cap: ModelCap, now: Date): bigint {
    return cap.limit - this.spentOf(cap, now) - this.heldOf(cap.scope);
  }

  spendable(): bigint {
    return this.balance - sum(this.holds.filter((hold) => hold.isPending));
  }

  /** The smallest amount that the balance and the caps leave. */
  room(scopes: readonly CapScope[], now: Date): bigint {
    const rooms = this.caps.filter((cap) => scopes.includes(cap.scope)).map((cap) => this.roomOf(cap, now));
    return [this.spendable(), ...rooms].reduce((least, room) => (room < least ? room : least));
  }
}

function sum(parts: readonly { readonly amount: bigint }[]): bigint {
  return parts.reduce((total, { amount }) => total + amount, 0n);
}

const scopeSets = fc.subarray([0, 1, 2]);
const amounts = fc.bigInt({ min: 1n, max: 60n });
const limits = fc.oneof(fc.bigInt({ min: 0n, max: 150n }), fc.constant(0n));
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("hold" as const),
      requests: fc.array(fc.record({ amount: amounts, names: scopeSets }), { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant("close" as const), holds: fc.array(fc.nat(12), { minLength: 1, maxLength: 3 }) }),
    fc.record({ kind: fc.constant("spend" as const), hold: fc.option(fc.nat(12)), amount: amounts, names: scopeSets }),
    fc.record({
      kind: fc.constant("put" as const),
      scope: fc.nat(3),
      period: fc.constantFrom(...CAP_PERIODS),
      limit: limits,
    }),
    fc.record({ kind: fc.constant("remove" as const), cap: fc.nat(5) }),
    fc.record({ kind: fc.constant("wait" as const), hours: fc.constantFrom(1, 7, 24, 24 * 31) }),
  ),
  { minLength: 1, maxLength: 20 },
);

async function newRun() {
  const [payer, host] = await makeUsers(database.pool, 2);
  assert.ok(payer !== undefined && host !== undefined);
  const clock = new ManualClock();
  const within = <T>(work: (tx: Tx) => Promise<T>) => withTransaction(database, clock, work);
  await within((tx) => postTransfers(tx, [grantOf(payer, FUNDS)]));
  const others: readonly CapScope[] = [`key:${payer}`, `endpoint:${payer}`, `instance:${payer}`];
  const account: CapScope = `account:${payer}`;
  const scopesOf = (names: readonly number[]) => [account, ...others.filter((_scope, index) => names.includes(index))];
  return { payer, host, clock, within, scopesOf, scopes: [account, ...others] };
}

/** Settles like charging does: closes the hold, pays as much as there is room for, and counts it. */
async function spend(
  tx: Tx,
  { payer, host }: { readonly payer: UserId; readonly host: UserId },
  due: { readonly holdId: HoldId | undefined; readonly amount: bigint; readonly scopes: readonly CapScope[] },
): Promise<Nanos> {
  await releaseHolds(tx, due.holdId === undefined ? [] : [due.holdId]);
  const rooms = await lockCapRoom(tx, due.scopes);
  const { available } = await balanceOf(tx.db, payer);
  const least = [available, ...rooms.values()].reduce((low, room) => (room < low ? room : low));
  const amount = nanos(least < 0n ? 0n : least < due.amount ? least : due.amount);
  if (amount === 0n) return amount;
  const content = { debit: creditOf(payer), credit: earningsOf(host), amount, code: "usage_gpu" as const };
  const [outcome] = await postTransfers(tx, [transferOf(content)]);
  assert.equal(outcome?.kind, "posted");
  await noteSpending(tx, [{ scopes: due.scopes, amount }]);
  return amount;
}

test("any sequence of caps, holds and charges agrees with the naive model, and passes no limit", async () => {
  const property = fc.asyncProperty(steps, async (sequence) => {
    const { payer, host, clock, within, scopesOf, scopes } = await newRun();
    const model = new Model();
    const holdIds: HoldId[] = [];
    for (const step of sequence) {
      const roomsBefore = new Map(model.caps.map((cap) => [cap, model.roomOf(cap, clock.now())]));
      await within(async (tx) => {
        switch (step.kind) {
          case "hold": {
            const requests = step.requests.map(({ amount, names }) => ({ amount, scopes: scopesOf(names) }));
            const outcomes = await placeHolds(
              tx,
              requests.map(({ amount, scopes: own }) => ({
                userId: payer,
                amount: nanos(amount),
                cause: {},
                scopes: own,
              })),
            );
            requests.forEach((request, index) => {
              const outcome = outcomes[index];
              assert.ok(outcome !== undefined);
              const room = model.room(request.scopes, tx.now);
              assert.equal(outcome.kind === "placed", request.amount <= room);
              if (outcome.kind === "placed") {
                holdIds.push(outcome.holdId);
                model.holds.push({ ...request, isPending: true });
              } else assertLimited(model, outcome, { room, amount: request.amount, now: tx.now });
            });
            return;
          }
          case "close": {
            const known = [...new Set(step.holds)].filter((index) => index < holdIds.length);
            await releaseHolds(
              tx,
              known.flatMap((index) => holdIds[index] ?? []),
            );
            for (const index of known) closeHold(model, index);
            return;
          }
          case "spend": {
            const own = scopesOf(step.names);
            const holdId = holdIds[step.hold ?? holdIds.length];
            if (holdId !== undefined) closeHold(model, step.hold ?? 0);
            const room = model.room(own, tx.now);
            const amount = await spend(tx, { payer, host }, { holdId, amount: step.amount, scopes: own });
            assert.equal(amount, room < 0n ? 0n : room < step.amount ? room : step.amount);
            model.balance -= amount;
            model.spent.push({ at: tx.now, amount, scopes: own });
            return;
          }
          case "put": {
            const { period, limit } = step;
            const scope = scopes[step.scope] ?? scopes[0];
            assert.ok(scope !== undefined);
            await lockCredit(tx, payer);
            const spent = nanos(model.spentOf({ scope, period }, tx.now));
            const id = await putCap(tx, {
              userId: payer,
              scope,
              period,
              limit: nanos(limit),
              spent,
              isCovered: true,
              stoppedBy: tx.now,
            });
            const known = model.caps.find((cap) => cap.scope === scope && cap.period === period);
            if (known === undefined) model.caps.push({ scope, period, id, limit });
            else known.limit = limit;
            if (known !== undefined) roomsBefore.delete(known);
            return;
          }
          case "remove": {
            const [removed] = model.caps.splice(step.cap, 1);
            await lockCredit(tx, payer);
            if (removed !== undefined) assert.equal(await deleteCap(tx, payer, removed.id), true);
            return;
          }
          case "wait":
            clock.advance(step.hours * HOUR_MS);
        }
      });
      // No charge or hold passes the limit of a cap; only lowering the limit can leave a cap exceeded.
      for (const cap of model.caps) {
        const room = model.roomOf(cap, clock.now());
        const before = roomsBefore.get(cap);
        if (before !== undefined && room < 0n)
          assert.ok(room >= before, "a cap that had been passed was passed by more");
      }
      await assertEqual(model, { payer, clock });
    }
  });
  await fc.assert(property, { numRuns: 80 });
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);
});

function closeHold(model: Model, index: number): void {
  const hold = model.holds[index];
  if (hold !== undefined) hold.isPending = false;
}

/** A refusal names the tightest limitation: the balance first when caps leave no less. */
function assertLimited(
  model: Model,
  outcome: Extract<HoldOutcome, { kind: "insufficient" }>,
  { room, amount, now }: { readonly room: bigint; readonly amount: bigint; readonly now: Date },
): void {
  const { limitedBy, shortfallNanos, availableNanos } = outcome;
  assert.deepEqual([availableNanos, shortfallNanos], [room, amount - room]);
  if (limitedBy.kind === "balance") return assert.equal(model.spendable(), room);
  assert.ok(model.spendable() > room);
  const cap = model.caps.find(({ id }) => id === limitedBy.capId);
  assert.ok(cap !== undefined);
  assert.deepEqual([limitedBy.scope, limitedBy.period, model.roomOf(cap, now)], [cap.scope, cap.period, room]);
}

async function assertEqual(
  model: Model,
  { payer, clock }: { readonly payer: UserId; readonly clock: ManualClock },
): Promise<void> {
  const caps = await listCaps(database.kysely, payer, clock.now());
  const shown = caps.map(({ id, scope, period, limit, spent, held }) => ({ id, scope, period, limit, spent, held }));
  const expected = model.caps
    .map((cap) => ({ ...cap, spent: model.spentOf(cap, clock.now()), held: model.heldOf(cap.scope) }))
    .toSorted((a, b) => a.id - b.id);
  assert.deepEqual(shown, expected);
  assert.equal((await balanceOf(database.kysely, payer)).available, model.spendable());
}

test("many concurrent holds against one cap succeed as long as the cap covers them", async () => {
  const { payer, within, scopesOf, scopes, clock } = await newRun();
  const [account, key] = scopes;
  assert.ok(account !== undefined && key !== undefined);
  await within(async (tx) => {
    await lockCredit(tx, payer);
    await putCap(tx, {
      userId: payer,
      scope: key,
      period: "day",
      limit: nanos(50n),
      spent: nanos(0n),
      isCovered: true,
      stoppedBy: tx.now,
    });
  });
  const outcomes = await Promise.all(
    Array.from({ length: 24 }, () =>
      within((tx) => placeHolds(tx, [{ userId: payer, amount: nanos(7n), cause: {}, scopes: scopesOf([0]) }])),
    ),
  );
  assert.equal(outcomes.flat().filter(({ kind }) => kind === "placed").length, 7);
  const [cap] = await listCaps(database.kysely, payer, clock.now());
  assert.equal(cap?.held, 49n);
});

test("a cap created during holds and charges counts all of them", async () => {
  const { payer, host, within, scopesOf, scopes, clock } = await newRun();
  const [account] = scopes;
  assert.ok(account !== undefined);
  const charged: bigint[] = [];
  const busy = Array.from({ length: 8 }, async () => {
    for (let round = 0; round < 4; round += 1) {
      const [hold] = await within((tx) =>
        placeHolds(tx, [{ userId: payer, amount: nanos(3n), cause: {}, scopes: scopesOf([1]) }]),
      );
      const holdId = hold?.kind === "placed" && round % 2 === 0 ? hold.holdId : undefined;
      charged.push(await within((tx) => spend(tx, { payer, host }, { holdId, amount: 2n, scopes: scopesOf([1]) })));
    }
  });
  const capped = within(async (tx) => {
    await lockCredit(tx, payer);
    const { balance } = await balanceOf(tx.db, payer);
    await putCap(tx, {
      userId: payer,
      scope: account,
      period: "total",
      limit: nanos(1000n),
      spent: nanos(FUNDS - balance),
      isCovered: true,
      stoppedBy: tx.now,
    });
  });
  await Promise.all([capped, ...busy]);
  const [cap] = await listCaps(database.kysely, payer, clock.now());
  const { balance, held } = await balanceOf(database.kysely, payer);
  assert.deepEqual([cap?.spent, cap?.held], [FUNDS - balance, held]);
  assert.equal(
    charged.reduce((total, amount) => total + amount, 0n),
    FUNDS - balance,
  );
});
