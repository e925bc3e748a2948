import assert from "node:assert/strict";
import { after, test } from "node:test";
import { postCharges } from "../../../../../../test/support/money/charge-lines.ts";
import { aCaller, aKey, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { readPdf } from "../../../../../../test/support/money/pdf-text.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { serveRoutes } from "../../../../../../test/support/network/serve.ts";
import { systemClock, type Clock } from "../../../../base/clock.ts";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { NANOS_PER_DOLLAR, parseDollars, roundHalfUp } from "../../../../base/money.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { createTransferPoster, creditOf, depositOf, postTransfers, type TransferRequest } from "../../ledger/index.ts";
import { chargeDayLoop } from "../../charging/for-assembly.ts";
import { issueInvoices } from "./document-service.ts";
import { invoiceRoutes, listWrongDocuments, UNNAMED_SELLER, type Seller } from "../index.ts";

const { database, pool } = await testDatabase();
let now = new Date("2026-01-15T12:00:00Z");
const clock: Clock = { ...systemClock, now: () => now };
const poster = createTransferPoster(database, clock);
const { call, close } = await serveRoutes(database, (scope) => invoiceRoutes(scope, { poster }), clock);
after(close);

const DOLLAR = NANOS_PER_DOLLAR;
const CENT = DOLLAR / 100n;
const SELLER: Seller = {
  ...UNNAMED_SELLER,
  name: "Rechenzentrum <Nord> GmbH",
  address: ["1 Mill Lane", "Ware"],
  taxId: "DE123",
  taxPpm: 190_000,
  taxNote: "Prices include 19 % VAT.",
};

function setClock(at: string): void {
  now = new Date(at);
}

async function post(at: string, requests: readonly TransferRequest[]): Promise<void> {
  const then: Clock = { ...systemClock, now: () => new Date(at) };
  const outcomes = await withTransaction(database, then, (tx) => postTransfers(tx, requests));
  assert.ok(outcomes.every(({ kind }) => kind === "posted"));
}

const issue = (seller: Seller = SELLER) => issueInvoices({ database, clock, seller });

type Balance = Readonly<Record<"opening" | "usage" | "rounding" | "closing", number>> & {
  readonly entries: readonly { readonly label: string; readonly amount: number }[];
};
type Shown = {
  readonly number: string;
  readonly total: number;
  readonly net: number;
  readonly tax: { readonly percent: string; readonly amount: number; readonly note: string };
  readonly lines: readonly { readonly amount: number; readonly description: string; readonly rate: string }[];
  readonly balance: Balance;
  readonly buyer: Readonly<Record<string, unknown>>;
};

async function numbersOf(as: TestCaller): Promise<readonly string[]> {
  const { body } = await call("GET", "/api/v0/invoice_documents/", { as });
  return (body["results"] as readonly { readonly number: string }[]).map(({ number }) => number);
}

async function show(as: TestCaller, number: string): Promise<Shown> {
  const { status, body, text } = await call("GET", `/api/v0/invoice_documents/${number}/`, { as });
  assert.equal(status, 200, text);
  return body as unknown as Shown;
}

const centsOf = (dollars: number) => BigInt(Math.round(dollars * 100));
const addUp = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + centsOf(amount), 0n);

/** Asserts that displayed amounts of an invoice add up as displayed. */
function assertAddsUp({ lines, net, tax, total, balance }: Shown): void {
  assert.equal(addUp(lines.map(({ amount }) => amount)), centsOf(total));
  assert.equal(centsOf(net) + centsOf(tax.amount), centsOf(total));
  assert.equal(centsOf(balance.usage), centsOf(total));
  const { opening, entries, usage, rounding, closing } = balance;
  const moved = addUp(entries.map(({ amount }) => amount));
  assert.equal(centsOf(opening) + moved - centsOf(usage) + centsOf(rounding), centsOf(closing));
}

test("months are invoiced once each, when they are over, and each opens with the closing balance of the one before", async () => {
  const [renter, host, idle] = [await aCaller(database), await aCaller(database), await aCaller(database)];
  const between = { payer: renter.id, host: host.id };
  await post("2026-01-05T00:00:00Z", [grantOf(renter.id, 100n * DOLLAR + 4_000_000n)]);
  await postCharges(database, "2026-01-31T23:59:59.999Z", between, [
    { amount: 3_333_333n },
    { amount: 7_777_777n, instance: 72 },
  ]);
  await postCharges(database, "2026-02-01T00:00:00Z", between, [{ amount: 2n * DOLLAR }]);
  await post("2026-02-03T00:00:00Z", [
    transferOf({
      debit: creditOf(renter.id),
      credit: depositOf(renter.id, asId<InstanceId>(71)),
      amount: 10n * DOLLAR,
      code: "prepay",
    }),
  ]);
  await postCharges(database, "2026-02-10T00:00:00Z", between, [{ amount: DOLLAR, paidFrom: "deposit" }]);

  setClock("2026-02-02T06:30:00Z");
  assert.equal(await issue(), 0, "its last transactions may still be under way");
  setClock("2026-02-02T08:00:00Z");
  const issued = await Promise.all([issue(), issue()]);
  assert.equal(issued[0] + issued[1], 1, "side by side they issue it once");
  assert.equal(await issue(), 0);
  assert.deepEqual(await numbersOf(renter), ["2026-000001"]);
  assert.deepEqual(await numbersOf(idle), []);

  setClock("2026-05-03T00:00:00Z");
  assert.equal(await issue(), 1, "months without anything have none");
  assert.deepEqual(await numbersOf(renter), ["2026-000002", "2026-000001"]);
  const [second, first] = [await show(renter, "2026-000002"), await show(renter, "2026-000001")];
  assertAddsUp(first);
  assertAddsUp(second);
  // The hour before midnight was charged at midnight.
  assert.deepEqual([first.total, first.balance.opening, first.balance.closing], [2.01, 0, 97.99]);
  assert.deepEqual([second.total, second.balance.opening, second.balance.closing], [1, 97.99, 96.99]);
  assert.deepEqual(first.balance.entries, [{ label: "Credit granted", amount: 100 }]);
  assert.deepEqual(second.balance.entries, [], "a deposit stays within what was prepaid");
  const { body } = await call("GET", "/api/v0/users/me/invoices/", { as: renter });
  assert.equal((body["current"] as Record<string, number>)["charges"], 0, "all of it is on invoices");
});

test("numbers have no gaps within a year, with concurrent issuers and failures", async () => {
  const users = [await aCaller(database), await aCaller(database), await aCaller(database)];
  for (const user of users) await post("2026-05-03T00:00:00Z", [grantOf(user.id, DOLLAR)]);
  setClock("2026-06-03T00:00:00Z");
  await pool.query(
    `create function fail_for_one() returns trigger language plpgsql as $$
     begin if new.user_id = ${users[1]?.id} then raise exception 'no paper'; end if; return new; end $$`,
  );
  await pool.query(
    "create trigger fail_for_one before insert on invoice_documents for each row execute function fail_for_one()",
  );
  await assert.rejects(issue(), /no paper/);
  assert.deepEqual(
    await Promise.all(users.map(async (user) => (await numbersOf(user)).length)),
    [1, 0, 1],
    "one that fails keeps no other back",
  );
  await pool.query("drop trigger fail_for_one on invoice_documents");
  await issue();
  const { rows } = await pool.query<{ sequence: number }>("select sequence from invoice_documents order by sequence");
  assert.deepEqual(
    rows.map(({ sequence }) => sequence),
    rows.map((_row, index) => index + 1),
  );
  await post("2026-12-03T00:00:00Z", [grantOf(users[0]?.id ?? asId(0), DOLLAR)]);
  setClock("2027-01-03T00:00:00Z");
  await issue({ ...SELLER, numberPrefix: "NORD-" });
  assert.equal((await numbersOf(users[0] ?? (await aCaller(database))))[0], "NORD-2027-000001");
});

test("an invoice stays as it was issued, and the database refuses to change it", async () => {
  const renter = await aCaller(database);
  await post("2027-01-05T00:00:00Z", [grantOf(renter.id, DOLLAR)]);
  setClock("2027-02-03T00:00:00Z");
  await issue();
  const [number = ""] = await numbersOf(renter);
  const before = await show(renter, number);
  await pool.query("update users set fullname = 'Somebody else', username = 'else' where id = $1", [renter.id]);
  assert.deepEqual(await show(renter, number), before);
  await assert.rejects(pool.query("update invoice_documents set issued_at = now()"), /append-only/);
  await assert.rejects(pool.query("delete from invoice_documents"), /append-only/);
});

test("page, PDF, data, CSV and charges of a month agree to the cent", async () => {
  const [renter, host] = [await aCaller(database), await aCaller(database)];
  await pool.query(
    `update users set fullname = '<b>Žofie</b> Ασία Иванова 深圳 서울 สมชาย राम', billaddress_line1 = '1 "Mill" Lane', taxinfo = 'CZ1' where id = $1`,
    [renter.id],
  );
  const between = { payer: renter.id, host: host.id };
  await post("2027-02-03T00:00:00Z", [grantOf(renter.id, 500n * DOLLAR)]);
  for (let day = 1; day <= 28; day += 1) {
    const at = `2027-02-${String(day).padStart(2, "0")}T12:00:00Z`;
    if (day < 4) continue;
    await postCharges(database, at, between, [
      { amount: 123_456_789n + BigInt(day), instance: 71 + (day % 30) },
      { component: "disk", amount: 4_444_444n, instance: 71 + (day % 30) },
      { component: "bwu", amount: 555_555n, instance: 71 + (day % 30), unpaid: day === 9 ? 17n : 0n },
      { component: "disk", amount: 1_234_567n, volume: 4 },
    ]);
  }
  setClock("2027-03-03T00:00:00Z");
  await chargeDayLoop({ database, clock }).run();
  assert.equal(await issue(), 1);
  const [number = ""] = await numbersOf(renter);
  const shown = await show(renter, number);
  assertAddsUp(shown);
  assert.equal(shown.lines.length, 25 * 3 + 1);
  const total = centsOf(shown.total);

  const filters = { day: { gte: "2027-02-01", lte: "2027-02-28" } };
  const charges = await call("GET", `/api/v0/charges/?select_filters=${encodeURIComponent(JSON.stringify(filters))}`, {
    as: renter,
  });
  const exact = parseDollars(String(charges.body["total_amount"])) ?? 0n;
  assert.equal(roundHalfUp(exact, CENT) / CENT, total);

  const csv = await call("GET", "/api/v0/charges/export/?from=2027-02-01&to=2027-02-28", { as: renter });
  assert.match(String(csv.headers["content-type"]), /^text\/csv/);
  const [titles = "", ...records] = csv.text.trimEnd().split("\r\n");
  const column = titles.split(",").indexOf("amount_usd");
  const sum = records.reduce((amount, record) => amount + (parseDollars(record.split(",")[column] ?? "") ?? 0n), 0n);
  assert.equal(sum, exact);

  const page = await call("GET", `/api/v0/invoice_documents/${number}/page/`, { as: renter });
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.ok(
    !page.text.includes("<b>") && page.text.includes("&lt;b&gt;Žofie&lt;/b&gt; Ασία Иванова 深圳 서울 สมชาย राम"),
  );
  const inPage = [...page.text.matchAll(/<td class="number">(-?[\d,]+\.\d\d)<\/td><\/tr>/g)].map(
    ([, text = ""]) => text,
  );
  const pdf = await call("GET", `/api/v0/invoice_documents/${number}/pdf/`, { as: renter });
  assert.equal(pdf.headers["content-type"], "application/pdf");
  const pages = await readPdf(pdf.bytes);
  const words = pages.join("\n");
  assert.ok(pages.length >= 3, "it is longer than a page");
  for (const [index, text] of pages.entries()) {
    assert.ok(text.includes(`Page ${index + 1} of ${pages.length}`), text);
    assert.ok(text.includes("Quantity") || index === pages.length - 1, "the head of the table is on each of its pages");
  }
  assert.ok(
    words.replaceAll("\n", " ").includes("<b>Žofie</b> Ασία Иванова 深圳 서울 สมชาย राम") &&
      words.includes("Rechenzentrum <Nord> GmbH"),
    words,
  );
  const textOf = (dollars: number) => dollars.toLocaleString("en", { minimumFractionDigits: 2 });
  const { balance } = shown;
  const expected = [
    ...shown.lines.map(({ amount }) => amount),
    ...[shown.net, shown.tax.amount, shown.total, balance.opening],
    ...balance.entries.map(({ amount }) => amount),
    ...[-balance.usage, ...(balance.rounding === 0 ? [] : [balance.rounding]), balance.closing],
  ].map(textOf);
  assert.deepEqual(inPage, expected);
  const inPdf = [...words.matchAll(/(?<![\d.,-])-?\d{1,3}(?:,\d{3})*\.\d\d(?![\d.%])/g)].map(([text]) => text);
  for (const amount of expected) {
    const position = inPdf.indexOf(amount);
    assert.ok(position >= 0, `${amount} is not in the PDF, or not often enough`);
    inPdf.splice(position, 1);
  }
  assert.ok(words.includes(shown.tax.note) && words.includes(number));
});

test("prices include tax, and net plus tax is the total", async () => {
  const renter = await aCaller(database);
  const host = await aCaller(database);
  await post("2027-03-03T00:00:00Z", [grantOf(renter.id, 500n * DOLLAR)]);
  await postCharges(database, "2027-03-04T00:00:00Z", { payer: renter.id, host: host.id }, [{ amount: 119n * DOLLAR }]);
  setClock("2027-04-03T00:00:00Z");
  await issue();
  const shown = await show(renter, (await numbersOf(renter))[0] ?? "");
  assert.deepEqual([shown.net, shown.tax.amount, shown.tax.percent, shown.total], [100, 19, "19", 119]);
});

test("lists of invoices have pages, and a malformed value is refused by the name of its field", async () => {
  const renter = await aCaller(database);
  for (const month of ["04", "05", "06"]) await post(`2027-${month}-03T00:00:00Z`, [grantOf(renter.id, DOLLAR)]);
  setClock("2027-08-03T00:00:00Z");
  await issue();
  const numbers = await numbersOf(renter);
  assert.equal(numbers.length, 3);
  const paged: string[] = [];
  let token: unknown = "";
  while (token !== null) {
    const { body } = await call("GET", `/api/v0/invoice_documents/?limit=1&after_token=${String(token)}`, {
      as: renter,
    });
    assert.deepEqual([body["count"], body["total"]], [1, 3]);
    paged.push(...(body["results"] as readonly { readonly number: string }[]).map(({ number }) => number));
    token = body["next_token"];
  }
  assert.deepEqual(paged, numbers);
  for (const [query, field] of [
    ["limit=0", "limit"],
    ["after_token=x", "after_token"],
    [`after_token=${Buffer.from('["documents",9007199254740991]').toString("base64url")}`, "after_token"],
  ]) {
    const { status, body } = await call("GET", `/api/v0/invoice_documents/?${query}`, { as: renter });
    assert.deepEqual([status, body["field"]], [400, field]);
  }
});

test("another user's invoice is answered like an absent one", async () => {
  const [owner, stranger] = [await aCaller(database), await aCaller(database)];
  await post("2027-08-03T00:00:00Z", [grantOf(owner.id, DOLLAR)]);
  setClock("2027-09-03T00:00:00Z");
  await issue();
  const [number = ""] = await numbersOf(owner);
  const narrow = await inTransaction(database, (tx) => aKey(tx, owner, { permissions: { api: { user_read: {} } } }));
  for (const form of ["", "page/", "pdf/"]) {
    const path = (of: string) => `/api/v0/invoice_documents/${of}/${form}`;
    assert.equal((await call("GET", path(number), { as: owner })).status, 200);
    const foreign = await call("GET", path(number), { as: stranger });
    const absent = await call("GET", path("2027-999999"), { as: stranger });
    assert.deepEqual([foreign.status, foreign.body["error"]], [404, "no_such_invoice"]);
    assert.deepEqual({ ...foreign.body, request_id: "" }, { ...absent.body, request_id: "" });
    assert.equal((await call("GET", path("%00"), { as: stranger })).status, 404);
    assert.equal((await call("GET", path(number))).status, 401);
    assert.equal((await call("GET", path(number), { as: { secret: narrow.secret } })).status, 403);
  }
});

test("an invoice has the tax of its customer's country, and keeps it; reverse charge is stated on page and PDF", async () => {
  const [person, business, host] = [await aCaller(database), await aCaller(database), await aCaller(database)];
  await pool.query("update users set billaddress_country = 'FR' where id = any($1)", [[person.id, business.id]]);
  await pool.query("update users set taxinfo = 'FR12345678901' where id = $1", [business.id]);
  for (const { id } of [person, business]) {
    await post("2027-10-10T00:00:00Z", [grantOf(id, 500n * DOLLAR)]);
    await postCharges(database, "2027-10-11T00:00:00Z", { payer: id, host: host.id }, [{ amount: 120n * DOLLAR }]);
  }
  const french = { ppm: 200_000, name: "TVA", note: "Paid in France.", isReverseCharged: true };
  setClock("2027-11-03T00:00:00Z");
  await issue({ ...SELLER, country: "DE", taxTable: new Map([["FR", french]]) });
  await pool.query("update users set billaddress_country = 'DE' where id = any($1)", [[person.id, business.id]]);
  const invoiceOf = async (user: TestCaller) => show(user, (await numbersOf(user))[0] ?? "");
  const [paying, free] = [await invoiceOf(person), await invoiceOf(business)];
  assert.deepEqual([paying.net, paying.tax.amount, paying.tax.percent, paying.total], [100, 20, "20", 120]);
  assert.equal(paying.tax.note, "Paid in France.");
  assert.deepEqual([free.net, free.tax.amount, free.total], [120, 0, 120]);
  const url = `/api/v0/invoice_documents/${free.number}`;
  const page = await call("GET", `${url}/page/`, { as: business });
  const pdf = await call("GET", `${url}/pdf/`, { as: business });
  for (const text of [page.text, (await readPdf(pdf.bytes)).join("\n")]) {
    assert.ok(text.includes("TVA (reverse charge)") && text.includes("the recipient of the service is liable"), text);
  }
  assert.deepEqual((await listWrongDocuments(database.kysely, undefined)).wrong, []);
});
