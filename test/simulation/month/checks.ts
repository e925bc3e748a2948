// Checks of the month that month.test.ts plays, against the model and against every page that shows it.
import assert from "node:assert/strict";
import { formatDollars, parseDollars, roundHalfUp } from "../../../server/src/base/money.ts";
import { readPdf } from "../../support/money/pdf-text.ts";
import { rentalCost, type Component, type Exact } from "./oracle.ts";
import type { Month } from "./actions.ts";
import type { Rental } from "./facts.ts";
import { FEE_PERCENT, MONTH } from "./month.ts";
import type { Person } from "./world.ts";

const CENT = 10_000_000n;
export const COMPONENTS = ["gpu", "disk", "bwu", "bwd"] as const satisfies readonly Component[];

type Line = {
  readonly component: Component;
  readonly from_at: Date;
  readonly to_at: Date;
  readonly charged_at: Date;
  readonly amount: bigint;
  readonly unpaid: bigint;
};

export async function rowsOf<Row extends object>({ world }: Month, text: string, values: readonly unknown[] = []) {
  return (await world.pool.query<Row>(text, [...values])).rows;
}

export async function numberOf(month: Month, text: string, values: readonly unknown[] = []): Promise<bigint> {
  const [row] = await rowsOf<{ sum: string | bigint | null }>(month, text, values);
  return BigInt(row?.sum ?? 0);
}

export function linesOf(month: Month, contract: "instance_id" | "volume_id", id: number): Promise<readonly Line[]> {
  return rowsOf<Line>(
    month,
    `select component, from_at, to_at, charged_at, amount_nanos as amount, unpaid_nanos as unpaid
     from charge_lines where ${contract} = $1 order by id`,
    [id],
  );
}

/** Checks that the charge is the exact cost, less the fractions of a nano-dollar that each charge line left out. */
export function assertCharged(what: string, lines: readonly Line[], { above, below }: Exact): void {
  const charged = lines.reduce((sum, { amount, unpaid }) => sum + amount + unpaid, 0n);
  const missing = above - charged * below;
  const report = `${what}: charged ${charged}, and it cost ${above / below}, on ${lines.length} lines`;
  assert.ok(missing >= 0n && missing <= BigInt(lines.length) * below, report);
}

export const inFull = { fromMs: 0, untilMs: Date.parse("2026-04-03T12:00:00Z") };
const addUp = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + centsOf(amount), 0n);
const centsOf = (dollars: number) => BigInt(Math.round(dollars * 100));
const inCents = (nanos: bigint) => roundHalfUp(nanos, CENT) / CENT;

/** Credit, or a cap, that one rental alone uses up: the times of its first and of its last charge. */
type Limit = { readonly what: string; readonly from: string; readonly until: string; readonly dollars: bigint };

/** Ben's first payment until it was used up: at midnight the disk is charged last, before Ben pays in more. */
export const SPENT_BY_BEN: Limit = {
  what: "Ben's first money",
  from: "2026-03-01T00:00:00Z",
  until: "2026-03-14T00:00:00Z",
  dollars: 40n,
};
/** The day on which the cap of the Lab stopped its instance: what is charged at midnight counts as the next day's. */
export const CAPPED_DAY: Limit = {
  what: "the cap of the Lab",
  from: "2026-03-06T00:00:00Z",
  until: "2026-03-06T23:59:59Z",
  dollars: 15n,
};

/** Checks that charges are paid until the limit is used up, and that exactly the rest of the cost stays unpaid. */
export async function assertUsedUp(month: Month, rental: Rental, { what, from, until, dollars }: Limit): Promise<void> {
  const lines = (await linesOf(month, "instance_id", rental.id)).filter(
    ({ charged_at: at }) => new Date(from) <= at && at <= new Date(until),
  );
  const sum = (of: "amount" | "unpaid") => lines.reduce((total, line) => total + line[of], 0n);
  let cost = 0n;
  for (const component of COMPONENTS) {
    const own = lines.filter((line) => line.component === component);
    const [fromMs, untilMs] = [own.at(0)?.from_at.getTime() ?? 0, own.at(-1)?.to_at.getTime() ?? 0];
    const { above, below } = rentalCost(rental, component, month.outages, { fromMs, untilMs });
    cost += above / below;
  }
  const limit = dollars * 1_000_000_000n;
  const unpaid = cost > limit ? cost - limit : 0n;
  const missing = unpaid - sum("unpaid");
  const report = `${what}: ${sum("amount")} was paid and ${sum("unpaid")} was not, and it cost ${cost}`;
  assert.ok(missing >= 0n && missing <= BigInt(lines.length), report);
  if (unpaid > 0n) assert.equal(sum("amount"), limit, report);
}

export async function assertRefund(month: Month): Promise<void> {
  const rental = month.rentals.find(({ reserved }) => reserved !== undefined);
  assert.ok(rental?.reserved);
  const { discountPpm, dollars } = rental.reserved;
  const sum = (where: string) =>
    numberOf(month, `select sum(amount_nanos) as sum from ledger_transfers where ${where}`, [rental.id]);
  const used = await numberOf(
    month,
    "select sum(amount_nanos) as sum from charge_lines where instance_id = $1 and paid_from = 'deposit'",
    [rental.id],
  );
  const credited = await sum("code = 'host_credit' and cause ->> 'instance_id' = $1");
  const left = BigInt(dollars) * 1_000_000_000n - used + credited;
  // The saving: the used time would have cost this much more without the discount.
  const saved = (used * BigInt(discountPpm)) / BigInt(1_000_000 - discountPpm);
  const refunded = await sum("code = 'refund' and cause ->> 'instance_id' = $1");
  const expected = left - saved - (saved * 5n) / 100n;
  const distance = refunded > expected ? refunded - expected : expected - refunded;
  assert.ok(distance < 1_000n, `${formatDollars(refunded)} instead of ${formatDollars(expected)} came back`);
}

/** Checks that a host's earnings are its renters' payments, and lie with the host, with the house, or on their way. */
export async function assertEarned(month: Month, host: Person): Promise<void> {
  const paid = await numberOf(month, "select sum(amount_nanos) as sum from charge_lines where host_id = $1", [host.id]);
  const moved = (side: "debit" | "credit", where: string) =>
    numberOf(
      month,
      `select sum(t.amount_nanos) as sum from ledger_transfers t join ledger_accounts a on a.id = t.${side}_account_id
       where a.user_id = $1 and a.kind = 'earnings' and ${where}`,
      [host.id],
    );
  const forEnding = await moved("credit", "t.key like 'deposit:%'");
  const givenBack = await moved("debit", "t.code = 'host_credit'");
  // A release of granted credit leaves the earnings and comes back as cash.
  assert.equal(await moved("credit", "t.code <> 'grant_released'"), paid + forEnding);
  const [fees, payouts] = [await moved("debit", "t.code = 'fee'"), await moved("debit", "t.code = 'payout'")];
  const balance = await numberOf(
    month,
    "select balance_nanos as sum from ledger_accounts where user_id = $1 and kind = 'earnings'",
    [host.id],
  );
  assert.equal(fees + payouts + balance, paid + forEnding - givenBack);
  const { payouts: shown } = await month.world.done(host, "GET", "/v0/billing/payouts/");
  assert.ok(shown.length >= 2);
  const sum = (field: "amount" | "fee" | "earned") =>
    shown.reduce((total: bigint, payout: Record<string, number>) => total + nanosIn(payout[field]), 0n);
  assert.deepEqual([sum("amount"), sum("fee")], [payouts, fees]);
  const exactFees = sum("earned") * BigInt(FEE_PERCENT);
  assert.ok(exactFees - fees * 100n >= 0n && exactFees - fees * 100n < BigInt(shown.length) * 100n);
}

/** The statement of March says what the ledger says; months of which not all is over have none. */
export async function assertStated(month: Month, host: Person): Promise<void> {
  const { world } = month;
  const { results } = await world.done(host, "GET", "/v0/billing/documents/?kind=statement");
  assert.equal(results.length, 1);
  const { statement } = await world.done(host, "GET", `/v0/billing/documents/${results[0].number}/`);
  const inMarch = (what: string) =>
    numberOf(
      month,
      `select sum(case when t.credit_account_id = a.id then t.amount_nanos else -t.amount_nanos end) as sum
       from ledger_accounts a join ledger_transfers t on a.id in (t.debit_account_id, t.credit_account_id)
       where a.user_id = $1 and a.kind = 'earnings' and t.created_at < '2026-04-01T00:00:00Z' and ${what}`,
      [host.id],
    );
  assert.equal(parseDollars(statement.opening_exact), 0n);
  assert.equal(parseDollars(statement.closing_exact), await inMarch("true"));
  assert.equal(
    parseDollars(statement.earned_exact),
    await inMarch("(t.code like 'usage_%' or t.code = 'host_credit')"),
  );
  assert.equal(-(parseDollars(statement.fee.total_exact) ?? 0n), await inMarch("t.code = 'fee'"));
}

/** Checks that refunds by hosts have credit notes of the invoice, with their amounts. */
export async function assertCredited(month: Month, person: Person): Promise<void> {
  const { world } = month;
  const given = await numberOf(
    month,
    `select coalesce(sum(t.amount_nanos), 0) as sum from ledger_accounts a
     join ledger_transfers t on t.credit_account_id = a.id
     where a.user_id = $1 and t.code = 'host_credit' and t.amount_nanos >= 5000000`,
    [person.id],
  );
  const { results } = await world.done(person, "GET", "/v0/billing/documents/?kind=credit_note");
  let credited = 0n;
  for (const { number } of results) {
    const { credit_note: note } = await world.done(person, "GET", `/v0/billing/documents/${number}/`);
    credited -= parseDollars(note.amount_exact) ?? 0n;
  }
  assert.equal(credited, given);
}

function nanosIn(dollars: number | undefined): bigint {
  return parseDollars(dollars ?? Number.NaN) ?? 0n;
}

export async function assertShown(month: Month, person: Person): Promise<void> {
  const { world } = month;
  const exact = await numberOf(
    month,
    `select sum(amount_nanos) as sum from charge_lines
     where payer_id = $1 and charged_at >= '2026-03-01T00:00:00Z' and charged_at < '2026-04-01T00:00:00Z'`,
    [person.id],
  );
  assert.ok(exact > 0n);
  const { results } = await world.done(person, "GET", "/v0/invoice_documents/");
  const [summary, ...others] = results;
  assert.deepEqual(others, []);
  const invoice = await world.done(person, "GET", `/v0/invoice_documents/${summary.number}/`);
  const earlyEnds = await numberOf(
    month,
    `select coalesce(sum(t.amount_nanos), 0) as sum from ledger_accounts a
     join ledger_transfers t on t.debit_account_id = a.id
     where a.user_id = $1 and a.kind like 'deposit:%' and t.created_at < '2026-04-01T00:00:00Z'
       and (t.code = 'fee' or (t.code = 'usage_gpu' and t.key like 'deposit:%'))`,
    [person.id],
  );
  const carried = await numberOf(
    month,
    `select coalesce(sum(div(amount_nanos * (extract(epoch from '2026-04-01T00:00:00Z' - from_at) * 1000)::bigint::numeric,
       (extract(epoch from to_at - from_at) * 1000)::bigint::numeric)), 0) as sum
     from charge_lines where payer_id = $1 and from_at < '2026-04-01T00:00:00Z'
       and charged_at >= '2026-04-01T00:00:00Z' and charged_at < '2026-04-02T06:00:00Z'`,
    [person.id],
  );
  assert.equal(centsOf(invoice.total), inCents(exact + carried + earlyEnds), "what happened in March, and early ends");
  assertNaively(month, person, invoice.lines);
  assert.equal(invoice.balance.opening, 0, "nobody had anything before");
  assert.equal(addUp(invoice.lines.map((line: { amount: number }) => line.amount)), centsOf(invoice.total));

  const days = encodeURIComponent(JSON.stringify({ day: { gte: MONTH.from, lte: MONTH.to } }));
  const charges = await world.done(person, "GET", `/v0/charges/?limit=500&select_filters=${days}`);
  assert.equal(parseDollars(charges.total_amount), exact);
  const inRows = charges.results.reduce(
    (sum: bigint, row: { amount_exact: string }) => sum + (parseDollars(row.amount_exact) ?? 0n),
    0n,
  );
  assert.equal(inRows, exact);

  const { text: csv } = await world.call({
    url: `/api/v0/charges/export/?from=${MONTH.from}&to=${MONTH.to}`,
    secret: person.secret,
  });
  const [titles = "", ...records] = csv.trimEnd().split("\r\n");
  const column = titles.split(",").indexOf("amount_usd");
  assert.equal(
    records.reduce((sum, record) => sum + (parseDollars(record.split(",")[column] ?? "") ?? 0n), 0n),
    exact,
  );
  await assertReported(month, person);
  await assertPrinted(month, person, invoice);
}

type Invoiced = {
  readonly source: string;
  readonly type: string;
  readonly amount: number;
  readonly unpaid: string;
  readonly description: string;
};

/** Checks that time on the invoice is the cost of the seconds of March, to the cent, without any before or after. */
function assertNaively({ rentals, outages }: Month, person: Person, lines: readonly Invoiced[]): void {
  const march = { fromMs: Date.parse("2026-03-01T00:00:00Z"), untilMs: Date.parse("2026-04-01T00:00:00Z") };
  for (const rental of rentals.filter(({ payer }) => payer.id === person.id)) {
    for (const [component, types] of [
      ["gpu", ["gpu", "discount"]],
      ["disk", ["disk"]],
    ] as const) {
      const own = lines.filter(
        ({ source, type }) => source === `instance-${rental.id}` && types.some((wanted) => wanted === type),
      );
      const { above, below } = rentalCost(rental, component, outages, march);
      const shown = own.reduce(
        (sum, { amount, unpaid }) => sum + centsOf(amount) * CENT + (parseDollars(Number(unpaid)) ?? 0n),
        0n,
      );
      const off = shown - above / below;
      assert.ok(off <= CENT && off >= -CENT, `${component} of ${rental.label}: ${shown}, and it cost ${above / below}`);
    }
  }
}

/** The report has the usage that credit paid; with the movements of money it makes the credit that was left. */
async function assertReported(month: Month, person: Person): Promise<void> {
  const { world } = month;
  const fromCredit = await numberOf(
    month,
    `select sum(amount_nanos) as sum from charge_lines where payer_id = $1 and paid_from = 'credit'
       and charged_at < '2026-04-01T00:00:00Z'`,
    [person.id],
  );
  const period = `sdate=${MONTH.from}&edate=${MONTH.to}`;
  const report = await world.done(person, "GET", `/v0/users/me/invoices/?inc_charges=true&no_payouts=true&${period}`);
  type Reported = { readonly type: string; readonly amount: number };
  const used: readonly Reported[] = report.invoices.filter(({ type }: Reported) => type === "charge");
  assert.equal(
    used.reduce((sum, { amount }) => sum + nanosIn(amount), 0n),
    fromCredit,
  );
  const when = { gte: Date.parse("2026-03-01T00:00:00Z") / 1000, lte: Date.parse("2026-04-01T00:00:00Z") / 1000 - 1 };
  const filters = encodeURIComponent(JSON.stringify({ when }));
  const movements = await world.done(person, "GET", `/v1/invoices/?limit=500&select_filters=${filters}`);
  type Moved = {
    readonly amount_exact: string;
    readonly metadata: { readonly direction: "in" | "out"; readonly paid_from?: string };
  };
  // Money that leaves a deposit left the credit when it was prepaid.
  const ofCredit = movements.results.filter(({ metadata }: Moved) => metadata.paid_from !== "deposit");
  const moved: bigint = ofCredit.reduce((sum: bigint, { amount_exact: amount, metadata: { direction } }: Moved) => {
    const size = parseDollars(amount.replace("-", "")) ?? 0n;
    return direction === "in" ? sum + size : sum - size;
  }, 0n);
  const left = await numberOf(
    month,
    `select sum(case when t.credit_account_id = a.id then t.amount_nanos else -t.amount_nanos end) as sum
     from ledger_accounts a join ledger_transfers t on a.id in (t.debit_account_id, t.credit_account_id)
     where a.user_id = $1 and a.kind = 'credit' and t.created_at < '2026-04-01T00:00:00Z'`,
    [person.id],
  );
  assert.equal(moved - fromCredit, left);
}

type Printed = {
  readonly number: string;
  readonly total: number;
  readonly lines: readonly { readonly amount: number }[];
};

/** Checks that page and PDF have the lines and the total of the invoice. */
async function assertPrinted({ world }: Month, { secret }: Person, { number, total, lines }: Printed): Promise<void> {
  const url = `/api/v0/invoice_documents/${number}`;
  const page = await world.call({ url: `${url}/page/`, secret });
  const pdf = await world.call({ url: `${url}/pdf/`, secret });
  const texts = [page.text, (await readPdf(pdf.bytes)).join("\n")];
  for (const text of texts) {
    const amounts = [...text.matchAll(/(?<![\d.,-])-?\d{1,3}(?:,\d{3})*\.\d\d(?![\d.%])/g)].map(([amount]) => amount);
    for (const amount of [total, ...lines.map((line) => line.amount)]) {
      const place = amounts.indexOf(amount.toLocaleString("en", { minimumFractionDigits: 2 }));
      assert.ok(place >= 0, `${amount} is missing`);
      amounts.splice(place, 1);
    }
  }
}
