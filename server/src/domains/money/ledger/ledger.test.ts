import assert from "node:assert/strict";
import { test } from "node:test";
import {
  grantOf,
  inTransaction,
  makeFundedUser,
  makeUsers,
  transferOf,
} from "../../../../../test/support/money/ledger.ts";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { systemClock } from "../../../base/clock.ts";
import { nanos } from "../../../base/money.ts";
import {
  auditLedger,
  balanceOf,
  createTransferPoster,
  creditOf,
  earningsOf,
  ISSUANCE,
  ledgerLoops,
  placeHold,
  postHold,
  postTransfer,
  postTransfers,
  releaseHold,
  type MovementQuery,
} from "./index.ts";
import { listMovements, placeOf } from "./for-invoices.ts";

const { database, pool } = await testDatabase();

async function twoUsers(funds: bigint) {
  const payer = await makeFundedUser(database, funds);
  const [payee] = await makeUsers(pool, 1);
  assert.ok(payee !== undefined);
  return { payer, payee };
}

const availableOf = async (userId: Parameters<typeof balanceOf>[1]) =>
  (await balanceOf(database.kysely, userId)).available;

test("a retried charge is posted once", async () => {
  const { payer, payee } = await twoUsers(100n);
  const charge = transferOf({ debit: creditOf(payer), credit: earningsOf(payee), amount: 30n, code: "usage_gpu" });
  const first = await inTransaction(database, (tx) => postTransfer(tx, charge));
  const second = await inTransaction(database, (tx) => postTransfer(tx, { ...charge, description: "said otherwise" }));
  assert.equal(first.kind, "posted");
  assert.deepEqual(second, { ...first, kind: "exists" });
  assert.equal(await availableOf(payer), 70n);
});

test("a key that was used for one transfer is refused for another", async () => {
  const { payer, payee } = await twoUsers(100n);
  const charge = transferOf({
    debit: creditOf(payer),
    credit: creditOf(payee),
    amount: 30n,
    cause: { instance_id: 1 },
  });
  const others = [
    { ...charge, amount: nanos(31n) },
    { ...charge, credit: earningsOf(payee) },
    { ...charge, debit: creditOf(payee), credit: creditOf(payer) },
    { ...charge, code: "refund" as const },
    { ...charge, cause: { instance_id: 2 } },
  ];
  await inTransaction(database, (tx) => postTransfer(tx, charge));
  for (const other of others) {
    assert.deepEqual(await inTransaction(database, (tx) => postTransfer(tx, other)), { kind: "key_conflict" });
  }
  assert.equal(await availableOf(payer), 70n);
});

test("a refusal states the missing amount to the nano-dollar, and nothing moves", async () => {
  const { payer, payee } = await twoUsers(100n);
  const charge = transferOf({ debit: creditOf(payer), credit: creditOf(payee), amount: 101n });
  assert.deepEqual(await inTransaction(database, (tx) => postTransfer(tx, charge)), {
    kind: "insufficient",
    shortfallNanos: 1n,
    availableNanos: 100n,
  });
  assert.equal(await availableOf(payee), 0n);
});

test("within a batch a transfer may spend what an earlier one brought", async () => {
  const { payer, payee } = await twoUsers(10n);
  const there = transferOf({ debit: creditOf(payer), credit: creditOf(payee), amount: 10n });
  const back = transferOf({ debit: creditOf(payee), credit: creditOf(payer), amount: 10n });
  const wrongWay = await inTransaction(database, (tx) => postTransfers(tx, [back, there]));
  assert.deepEqual(
    wrongWay.map(({ kind }) => kind),
    ["insufficient", "posted"],
  );
  const right = await inTransaction(database, (tx) => postTransfers(tx, [back]));
  assert.equal(right[0]?.kind, "posted");
});

test("held credit cannot be spent until its hold is released, and releasing twice gives it back once", async () => {
  const { payer, payee } = await twoUsers(100n);
  const request = { userId: payer, amount: nanos(80n), cause: { instance_id: 7 }, scopes: [] };
  const hold = await inTransaction(database, (tx) => placeHold(tx, request));
  assert.ok(hold.kind === "placed");
  assert.deepEqual(await balanceOf(database.kysely, payer), { balance: 100n, held: 80n, available: 20n });
  const charge = transferOf({ debit: creditOf(payer), credit: creditOf(payee), amount: 21n });
  const refused = await inTransaction(database, (tx) => postTransfer(tx, charge));
  assert.deepEqual(refused, { kind: "insufficient", shortfallNanos: 1n, availableNanos: 20n });
  assert.equal(await inTransaction(database, (tx) => releaseHold(tx, hold.holdId)), true);
  assert.equal(await inTransaction(database, (tx) => releaseHold(tx, hold.holdId)), false);
  assert.equal(await availableOf(payer), 100n);
});

test("a hold pays once, and its unused part becomes available", async () => {
  const { payer, payee } = await twoUsers(100n);
  const request = { userId: payer, amount: nanos(80n), cause: {}, scopes: [] };
  const hold = await inTransaction(database, (tx) => placeHold(tx, request));
  assert.ok(hold.kind === "placed");
  const charge = transferOf({ debit: creditOf(payer), credit: earningsOf(payee), amount: 60n, code: "usage_gpu" });
  const first = await inTransaction(database, (tx) => postHold(tx, hold.holdId, [charge]));
  const second = await inTransaction(database, (tx) => postHold(tx, hold.holdId, [charge]));
  assert.deepEqual([first[0]?.kind, second[0]?.kind], ["posted", "exists"]);
  assert.deepEqual(await balanceOf(database.kysely, payer), { balance: 40n, held: 0n, available: 40n });
});

test("a transaction that is rolled back leaves no transfer, no hold and no account", async () => {
  const { payer, payee } = await twoUsers(100n);
  const attempt = inTransaction(database, async (tx) => {
    await postTransfer(tx, transferOf({ debit: creditOf(payer), credit: creditOf(payee), amount: 10n }));
    await placeHold(tx, { userId: payee, amount: nanos(5n), cause: {}, scopes: [] });
    throw new Error("changed my mind");
  });
  await assert.rejects(attempt, /changed my mind/);
  assert.deepEqual(await balanceOf(database.kysely, payer), { balance: 100n, held: 0n, available: 100n });
  const { rowCount } = await pool.query("select from ledger_accounts where user_id = $1", [payee]);
  assert.equal(rowCount, 0);
});

test("more money than the ledger can count is refused like any other missing amount", async () => {
  const [userId] = await makeUsers(pool, 1);
  assert.ok(userId !== undefined);
  const outcomes = await inTransaction(database, (tx) =>
    postTransfers(tx, [grantOf(userId, 2n * 10n ** 18n), grantOf(userId, 2n * 10n ** 18n)]),
  );
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ["posted", "insufficient"],
  );
  const back = transferOf({ debit: creditOf(userId), credit: ISSUANCE, amount: 2n * 10n ** 18n });
  await inTransaction(database, (tx) => postTransfer(tx, back));
});

test("a transfer to an unknown user fails alone, and the others of its batch are posted", async () => {
  const { payer, payee } = await twoUsers(100n);
  const poster = createTransferPoster(database, systemClock);
  const nobody = 2_147_483_646 as typeof payee;
  const recipients = [payee, payee, nobody, payee];
  const settled = await Promise.allSettled(
    recipients.map((to) => poster.post(transferOf({ debit: creditOf(payer), credit: creditOf(to), amount: 10n }))),
  );
  assert.deepEqual(
    settled.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled"],
  );
  assert.equal(await availableOf(payee), 30n);
});

test("PostgreSQL refuses to change or remove what was posted, and to close a hold twice", async () => {
  const payer = await makeFundedUser(database, 10n);
  const hold = await inTransaction(database, (tx) =>
    placeHold(tx, { userId: payer, amount: nanos(5n), cause: {}, scopes: [] }),
  );
  assert.ok(hold.kind === "placed");
  await inTransaction(database, (tx) => releaseHold(tx, hold.holdId));
  await inTransaction(database, (tx) => placeHold(tx, { userId: payer, amount: nanos(5n), cause: {}, scopes: [] }));
  const refused = [
    "update ledger_transfers set amount_nanos = 1",
    "delete from ledger_transfers",
    "truncate ledger_transfers",
    "delete from ledger_accounts",
    "delete from ledger_holds",
    "update ledger_holds set state = 'pending', closed_at = null",
    "update ledger_holds set amount_nanos = 1",
  ];
  for (const statement of refused) await assert.rejects(pool.query(statement), /append-only/, statement);
});

test("closed holds are deleted after a week, and pending ones never", async () => {
  const payer = await makeFundedUser(database, 10n);
  const ids = await inTransaction(database, async (tx) => {
    const place = () => placeHold(tx, { userId: payer, amount: nanos(1n), cause: {}, scopes: [] });
    return [await place(), await place(), await place()].map((one) => (one.kind === "placed" ? one.holdId : undefined));
  });
  const [pending, posted, released] = ids;
  assert.ok(pending && posted && released);
  await inTransaction(database, (tx) => postHold(tx, posted, []));
  await inTransaction(database, (tx) => releaseHold(tx, released));
  const left = async () => {
    const { rows } = await pool.query("select id from ledger_holds where id = any($1) order by id", [ids]);
    return rows.map(({ id }) => id);
  };
  const clock = new ManualClock(systemClock.now().toISOString());
  const forget = ledgerLoops({ database, clock }).find(({ name }) => name === "forget-closed-holds");
  clock.jump(6 * 86_400_000);
  await forget?.run();
  assert.deepEqual(await left(), ids);
  clock.jump(2 * 86_400_000);
  await forget?.run();
  assert.deepEqual(await left(), [pending]);
});

test("PostgreSQL refuses a balance below the minimum balance, a negative held amount and a transfer to itself", async () => {
  const payer = await makeFundedUser(database, 10n);
  const own = "update ledger_accounts set";
  await assert.rejects(pool.query(`${own} balance_nanos = -1 where user_id = $1`, [payer]), /ledger_accounts_floor/);
  await assert.rejects(pool.query(`${own} held_nanos = 11 where user_id = $1`, [payer]), /ledger_accounts_floor/);
  await assert.rejects(pool.query(`${own} held_nanos = -1 where user_id = $1`, [payer]), /ledger_accounts_held/);
  const insert = `insert into ledger_transfers
    (key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
    values ('self', 1, 1, 1, 'refund', '{}', '', now())`;
  await assert.rejects(pool.query(insert), /ledger_transfers_two_sides/);
});

test("pages of a user's movements hold each requested side once, and never usage", async () => {
  const { payer, payee } = await twoUsers(100n);
  const give = transferOf({ debit: creditOf(payer), credit: creditOf(payee), amount: 10n });
  const take = transferOf({ debit: creditOf(payee), credit: creditOf(payer), amount: 4n, code: "refund" });
  const use = transferOf({ debit: creditOf(payer), credit: earningsOf(payee), amount: 3n, code: "usage_gpu" });
  await inTransaction(database, (tx) => postTransfers(tx, [give, take, use]));
  const codes = ["refund", "credit_transfer", "credit_granted"] as const;
  const sides = codes.flatMap((code) => [
    { code, account: "credit", direction: "in" } as const,
    { code, account: "credit", direction: "out" } as const,
  ]);
  const list = (query: Partial<MovementQuery>) =>
    listMovements(database.kysely, payer, {
      from: new Date(0),
      until: new Date("2100-01-01"),
      sides,
      order: "when",
      isDescending: true,
      after: undefined,
      limit: 100,
      ...query,
    });
  const { movements, total } = await list({});
  assert.deepEqual(
    movements.map(({ direction, amount, code }) => [direction, amount, code]),
    [
      ["in", 4n, "refund"],
      ["out", 10n, "credit_transfer"],
      ["in", 100n, "credit_granted"],
    ],
  );
  assert.equal(total, 3);
  const [first] = (await list({ limit: 1 })).movements;
  assert.equal(first?.key, take.key);
  const rest = await list({ after: first && placeOf(first, "when") });
  assert.deepEqual([rest.movements.length, rest.total], [2, 3]);
  const out = await list({ sides: sides.filter(({ direction }) => direction === "out") });
  assert.deepEqual(
    out.movements.map(({ key, counterparty }) => [key, counterparty]),
    [[give.key, payee]],
  );
  assert.equal((await list({ until: new Date(1) })).total, 0);
});

test("the audit names each amount that was tampered with", async (t) => {
  const other = await testDatabase(t);
  const userId = await makeFundedUser(other.database, 100n);
  assert.equal((await auditLedger(other.database.kysely)).isSound, true);
  await other.pool.query("update ledger_accounts set balance_nanos = 60, held_nanos = 50 where user_id = $1", [userId]);
  await other.pool.query("alter table ledger_accounts disable trigger user");
  await other.pool.query("delete from ledger_accounts where kind = 'issuance'");
  const { differences } = await auditLedger(other.database.kysely);
  assert.deepEqual(
    differences.map((difference) =>
      "storedNanos" in difference
        ? `${difference.kind} ${difference.storedNanos} ${difference.expectedNanos}`
        : difference.kind,
    ),
    ["sum_not_zero", "orphan_transfers", "balance_differs 60 100", "held_differs 50 0"],
  );
});
