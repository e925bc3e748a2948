import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp } from "../../../../../../test/support/app.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { creditOf, postTransfers } from "../../ledger/index.ts";
import { STRIPE } from "../../ledger/for-payments.ts";

const DOLLAR = 1_000_000_000n;
const DAY_MS = 86_400_000;

test("a card payment cannot be sent to another account before it is old enough, even by concurrent requests", async (t) => {
  const world = await testApp(t);
  const [user, friend] = [await world.caller({ dollars: 30 }), await world.caller({ dollars: 0 })];
  const { rows } = await world.env.pool.query<{ id: number }>(
    `insert into payments (user_id, kind, state, amount_cents, intent_id, created_at, settled_at)
     values ($1, 'checkout', 'paid', 5000, 'pi_young', $2, $2) returning id`,
    [user.id, world.clock.now()],
  );
  const paid = {
    ...transferOf({ debit: STRIPE, credit: creditOf(user.id), amount: 50n * DOLLAR, code: "payment" }),
    key: "payment:stripe:pi_young",
    cause: { payment_id: rows[0]?.id ?? 0, provider: "stripe" },
  };
  await withTransaction(world.env.database, world.clock, (tx) => postTransfers(tx, [paid]));
  const give = (amount: number) =>
    world.call({
      method: "PUT",
      url: "/api/v0/commands/transfer_credit/",
      secret: user.secret,
      body: { sender: "me", recipient: friend.id, amount },
    });
  const refused = await give(30.01);
  assert.deepEqual([refused.status, refused.body.error], [400, "insufficient_balance"], refused.text);
  assert.match(refused.body.msg, /card payments of the last days, cannot be transferred/);
  const answers = await Promise.all([give(20), give(20), give(20)]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400, 400],
  );
  assert.equal((await creditOfUser(world, friend)).balance, 20n * DOLLAR);
  world.clock.jump(15 * DAY_MS);
  assert.equal((await give(60)).status, 200);
  await world.assertBooks();
});
