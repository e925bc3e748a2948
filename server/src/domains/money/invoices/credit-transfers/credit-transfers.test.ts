import assert from "node:assert/strict";
import { after, test } from "node:test";
import { aCaller, aKey, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf } from "../../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { aRequestKey, serveRoutes } from "../../../../../../test/support/network/serve.ts";
import { systemClock } from "../../../../base/clock.ts";
import { nanos, NANOS_PER_DOLLAR, ZERO } from "../../../../base/money.ts";
import { auditLedger, balanceOf, createTransferPoster, postTransfer } from "../../ledger/index.ts";
import { putCap } from "../../ledger/for-limits.ts";
import { invoiceRoutes } from "../index.ts";

const { database, pool } = await testDatabase();
const poster = createTransferPoster(database, systemClock);
const { call, close } = await serveRoutes(database, (scope) => invoiceRoutes(scope, { poster }));
after(close);

const CENT = NANOS_PER_DOLLAR / 100n;
const transfer = (as: TestCaller, body: unknown, options: { readonly key?: string } = {}) =>
  call("PUT", "/api/v0/commands/transfer_credit/", { as, body, ...options });

async function fundedCaller(cents = 10_000n): Promise<TestCaller> {
  const caller = await aCaller(database);
  await inTransaction(database, (tx) => postTransfer(tx, grantOf(caller.id, cents * CENT)));
  return caller;
}

const creditOf = async ({ id }: Pick<TestCaller, "id">) => (await balanceOf(database.kysely, id)).balance;

test("credit goes to a user named by e-mail in any case, by id as text, or by id as a number", async () => {
  const [sender, recipient] = [await fundedCaller(), await aCaller(database)];
  const names = [recipient.email, ` ${recipient.email.toUpperCase()} `, String(recipient.id), recipient.id];
  for (const [index, name] of names.entries()) {
    const answer = await transfer(sender, { recipient: name, amount: 1.5, client_id: "me", sender: "me" });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, { success: true });
    assert.equal(await creditOf(recipient), BigInt(index + 1) * 150n * CENT);
  }
  assert.equal(await creditOf(sender), 9_400n * CENT);
});

test("amounts are taken by their decimal digits", async () => {
  const [sender, recipient] = [await fundedCaller(), await aCaller(database)];
  for (const amount of [0.01, 0.015, 0.1, 0.2, 29.99]) {
    assert.equal((await transfer(sender, { recipient: recipient.email, amount })).status, 200, String(amount));
  }
  assert.equal(await creditOf(recipient), 30_315_000_000n);
});

test("an amount that is too small, too large or no number is refused by the name of its field", async () => {
  const [sender, recipient] = [await fundedCaller(), await aCaller(database)];
  const amounts = [0, 0.009999, -1, 1e308, 1e10, 1e-300, "abc", "5", true, [1], { a: 1 }, null, undefined];
  for (const amount of amounts) {
    const { status, body, text } = await transfer(sender, { recipient: recipient.email, amount });
    assert.equal(status, 400, `${String(amount)}: ${text}`);
    assert.equal(body["success"], false);
    assert.equal(body["error"], "invalid_args");
    assert.equal(body["field"], "amount");
    assert.match(String(body["msg"]), /amount/);
  }
  assert.equal(await creditOf(recipient), 0n);
});

test("an unknown recipient is named, and no credit can be sent to oneself or to a closed account", async () => {
  const [sender, closed] = [await fundedCaller(), await aCaller(database)];
  await pool.query("update users set deleted_at = now() where id = $1", [closed.id]);
  const unknown = ["nobody@example.com", "999999999", "me", closed.email, String(closed.id), "0", "12abc", "-1"];
  for (const recipient of unknown) {
    const { status, body } = await transfer(sender, { recipient, amount: 1 });
    assert.equal(status, 400);
    assert.equal(body["error"], "invalid_recipient");
    assert.ok(String(body["msg"]).includes(recipient), String(body["msg"]));
  }
  for (const recipient of [sender.email, sender.email.toUpperCase(), String(sender.id), sender.id]) {
    const { status, body } = await transfer(sender, { recipient, amount: 1 });
    assert.equal(status, 400);
    assert.equal(body["error"], "invalid_recipient");
  }
  for (const recipient of ["", null, undefined, true, {}, 1.5]) {
    const { status, body } = await transfer(sender, { recipient, amount: 1 });
    assert.equal(status, 400);
    assert.equal(body["field"], "recipient");
  }
  assert.equal(await creditOf(sender), 10_000n * CENT);
});

test("a sender with too little credit keeps it, and the answer states the missing amount", async () => {
  const [sender, recipient] = [await fundedCaller(150n), await aCaller(database)];
  const { status, body } = await transfer(sender, { recipient: recipient.email, amount: 2 });
  assert.equal(status, 400);
  assert.equal(body["error"], "insufficient_balance");
  assert.equal(body["shortfall"], 0.5);
  assert.equal(body["available"], 1.5);
  assert.match(String(body["msg"]), /\$0\.5/);
  assert.equal((await transfer(sender, { recipient: recipient.email, amount: 1.5 })).status, 200);
  assert.equal(await creditOf(sender), 0n);
});

test("concurrent transfers never overdraw, and all of them arrive", async () => {
  const [sender, recipient] = [await fundedCaller(1_000n), await aCaller(database)];
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => transfer(sender, { recipient: recipient.email, amount: 0.3 })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 33);
  assert.equal(answers.filter(({ body }) => body["error"] === "insufficient_balance").length, 27);
  assert.equal(await creditOf(sender), 10n * CENT);
  assert.equal(await creditOf(recipient), 990n * CENT);
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);
});

test("a repeated request moves credit once and gets the same answer, in sequence and concurrently", async () => {
  const [sender, recipient] = [await fundedCaller(), await aCaller(database)];
  const body = { recipient: recipient.email, amount: 10 };
  const key = aRequestKey();
  const first = await transfer(sender, body, { key });
  const again = await Promise.all(Array.from({ length: 8 }, () => transfer(sender, body, { key })));
  for (const answer of again) assert.deepEqual([answer.status, answer.text], [first.status, first.text]);
  const raced = aRequestKey();
  const answers = await Promise.all(Array.from({ length: 8 }, () => transfer(sender, body, { key: raced })));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(await creditOf(recipient), 2_000n * CENT);
});

test("the same Idempotency-Key with any other request is a conflict", async () => {
  const [sender, recipient] = [await fundedCaller(), await aCaller(database)];
  const body = { recipient: recipient.email, amount: 10 };
  const key = aRequestKey();
  assert.equal((await transfer(sender, body, { key })).status, 200);
  const others = [
    { ...body, amount: 11 },
    { ...body, recipient: (await aCaller(database)).email },
    { ...body, apikey_id: "7" },
  ];
  for (const other of others) {
    const answer = await transfer(sender, other, { key });
    assert.equal(answer.status, 409);
    assert.equal(answer.body["error"], "idempotency_key_reused");
  }
  assert.equal(await creditOf(recipient), 1_000n * CENT);
});

test("Idempotency-Keys of different callers are independent", async () => {
  const [one, other, recipient] = [await fundedCaller(), await fundedCaller(), await aCaller(database)];
  const key = aRequestKey();
  for (const sender of [one, other]) {
    assert.equal((await transfer(sender, { recipient: recipient.email, amount: 1 }, { key })).status, 200);
  }
  assert.equal(await creditOf(recipient), 200n * CENT);
});

test("a repetition has the first answer, although the key, the caller or the recipient changed since", async () => {
  const [sender, recipient, namesake] = [await fundedCaller(), await aCaller(database), await aCaller(database)];
  const body = { recipient: recipient.email, amount: 10 };
  const key = aRequestKey();
  const first = await transfer(sender, body, { key });
  assert.equal(first.status, 200);
  const scope = `key:${sender.key.id}` as const;
  const changes = [
    () => pool.query("update users set deleted_at = now() where id = $1", [recipient.id]),
    () => pool.query("update users set email = $2 where id = $1", [recipient.id, `gone-${recipient.email}`]),
    () => pool.query("update users set email = $2 where id = $1", [namesake.id, recipient.email]),
    () =>
      inTransaction(database, (tx) =>
        putCap(tx, {
          userId: sender.id,
          scope,
          period: "day",
          limit: nanos(NANOS_PER_DOLLAR),
          spent: ZERO,
          isCovered: true,
          stoppedBy: tx.now,
        }),
      ),
  ];
  for (const change of changes) {
    await change();
    const again = await transfer(sender, body, { key });
    assert.deepEqual([again.status, again.text], [first.status, first.text]);
    const other = await transfer(sender, { ...body, amount: 11 }, { key });
    assert.deepEqual([other.status, other.body["error"]], [409, "idempotency_key_reused"]);
  }
  assert.equal((await transfer(sender, body, { key: aRequestKey() })).status, 403, "what is new is refused");
  assert.equal(await creditOf(sender), 9_000n * CENT);
  assert.deepEqual([await creditOf(recipient), await creditOf(namesake)], [1_000n * CENT, 0n]);
});

test("a refused attempt leaves its Idempotency-Key unused", async () => {
  const [sender, recipient] = [await fundedCaller(50n), await aCaller(database)];
  const body = { recipient: recipient.email, amount: 1 };
  const key = aRequestKey();
  assert.equal((await transfer(sender, body, { key })).body["error"], "insufficient_balance");
  await inTransaction(database, (tx) => postTransfer(tx, grantOf(sender.id, 50n * CENT)));
  assert.equal((await transfer(sender, body, { key })).status, 200);
});

test("each transfer is audited with the key that was used and the one that was stated, and only once", async () => {
  const [sender, recipient] = [await fundedCaller(), await aCaller(database)];
  const body = { recipient: recipient.email, amount: 0.015, apikey_id: 42 };
  const key = aRequestKey();
  await transfer(sender, body, { key });
  await transfer(sender, body, { key });
  const { rows } = await pool.query("select * from audit_events where user_id = $1", [sender.id]);
  assert.equal(rows.length, 1);
  const { api_key_id, ip_address, action, arguments: args } = rows[0];
  assert.deepEqual([api_key_id, ip_address, action], [sender.key.id, "127.0.0.1", "api.billing.transfer_credit"]);
  assert.deepEqual([args.recipient_id, args.amount, args.apikey_id], [recipient.id, 0.015, "42"]);
});

test("without a key, with a wrong key or without the permission nothing moves", async () => {
  const [sender, recipient] = [await fundedCaller(), await aCaller(database)];
  const body = { recipient: recipient.email, amount: 1 };
  const narrow = await inTransaction(database, (tx) =>
    aKey(tx, sender, { permissions: { api: { billing_read: {}, instance_write: {} } } }),
  );
  assert.equal((await call("PUT", "/api/v0/commands/transfer_credit", { body })).status, 401);
  assert.equal((await transfer({ ...sender, secret: "wrong" }, body)).status, 401);
  const refused = await transfer({ ...sender, secret: narrow.secret }, body);
  assert.equal(refused.status, 403);
  assert.equal(refused.body["success"], false);
  assert.equal(await creditOf(recipient), 0n);
});

test("an administrator gives credit by e-mail or id, once per Idempotency-Key; nobody else does", async () => {
  const admin = await aCaller(database, { isAdmin: true });
  const [user, stranger] = [await aCaller(database), await aCaller(database)];
  const grant = (as: TestCaller, body: unknown, key = aRequestKey()) =>
    call("POST", "/api/v0/admin/credit/", { as, body, key });
  const key = aRequestKey();
  const first = await grant(admin, { email: user.email.toUpperCase(), amount: 12.34 }, key);
  assert.deepEqual(first.body, { success: true, id: user.id, email: user.email, credit: 12.34 });
  assert.equal((await grant(admin, { email: user.email.toUpperCase(), amount: 12.34 }, key)).text, first.text);
  assert.equal((await grant(admin, { user_id: user.id, amount: 1 })).body["credit"], 13.34);
  assert.equal(await creditOf(user), 1_334n * CENT);
  assert.equal((await grant(stranger, { email: user.email, amount: 1 })).status, 403);
  assert.equal((await call("POST", "/api/v0/admin/credit/", { body: {} })).status, 401);
  assert.equal((await grant(admin, { email: "nobody@example.com", amount: 1 })).status, 404);
  assert.equal((await grant(admin, { amount: 1 })).body["field"], "email");
  assert.equal((await grant(admin, { email: user.email, amount: -1 })).body["field"], "amount");
  const { rows } = await pool.query("select from audit_events where action = 'api.admin.credit'");
  assert.equal(rows.length, 2);
});

test("more credit than the ledger can count is a conflict, not a failure", async () => {
  const admin = await aCaller(database, { isAdmin: true });
  const user = await aCaller(database);
  const statuses = new Set<number>();
  for (let round = 0; round < 10; round += 1) {
    const answer = await call("POST", "/api/v0/admin/credit/", { as: admin, body: { email: user.email, amount: 1e9 } });
    statuses.add(answer.status);
  }
  assert.deepEqual(statuses, new Set([200, 409]));
  assert.deepEqual((await auditLedger(database.kysely)).differences, []);
});

test("a key with a cap cannot transfer credit, and another key of the account can", async () => {
  const [sender, recipient] = [await fundedCaller(), await aCaller(database)];
  const limited = await inTransaction(database, (tx) => aKey(tx, sender));
  await inTransaction(database, (tx) =>
    putCap(tx, {
      userId: sender.id,
      scope: `key:${limited.id}`,
      period: "day",
      limit: nanos(NANOS_PER_DOLLAR),
      spent: ZERO,
      isCovered: true,
      stoppedBy: tx.now,
    }),
  );
  const refused = await transfer({ ...sender, secret: limited.secret }, { recipient: recipient.email, amount: 0.5 });
  assert.deepEqual([refused.status, refused.body["error"]], [403, "not_authorized"], refused.text);
  assert.match(String(refused.body["msg"]), /key with a cap/);
  assert.equal(await creditOf(recipient), 0n);
  assert.equal((await transfer(sender, { recipient: recipient.email, amount: 0.5 })).status, 200);
});
