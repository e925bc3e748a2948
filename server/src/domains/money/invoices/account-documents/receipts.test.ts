import assert from "node:assert/strict";
import { after, test } from "node:test";
import { aCaller, aKey, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { readPdf } from "../../../../../../test/support/money/pdf-text.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { serveRoutes } from "../../../../../../test/support/network/serve.ts";
import { systemClock, type Clock } from "../../../../base/clock.ts";
import { NANOS_PER_DOLLAR, nanos } from "../../../../base/money.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { createTransferPoster, creditOf, postTransfers, type TransferRequest } from "../../ledger/index.ts";
import { STRIPE } from "../../ledger/for-payments.ts";
import { invoiceRoutes, listWrongAccountDocuments, UNNAMED_SELLER } from "../index.ts";
import { grantCredit } from "../grants.ts";
import { issueReceipts } from "./receipt-service.ts";

const { database, pool } = await testDatabase();
let now = new Date("2026-03-10T12:00:00Z");
const clock: Clock = { ...systemClock, now: () => now };
const poster = createTransferPoster(database, clock);
const { call, close } = await serveRoutes(database, (scope) => invoiceRoutes(scope, { poster }), clock);
after(close);

const DOLLAR = NANOS_PER_DOLLAR;
const seller = { ...UNNAMED_SELLER, name: "Nord <GmbH>", taxId: "DE123" };
const means = { database, clock, seller };

type Head = Readonly<Record<"number" | "kind" | "refers_to", string | null>> & { readonly total: number };

async function post(at: string, requests: readonly TransferRequest[]): Promise<void> {
  now = new Date(at);
  const outcomes = await withTransaction(database, clock, (tx) => postTransfers(tx, requests));
  assert.ok(outcomes.every(({ kind }) => kind === "posted"));
}

const paid = (user: TestCaller, paymentId: number, dollars: bigint): TransferRequest => ({
  ...transferOf({ debit: STRIPE, credit: creditOf(user.id), amount: dollars * DOLLAR, code: "payment" }),
  cause: { payment_id: paymentId, provider: "stripe" },
  description: "Card payment",
});

const returned = (user: TestCaller, paymentId: number, dollars: bigint, key: string): TransferRequest => ({
  ...transferOf({ debit: creditOf(user.id), credit: STRIPE, amount: dollars * DOLLAR, code: "payment_returned" }),
  cause: { payment_id: paymentId, provider: "stripe", return: key },
});

async function listed(as: TestCaller, query = ""): Promise<readonly Head[]> {
  const { status, body, text } = await call("GET", `/api/v0/billing/documents/?${query}`, { as });
  assert.equal(status, 200, text);
  return body["results"] as readonly Head[];
}

test("each payment has one receipt, by any number of issuers, and numbers have no gaps", async () => {
  const [ada, ben] = [await aCaller(database), await aCaller(database)];
  await post("2026-03-10T12:00:00Z", [paid(ada, 1, 50n), paid(ben, 2, 20n), grantOf(ben.id, 5n * DOLLAR)]);
  const actor = { userId: ben.id };
  await withTransaction(database, clock, (tx) =>
    grantCredit(tx, { userId: ben.id, amount: nanos(7_005_000_000n), reason: "Paid", paidBy: "Wire 17", actor }),
  );
  const issued = await Promise.all([issueReceipts(means), issueReceipts(means)]);
  assert.equal(issued[0] + issued[1], 3, "credit that nobody paid for has no receipt");
  now = new Date("2026-03-10T18:00:00Z");
  assert.equal(await issueReceipts(means), 0);
  await post("2026-03-10T19:00:00Z", [paid(ada, 3, 10n)]);
  assert.equal(await issueReceipts(means), 1);
  const numbers = [...(await listed(ada)), ...(await listed(ben))].map(({ number }) => number);
  assert.deepEqual(new Set(numbers), new Set(["2026-R000001", "2026-R000002", "2026-R000003", "2026-R000004"]));
  const [wire] = await listed(ben, "kind=receipt&limit=1");
  const { body } = await call("GET", `/api/v0/billing/documents/${wire?.number}/`, { as: ben });
  const receipt = body["receipt"] as Readonly<Record<string, unknown>>;
  assert.deepEqual([receipt["method"], receipt["amount"], receipt["amount_exact"]], ["Wire 17", 7.01, "7.005"]);
  assert.deepEqual((await listWrongAccountDocuments(database.kysely, undefined)).wrong, []);
});

test("a returned payment has its own receipt, which names the receipt of the payment", async () => {
  const ada = await aCaller(database);
  await post("2026-04-01T10:00:00Z", [paid(ada, 10, 50n)]);
  await post("2026-04-02T10:00:00Z", [returned(ada, 10, 20n, "refund:ch_1")]);
  await post("2026-04-03T10:00:00Z", [returned(ada, 10, 30n, "dispute:dp_1")]);
  const won = paid(ada, 10, 30n);
  await post("2026-04-04T10:00:00Z", [{ ...won, cause: { ...won.cause, return: "dispute:dp_1" } }]);
  assert.equal(await issueReceipts(means), 4);
  const [restored, disputed, refund, first] = await listed(ada);
  assert.deepEqual(
    [restored, disputed, refund, first].map((head) => [head?.total, head?.refers_to]),
    [
      [30, first?.number],
      [-30, first?.number],
      [-20, first?.number],
      [50, null],
    ],
  );
  const { body } = await call("GET", `/api/v0/billing/documents/${first?.number}/`, { as: ada });
  const later = body["referred_by"] as readonly Head[];
  assert.deepEqual(
    later.map(({ number }) => number),
    [refund?.number, disputed?.number, restored?.number],
  );
  const url = `/api/v0/billing/documents/${refund?.number}`;
  const page = await call("GET", `${url}/page/`, { as: ada });
  const pdf = await call("GET", `${url}/pdf/`, { as: ada });
  for (const text of [page.text, (await readPdf(pdf.bytes)).join("\n")]) {
    for (const part of [
      "Refund receipt",
      `Refers to receipt ${first?.number}`,
      "Returned to",
      "-20.00",
      "no invoice",
    ]) {
      assert.ok(text.includes(part), part);
    }
  }
});

test("data, page and PDF of a receipt agree, and name both parties", async () => {
  const ada = await aCaller(database);
  await pool.query("update users set fullname = 'Ada <b>', taxinfo = 'FR1' where id = $1", [ada.id]);
  await post("2026-05-01T10:00:00Z", [paid(ada, 20, 1_250n)]);
  await issueReceipts(means);
  const [head] = await listed(ada);
  await pool.query("update users set fullname = 'Somebody else' where id = $1", [ada.id]);
  const url = `/api/v0/billing/documents/${head?.number}`;
  const page = await call("GET", `${url}/page/`, { as: ada });
  const pdf = await call("GET", `${url}/pdf/`, { as: ada });
  assert.match(String(pdf.headers["content-disposition"]), /receipt-2026-R\d+\.pdf/);
  assert.ok(page.text.includes("Ada &lt;b&gt;") && !page.text.includes("<b>"));
  const words = (await readPdf(pdf.bytes)).join("\n");
  for (const part of [head?.number ?? "", "1,250.00", "Tax id FR1", "Tax id DE123", "2026-05-01", "no invoice"]) {
    assert.ok(page.text.includes(part), part);
    assert.ok(words.includes(part), part);
  }
  assert.ok(words.includes("Nord <GmbH>") && words.includes("Ada <b>"));
});

test("another user's receipt is answered like an absent one, and lists have pages", async () => {
  const [owner, stranger] = [await aCaller(database), await aCaller(database)];
  for (const payment of [30, 31, 32]) await post("2026-06-01T10:00:00Z", [paid(owner, payment, 5n)]);
  await issueReceipts(means);
  const numbers = (await listed(owner)).map(({ number }) => number);
  const narrow = await inTransaction(database, (tx) => aKey(tx, owner, { permissions: { api: { user_read: {} } } }));
  for (const form of ["", "page/", "pdf/"]) {
    const path = `/api/v0/billing/documents/${numbers[0]}/${form}`;
    const foreign = await call("GET", path, { as: stranger });
    const absent = await call("GET", `/api/v0/billing/documents/2026-R999999/${form}`, { as: stranger });
    assert.deepEqual([foreign.status, foreign.body["error"]], [404, "no_such_document"]);
    assert.deepEqual({ ...foreign.body, request_id: "" }, { ...absent.body, request_id: "" });
    assert.equal((await call("GET", path, { as: { secret: narrow.secret } })).status, 403);
  }
  const paged: unknown[] = [];
  for (let token: unknown = ""; token !== null;) {
    const { body } = await call("GET", `/api/v0/billing/documents/?limit=1&after_token=${String(token)}`, {
      as: owner,
    });
    paged.push(...(body["results"] as readonly Head[]).map(({ number }) => number));
    token = body["next_token"];
  }
  assert.deepEqual(paged, numbers);
  const { status, body } = await call("GET", "/api/v0/billing/documents/?kind=letter", { as: owner });
  assert.deepEqual([status, body["field"]], [400, "kind"]);
});

test("the database refuses to change a receipt", async () => {
  await assert.rejects(pool.query("update account_documents set issued_at = now()"), /append-only/);
  await assert.rejects(pool.query("delete from account_documents"), /append-only/);
  await assert.rejects(pool.query("truncate account_documents"), /append-only/);
});
