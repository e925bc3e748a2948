import assert from "node:assert/strict";
import { after, test } from "node:test";
import { countedDatabase } from "../../../../../../test/support/database/counted-database.ts";
import { postCharges } from "../../../../../../test/support/money/charge-lines.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { aPast, postMovements } from "../../../../../../test/support/money/movements.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { serveRoutes } from "../../../../../../test/support/network/serve.ts";
import { systemClock, type Clock } from "../../../../base/clock.ts";
import { parseDollars } from "../../../../base/money.ts";
import { chargeDayLoop } from "../../charging/for-assembly.ts";
import { creditOf } from "../../ledger/index.ts";
import { movementRoutes } from "./movement-routes.ts";
import { searchInvoices } from "./movement-service.ts";

const { database, pool } = await testDatabase();
const clock: Clock = { ...systemClock, now: () => new Date("2026-03-10T12:00:00Z") };
const { call, close } = await serveRoutes(database, movementRoutes, clock);
after(close);

const seconds = (text: string) => Date.parse(text) / 1000;

test("raw invoices are a bare array that every column filters, and whose dates and cents are numbers", async () => {
  const { user } = await aPast(database);
  const search = async (query: Readonly<Record<string, unknown>>) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) parameters.set(name, JSON.stringify(value));
    const answer = await call("GET", `/api/v0/invoices?${parameters.toString()}`, { as: user });
    assert.equal(answer.status, 200, answer.text);
    return answer.body as unknown as readonly Readonly<Record<string, unknown>>[];
  };
  const all = await search({});
  assert.deepEqual(
    all.map((row) => row["amount_cents"]),
    [-300, -50, 300, -800, -500, 2000, 10_000],
  );
  assert.deepEqual(
    (await search({ select_filters: { is_credit: { eq: true }, amount_cents: { gt: 300 } } })).map(
      (row) => row["service"],
    ),
    ["stripe_payments", "credit"],
  );
  assert.deepEqual(await search({ select_filters: { service: { eq: "payout" } }, select_cols: ["id", "service"] }), [
    { id: all[0]?.["id"], service: "payout" },
  ]);
  assert.equal(
    (await search({ select_filters: { when: { lte: seconds("2026-03-02T10:00:00Z") } }, limit: 1 })).length,
    1,
  );
  const refused = await call("GET", "/api/v0/invoices?select_filters=%7B%22moon%22%3A%7B%22eq%22%3A1%7D%7D", {
    as: user,
  });
  assert.deepEqual([refused.status, refused.body["field"]], [400, "select_filters.moon"]);
});

type Balanced = Readonly<Record<"id" | "service" | "balance_before" | "balance_after", unknown>>;

test("any slice of raw invoices has the balances of the whole list, and balances filter and order it", async () => {
  const { user, friend } = await aPast(database);
  await postCharges(database, "2026-03-03T11:00:00Z", { payer: user.id, host: friend.id }, [
    { amount: 1_000_000_001n, instance: 77 },
  ]);
  const search = async (query: string) => {
    const answer = await call("GET", `/api/v0/invoices/?${query}`, { as: user });
    assert.equal(answer.status, 200, answer.text);
    return answer.body as unknown as readonly Balanced[];
  };
  for (const order of ['order_by=[["id","asc"]]', 'order_by=[["amount_cents","asc"]]', ""]) {
    const whole = await search(order);
    assert.equal(whole.length, 7);
    for (const limit of [1, 2, 5]) {
      assert.deepEqual(await search(`${order}&limit=${limit}`), whole.slice(0, limit), `${order} ${limit}`);
    }
  }
  const highest = await search('order_by=[["balance_after","desc"]]&limit=2');
  assert.deepEqual(
    highest.map((row) => row.balance_after),
    [120, 115],
  );
  const below = `select_filters=${encodeURIComponent(JSON.stringify({ balance_before: { lt: 114 } }))}`;
  assert.deepEqual(
    (await search(`${below}&limit=2`)).map((row) => [row.service, row.balance_before]),
    [
      ["refund", 105.999999999],
      ["instance_prepay", 113.999999999],
    ],
  );
  assert.deepEqual(await search('order_by=[["id","asc"]]&limit=1&select_cols=["balance_after"]'), [
    { balance_after: 100 },
  ]);
});

test("balances are computed for the answered raw invoices alone", async () => {
  const { user } = await aPast(database);
  const statementsOf = async (query: Parameters<typeof searchInvoices>[3]) => {
    const { database: watched, count } = countedDatabase(database);
    await searchInvoices(watched.kysely, clock.now(), user.id, query);
    return count();
  };
  // The newest movements are of earnings, which have no balance of the credit.
  const withoutBalance = await statementsOf({ limit: 2 });
  assert.equal(await statementsOf({ limit: 3 }), withoutBalance + 2);
  assert.equal(await statementsOf({ select_cols: '["id","service"]' }), withoutBalance);
  assert.equal(await statementsOf({ limit: 2, select_filters: '{"balance_after":{"eq":null}}' }), withoutBalance + 2);
});

test("raw invoices have the credit before and after each movement of it, with the usage in between", async () => {
  const { user, friend } = await aPast(database);
  const charge = (at: string, amount: bigint) =>
    postCharges(database, at, { payer: user.id, host: friend.id }, [{ amount, instance: 77 }]);
  await charge("2026-03-03T11:00:00Z", 1_000_000_001n);
  await charge("2026-03-07T09:00:00Z", 2_000_000_003n);
  const amount = 1_234_567_891n;
  await postMovements(database, "2026-03-07T10:00:00Z", [
    transferOf({ debit: creditOf(user.id), credit: creditOf(friend.id), amount }),
  ]);
  await charge("2026-03-07T11:00:00Z", 7n);
  const seen = async () => {
    const { body } = await call("GET", '/api/v0/invoices/?order_by=[["id","asc"]]', { as: user });
    const rows = body as unknown as readonly Readonly<
      Record<"service" | "balance_before" | "balance_after", unknown>
    >[];
    return rows.map((row) => [row.service, row.balance_before, row.balance_after]);
  };
  const expected = [
    ["credit", 0, 100],
    ["stripe_payments", 100, 120],
    ["transfer", 120, 115],
    ["instance_prepay", 113.999999999, 105.999999999],
    ["refund", 105.999999999, 108.999999999],
    ["fee", null, null],
    ["payout", null, null],
    ["transfer", 106.999999996, 105.765432105],
  ];
  assert.deepEqual(await seen(), expected);
  const { rows: replayed } = await pool.query<{ balance: bigint }>(
    `select balance::bigint from (
       select t.id, t.code, sum(case when t.credit_account_id = a.id then t.amount_nanos else -t.amount_nanos end)
         over (order by t.created_at, t.id) as balance, t.created_at
       from ledger_accounts a join ledger_transfers t on a.id in (t.debit_account_id, t.credit_account_id)
       where a.user_id = $1 and a.kind = 'credit'
     ) as moved where code not like 'usage_%' order by id`,
    [user.id],
  );
  const shown = expected.flatMap(([, , balance]) => (typeof balance === "number" ? [parseDollars(balance)] : []));
  assert.deepEqual(
    shown,
    replayed.map(({ balance }) => balance),
    "as the ledger says when it is replayed",
  );
  await pool.query("truncate charge_days");
  await pool.query("update charge_days_clock set counted_until_at = null");
  for (let run = 0; run < 10; run += 1) await chargeDayLoop({ database, clock }).run();
  assert.deepEqual(await seen(), expected, "from the sums of days as well");
});
