import assert from "node:assert/strict";
import { after, test } from "node:test";
import { postCharges } from "../../../../../../test/support/money/charge-lines.ts";
import { aCaller, aKey, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { aPast, postMovements } from "../../../../../../test/support/money/movements.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { serveRoutes } from "../../../../../../test/support/network/serve.ts";
import { systemClock, type Clock } from "../../../../base/clock.ts";
import { NANOS_PER_DOLLAR } from "../../../../base/money.ts";
import { createTransferPoster, creditOf, earningsOf, FEES } from "../../ledger/index.ts";
import { PAYOUTS } from "../../ledger/for-payments.ts";
import { invoiceRoutes } from "../index.ts";

const { database, pool } = await testDatabase();
const clock: Clock = { ...systemClock, now: () => new Date("2026-03-10T12:00:00Z") };
const poster = createTransferPoster(database, clock);
const { call, close } = await serveRoutes(database, (scope) => invoiceRoutes(scope, { poster }), clock);
after(close);

const DOLLAR = NANOS_PER_DOLLAR;
const seconds = (text: string) => Date.parse(text) / 1000;
const MARCH = { gte: seconds("2026-03-01T00:00:00Z"), lte: seconds("2026-03-31T00:00:00Z") };

type Row = {
  readonly type: string;
  readonly source: string;
  readonly end: number | null;
  readonly items: readonly unknown[];
  readonly amount: number;
  readonly metadata: { readonly service: string; readonly invoice_id: number };
};
type Page = {
  readonly success: boolean;
  readonly count: number;
  readonly total: number;
  readonly next_token: string | null;
  readonly results: readonly Row[];
};

async function movementsOf(
  as: TestCaller,
  { filters = { when: MARCH }, ...others }: Readonly<Record<string, unknown>> = {},
) {
  const parameters = new URLSearchParams({ select_filters: JSON.stringify(filters) });
  for (const [name, value] of Object.entries(others)) parameters.set(name, String(value));
  const answer = await call("GET", `/api/v1/invoices/?${parameters.toString()}`, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as Page;
}

const brief = (rows: readonly Row[]) => rows.map((row) => `${row.type} ${row.metadata.service} ${row.amount}`);

test("every movement is a row, newest first, with the sign of the contract; usage is no movement", async () => {
  const { user, friend } = await aPast(database);
  const page = await movementsOf(user);
  assert.deepEqual(brief(page.results), [
    "payout payout 3",
    "payout fee -0.5",
    "refund refund 3",
    "reserved instance_prepay -8",
    "transfer transfer -5",
    "credit stripe_payments -20",
    "credit credit -100",
  ]);
  assert.deepEqual([page.success, page.count, page.total, page.next_token], [true, 7, 7, null]);
  for (const row of page.results) {
    assert.deepEqual(Object.keys(row).toSorted(), [
      "amount",
      "amount_exact",
      "description",
      "end",
      "items",
      "metadata",
      "source",
      "start",
      "type",
    ]);
    assert.ok(Number.isInteger(row.metadata.invoice_id));
    assert.equal(typeof row.source, "string");
    assert.deepEqual([row.end, row.items], [null, []]);
  }
  assert.deepEqual(brief((await movementsOf(friend)).results), ["transfer transfer 5"]);
});

test("a missing or impossible range is answered with status 200, as in the contract", async () => {
  const { user } = await aPast(database);
  const ranges: readonly unknown[] = [
    undefined,
    {},
    { when: {} },
    { when: { gte: 1 } },
    { when: { gte: 5, lte: 4 } },
    { when: { gte: "x", lte: 4 } },
    { when: { eq: 5 } },
    { when: { gte: 1, lte: null } },
    { when: { gte: -1e15, lte: 1e15 } },
  ];
  for (const filters of ranges) {
    const query = filters === undefined ? "" : `?select_filters=${encodeURIComponent(JSON.stringify(filters))}`;
    const { status, body } = await call("GET", `/api/v1/invoices${query}`, { as: user });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      success: false,
      error: "Invalid date range",
      count: 0,
      total: 0,
      results: [],
      next_token: null,
    });
  }
});

test("both ends are in the range with gte and lte, and out of it with gt and lt", async () => {
  const { user } = await aPast(database);
  const [first, second] = [seconds("2026-03-01T10:00:00Z"), seconds("2026-03-02T10:00:00Z")];
  const totalOf = async (when: unknown) => (await movementsOf(user, { filters: { when } })).total;
  assert.equal(await totalOf({ gte: first, lte: second }), 2);
  assert.equal(await totalOf({ gt: first, lte: second }), 1);
  assert.equal(await totalOf({ gte: first, lt: second }), 1);
  assert.equal(await totalOf({ gte: String(first), lte: String(second) }), 2);
  assert.equal(await totalOf({ gte: first, gt: null, lte: second, lt: null }), 2);
  assert.equal(await totalOf({ gte: first + 0.001, lte: second + 0.5 }), 1);
  assert.equal(await totalOf({ gte: -62_135_596_800, lte: seconds("9999-12-31T23:59:59Z") }), 7);
});

test("services narrow the list", async () => {
  const { user } = await aPast(database);
  const servicesOf = async (service: unknown) =>
    brief((await movementsOf(user, { filters: { when: MARCH, service } })).results);
  assert.deepEqual(await servicesOf({ eq: "transfer" }), ["transfer transfer -5"]);
  assert.deepEqual(await servicesOf({ in: ["stripe_payments", "instance_prepay", "paypal_manual"] }), [
    "reserved instance_prepay -8",
    "credit stripe_payments -20",
  ]);
  assert.equal((await servicesOf({ notin: ["transfer"] })).length, 6);
  assert.equal((await servicesOf({ neq: "transfer" })).length, 6);
  assert.deepEqual(await servicesOf({ eq: "bitpay" }), []);
});

test("pages of any size, in any order, have each movement once", async () => {
  const { user } = await aPast(database);
  const orders = [
    undefined,
    [{ col: "amount_cents" }],
    [{ col: "when", dir: "asc" }],
    [{ col: "paid_on", dir: "desc" }],
  ];
  for (const order of orders) {
    for (const latestFirst of [true, false]) {
      const query = { latest_first: latestFirst, ...(order === undefined ? {} : { order_by: JSON.stringify(order) }) };
      const whole = (await movementsOf(user, query)).results;
      assert.equal(whole.length, 7);
      for (const limit of [1, 3]) {
        const rows: Row[] = [];
        let token: string | null = "";
        while (token !== null) {
          const page: Page = await movementsOf(user, { ...query, limit, after_token: token });
          rows.push(...page.results);
          token = page.next_token;
        }
        assert.deepEqual(rows, whole);
      }
    }
  }
  const byAmount = await movementsOf(user, { order_by: JSON.stringify([{ col: "amount_cents", dir: "asc" }]) });
  assert.deepEqual(brief(byAmount.results)[0], "reserved instance_prepay -8");
});

test("a malformed value is refused by the name of its field", async () => {
  const user = await aCaller(database);
  const range = `select_filters=${encodeURIComponent(JSON.stringify({ when: MARCH }))}`;
  const refusals: readonly (readonly [string, string, string?])[] = [
    ["select_filters=%5B", "select_filters"],
    [`select_filters=${encodeURIComponent(JSON.stringify({ when: MARCH, moon: { eq: 1 } }))}`, "select_filters.moon"],
    [`${range}&limit=0`, "limit"],
    [`${range}&limit=1.5`, "limit"],
    [`${range}&order_by=${encodeURIComponent('[{"col":"id"}]')}`, "order_by[0]"],
    [`${range}&after_token=x`, "after_token", "invalid_token"],
    [
      `${range}&after_token=${Buffer.from('["movements:when:true","1; drop","1"]').toString("base64url")}`,
      "after_token",
      "invalid_token",
    ],
  ];
  for (const [query, field, code = "invalid_args"] of refusals) {
    const { status, body, text } = await call("GET", `/api/v1/invoices/?${query}`, { as: user });
    assert.equal(status, 400, `${query} ${text}`);
    assert.deepEqual([body["error"], body["field"]], [code, field]);
  }
});

/** A payout of $30 and a fee of $5.005 that were invoiced to a host, with the payout's outcome. */
async function aPayout(change: { readonly due: string; readonly state?: string; readonly settled?: string }) {
  const [host, renter] = [await aCaller(database), await aCaller(database)];
  await postMovements(database, "2026-03-01T09:00:00Z", [grantOf(renter.id, 100n * DOLLAR)]);
  await postCharges(database, "2026-03-01T10:00:00Z", { payer: renter.id, host: host.id }, [{ amount: 40n * DOLLAR }]);
  const { state = "pending", settled = null, due } = change;
  const { rows } = await pool.query<{ id: number }>(
    `insert into payouts (user_id, invoiced_at, due_at, earned_nanos, fee_ppm, fee_nanos, amount_nanos, state, reference,
       failure, created_at, settled_at)
     values ($1, '2026-03-06', $2, 40040000000, 125000, 5005000000, 30000000000, $3, $4, $5, '2026-03-06', $6) returning id`,
    [host.id, due, state, state === "paid" ? "tr_1" : null, state === "failed" ? "account closed" : null, settled],
  );
  const cause = { payout_id: rows[0]?.id ?? 0 };
  const debit = earningsOf(host.id);
  await postMovements(database, "2026-03-06T00:00:00Z", [
    transferOf({ debit, credit: FEES, amount: 5_005_000_000n, code: "fee", cause }),
    { ...transferOf({ debit, credit: PAYOUTS, amount: 30n * DOLLAR, code: "payout", cause }), description: "Payout 7" },
  ]);
  return host;
}

async function payoutRowsOf(host: TestCaller) {
  const filters = encodeURIComponent(JSON.stringify({ service: { eq: "payout" } }));
  const raw = await call("GET", `/api/v0/invoices?select_filters=${filters}`, { as: host });
  const [row] = raw.body as unknown as readonly Readonly<Record<string, unknown>>[];
  const page = await movementsOf(host, { filters: { when: MARCH, service: { eq: "payout" } } });
  return { row: page.results[0] as Row & { readonly description: string }, raw: row };
}

test("an invoiced payout counts as paid only once it was sent, and states its due date", async () => {
  const { row, raw } = await payoutRowsOf(await aPayout({ due: "2026-03-13" }));
  assert.deepEqual(
    [row.type, row.amount, row.end, row.description],
    ["payout", 30, null, "Payout 7, due on 2026-03-13"],
  );
  assert.equal((row.metadata as { state?: string }).state, "pending");
  assert.deepEqual(
    [raw?.["when"], raw?.["paid_on"], raw?.["payment_expected"], raw?.["is_delayed"]],
    [seconds("2026-03-06T00:00:00Z"), null, seconds("2026-03-13T00:00:00Z"), false],
  );
  assert.deepEqual(
    [raw?.["amount_cents"], raw?.["cut_amount"], raw?.["original_amount"], raw?.["cut_percent"]],
    [-3000, 501, -3501, 12.5],
  );
});

test("a payout ends when it was paid or failed, and is late after its due date", async () => {
  const settled = "2026-03-09T10:00:00Z";
  const paid = await payoutRowsOf(await aPayout({ due: "2026-03-08", state: "paid", settled }));
  assert.deepEqual([paid.row.end, paid.row.description], [seconds(settled), "Payout 7, paid on 2026-03-09"]);
  assert.deepEqual(
    [paid.raw?.["paid_on"], paid.raw?.["is_delayed"], paid.raw?.["failed"], paid.raw?.["error"]],
    [seconds(settled), false, false, null],
  );
  const failed = await payoutRowsOf(await aPayout({ due: "2026-03-08", state: "failed", settled }));
  assert.deepEqual([failed.row.end, failed.row.description], [seconds(settled), "Payout 7, failed on 2026-03-09"]);
  assert.deepEqual(
    [failed.raw?.["paid_on"], failed.raw?.["failed"], failed.raw?.["error"]],
    [null, true, { message: "account closed" }],
  );
  const late = await payoutRowsOf(await aPayout({ due: "2026-03-08" }));
  assert.deepEqual([late.row.end, late.raw?.["is_delayed"]], [null, true]);
});

test("users with the permission for billing read movements", async () => {
  const { user } = await aPast(database);
  const narrow = await inTransaction(database, (tx) => aKey(tx, user, { permissions: { api: { user_read: {} } } }));
  for (const path of [
    "/api/v1/invoices/",
    "/api/v0/invoices/",
    "/api/v0/invoices/export/",
    "/api/v0/charges/export/",
  ]) {
    assert.equal((await call("GET", path)).status, 401);
    assert.equal((await call("GET", path, { as: { secret: narrow.secret } })).status, 403);
  }
});

test("a table of movements has both directions, and no text in it is a formula", async () => {
  const user = await aCaller(database);
  const grant = { ...grantOf(user.id, 5n * DOLLAR), description: '=HYPERLINK("http://example.com"),\n"x"' };
  await postMovements(database, "2026-03-01T10:00:00Z", [grant]);
  const read = (query: string) => call("GET", `/api/v0/invoices/export/?${query}`, { as: user });
  const { status, text, headers } = await read("from=2026-03-01&to=03/01/2026");
  assert.equal(status, 200);
  assert.match(String(headers["content-type"]), /^text\/csv/);
  const [titles, record] = text.split("\r\n");
  assert.equal(titles, "id,when,type,service,direction,description,amount_usd,account");
  assert.match(
    record ?? "",
    /^\d+,2026-03-01T10:00:00\.000Z,credit,credit,in,"'=HYPERLINK\(""http:\/\/example\.com""\),\n""x""",5,credit$/,
  );
  assert.equal((await read("from=2026-03-02")).text, `${titles}\r\n`);
  for (const [query, field] of [
    ["from=soon", "from"],
    ["to=2026-02-30", "to"],
    ["from=2026-03-02&to=2026-03-01", "from"],
  ] as const) {
    const refused = await read(query);
    assert.deepEqual([refused.status, refused.body["field"]], [400, field], query);
  }
});

test("contracts are found by their label, among the user's own", async () => {
  const user = await aCaller(database);
  const { status, body } = await call("POST", "/api/v0/contracts/fetch/", {
    as: user,
    body: { label: "train", contract_ids: [1, 2, 2_147_483_647] },
  });
  assert.deepEqual([status, body], [200, { contracts: [] }]);
  const refused = await call("POST", "/api/v0/contracts/fetch/", { as: user, body: { contract_ids: ["x"] } });
  assert.equal(refused.status, 400);
});

test("a transfer has the sign that each side sees, three decimals for people, and every digit beside", async () => {
  const { user, friend } = await aPast(database);
  const amount = 1_234_567_891n;
  await postMovements(database, "2026-03-08T10:00:00Z", [
    transferOf({ debit: creditOf(user.id), credit: creditOf(friend.id), amount }),
  ]);
  const newest = async (as: TestCaller) => {
    const [row] = (await movementsOf(as)).results as readonly (Row & { readonly amount_exact: string })[];
    return [row?.type, row?.amount, row?.amount_exact];
  };
  assert.deepEqual(await newest(user), ["transfer", -1.235, "-1.234567891"]);
  assert.deepEqual(await newest(friend), ["transfer", 1.235, "1.234567891"]);
});
