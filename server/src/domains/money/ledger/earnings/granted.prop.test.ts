import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { grantOf, inTransaction, makeUsers, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { systemClock } from "../../../../base/clock.ts";
import { nanos } from "../../../../base/money.ts";
import { grantedPart } from "./granted.ts";
import { auditLedger, createTransferPoster, creditOf, earningsOf } from "../index.ts";
import { PAYOUTS, STRIPE } from "../for-payments.ts";
import { lockAccounts, postAllTransfers, postTransfers } from "../index.ts";
import type { AccountRef } from "../for-payments.ts";
import type { TransferRequest } from "../index.ts";

const { database } = await testDatabase();
const USER_COUNT = 3;

type Step = {
  readonly move: "grant" | "card" | "transfer" | "charge" | "host_credit" | "payout" | "card_returned";
  readonly from: number;
  readonly to: number;
  readonly amount: bigint;
  readonly way: "statement" | "locked" | "batch";
};

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    move: fc.constantFrom("grant", "card", "transfer", "charge", "host_credit", "payout", "card_returned"),
    from: fc.nat(USER_COUNT - 1),
    to: fc.nat(USER_COUNT - 1),
    amount: fc.bigInt(1n, 60n),
    way: fc.constantFrom("statement", "locked", "batch"),
  }),
  { minLength: 5, maxLength: 40 },
);

type Parts = { balance: bigint; granted: bigint };

test("the cash of users and hosts is always what was paid in less what was paid out", async () => {
  const poster = createTransferPoster(database, systemClock);
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const users = await makeUsers(database.pool, USER_COUNT);
      const model = new Map<string, Parts>();
      const nameOf = (account: AccountRef) =>
        "userId" in account ? `${account.kind} ${account.userId}` : account.kind;
      const partsOf = (account: AccountRef): Parts => {
        const known = model.get(nameOf(account)) ?? { balance: 0n, granted: 0n };
        model.set(nameOf(account), known);
        return known;
      };
      let cashInside = 0n;
      for (const { move, from, to, amount, way } of sequence) {
        const [one, other] = [users[from], users[to]];
        assert.ok(one !== undefined && other !== undefined);
        const request = requestOf(move, { one, other, amount });
        const debit = partsOf(request.debit);
        const isHouse = !("userId" in request.debit);
        const isAdvance = move === "host_credit";
        if (nameOf(request.debit) === nameOf(request.credit)) continue;
        if (!isHouse && !isAdvance && debit.balance < amount) continue;
        await post(request, isAdvance ? "locked" : way);
        const rule = { kind: request.debit.kind, code: request.code, amount };
        const part = grantedPart(rule, { balanceNanos: debit.balance, grantedNanos: debit.granted });
        const credit = partsOf(request.credit);
        debit.balance -= amount;
        debit.granted -= part;
        credit.balance += amount;
        credit.granted += part;
        if (isHouse) cashInside += amount - part;
        if (!("userId" in request.credit)) cashInside -= amount - part;
      }
      const { rows } = await database.pool.query<{ name: string; balance: bigint; granted: bigint }>(
        `select kind || ' ' || user_id as name, balance_nanos as balance, granted_nanos as granted
         from ledger_accounts where user_id = any($1) and balance_nanos is not null order by 1`,
        [users],
      );
      for (const { name, balance, granted } of rows) {
        assert.deepEqual({ balance, granted }, model.get(name) ?? { balance: 0n, granted: 0n }, name);
        assert.ok(balance - granted >= 0n, `${name} has less than no cash`);
      }
      const cash = rows.reduce((sum, { balance, granted }) => sum + balance - granted, 0n);
      assert.equal(cash, cashInside);
    }),
    { numRuns: 25 },
  );
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);

  async function post(request: TransferRequest, way: Step["way"]): Promise<void> {
    if (way === "batch") {
      assert.equal((await poster.post(request)).kind, "posted");
      return;
    }
    await inTransaction(database, async (tx) => {
      if (way === "locked") {
        await postAllTransfers(tx, await lockAccounts(tx, [request.debit, request.credit]), [request]);
      } else assert.equal((await postTransfers(tx, [request]))[0]?.kind, "posted");
    });
  }
});

function requestOf(
  move: Step["move"],
  {
    one,
    other,
    amount,
  }: {
    readonly one: Parameters<typeof creditOf>[0];
    readonly other: Parameters<typeof creditOf>[0];
    readonly amount: bigint;
  },
): TransferRequest {
  switch (move) {
    case "grant":
      return grantOf(one, amount);
    case "card":
      return transferOf({ debit: STRIPE, credit: creditOf(one), amount, code: "payment" });
    case "transfer":
      return transferOf({ debit: creditOf(one), credit: creditOf(other), amount, code: "credit_transfer" });
    case "charge":
      return transferOf({ debit: creditOf(one), credit: earningsOf(other), amount, code: "usage_gpu" });
    case "host_credit":
      return transferOf({ debit: earningsOf(one), credit: creditOf(other), amount, code: "host_credit" });
    case "payout":
      return transferOf({ debit: earningsOf(one), credit: PAYOUTS, amount, code: "payout" });
    case "card_returned":
      return transferOf({ debit: creditOf(one), credit: STRIPE, amount: nanos(amount), code: "payment_returned" });
  }
}
