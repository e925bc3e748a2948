import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction, makeFundedUser, makeUsers, transferOf } from "../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { nanos } from "../../../base/money.ts";
import { auditLedger, balanceOf, creditOf, depositOf, earningsOf, LOSSES, placeHold, postTransfers } from "./index.ts";
import { setMinimumBalance } from "./for-limits.ts";
import type { TransferCode } from "./for-payments.ts";
import type { TransferOutcome } from "./for-invoices.ts";
import { asId, type InstanceId } from "../../../base/ids.ts";

const { database } = await testDatabase();

/** A user with this much credit, whose minimum balance is 100 below zero. */
async function aDebtor(funds: bigint) {
  const payer = await makeFundedUser(database, funds);
  const [host] = await makeUsers(database.pool, 1);
  assert.ok(host !== undefined);
  await inTransaction(database, (tx) => setMinimumBalance(tx, payer, -100n));
  const pay = async (code: TransferCode, amount: bigint): Promise<TransferOutcome> => {
    const debit = creditOf(payer);
    const credit = code === "prepay" ? depositOf(payer, asId<InstanceId>(1)) : earningsOf(host);
    const [outcome] = await inTransaction(database, (tx) =>
      postTransfers(tx, [transferOf({ debit, credit, amount, code })]),
    );
    assert.ok(outcome !== undefined);
    return outcome;
  };
  const balance = async () => (await balanceOf(database.kysely, payer)).balance;
  return { payer, pay, balance };
}

test("below zero, down to its minimum balance, credit pays for storage and for nothing else", async () => {
  const { pay, balance } = await aDebtor(10n);
  for (const code of ["usage_gpu", "usage_bandwidth_up", "usage_bandwidth_down", "fee"] as const) {
    assert.deepEqual(await pay(code, 11n), { kind: "insufficient", shortfallNanos: 1n, availableNanos: 10n });
  }
  assert.equal((await pay("usage_gpu", 10n)).kind, "posted");
  assert.equal((await pay("usage_storage", 60n)).kind, "posted");
  assert.equal((await pay("usage_gpu", 1n)).kind, "insufficient");
  assert.deepEqual(await pay("usage_storage", 41n), { kind: "insufficient", shortfallNanos: 1n, availableNanos: 40n });
  assert.equal((await pay("usage_storage", 40n)).kind, "posted");
  assert.equal(await balance(), -100n);
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);
});

test("a balance above zero is neither given away nor held beyond zero, although debt is allowed", async () => {
  const { payer, pay } = await aDebtor(130n);
  for (const code of ["credit_transfer", "prepay"] as const) {
    assert.deepEqual(await pay(code, 31n), { kind: "insufficient", shortfallNanos: 1n, availableNanos: 30n });
  }
  const hold = (amount: bigint) =>
    inTransaction(database, (tx) => placeHold(tx, { userId: payer, amount: nanos(amount), cause: {}, scopes: [] }));
  const refused = { kind: "insufficient", shortfallNanos: 1n, availableNanos: 30n, limitedBy: { kind: "balance" } };
  assert.deepEqual(await hold(31n), refused);
  assert.equal((await hold(30n)).kind, "placed");
  assert.equal((await pay("credit_transfer", 1n)).kind, "insufficient");
});

test("a write-off brings the balance to zero, and the house bears the loss", async () => {
  const { payer, pay, balance } = await aDebtor(1n);
  await pay("usage_storage", 71n);
  const writeOff = transferOf({ debit: LOSSES, credit: creditOf(payer), amount: 70n, code: "write_off" });
  await inTransaction(database, async (tx) => {
    const [outcome] = await postTransfers(tx, [writeOff]);
    assert.equal(outcome?.kind, "posted");
    await setMinimumBalance(tx, payer, 0n);
  });
  assert.equal(await balance(), 0n);
  assert.equal((await pay("usage_storage", 1n)).kind, "insufficient");
  const { rows } = await database.pool.query(
    "select balance_nanos as balance from ledger_accounts where kind = 'losses'",
  );
  assert.deepEqual(rows, [{ balance: -70n }]);
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);
});
