// `./berth month [--out FOLDER]`: plays the month of month.ts and tells it: what happened, what it cost, what is on the
// invoices, who was paid, and what an audit finds. Into the folder go the invoices as pages and PDFs.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { formatDollars, parseDollars } from "../../../server/src/base/money.ts";
import { table } from "../../../bench/support/figures.ts";
import { readPdf } from "../../support/money/pdf-text.ts";
import type { Month } from "./actions.ts";
import { MONTH, playMonth } from "./month.ts";
import type { Entry, Person } from "./world.ts";

type Item = { readonly type: string; readonly amount_exact: string };
type Row = {
  readonly source: string;
  readonly metadata: { readonly label?: string | null };
  readonly items: readonly Item[];
};

const COLUMNS = ["gpu", "disk", "bwd", "bwu"] as const;
const TITLES = ["", "GPU", "disk", "received", "sent", "together"];

const { values } = parseArgs({ options: { out: { type: "string" } } });
const hooks: (() => unknown)[] = [];
try {
  await tellMonth(await playMonth({ after: (hook) => void hooks.push(hook as () => unknown) }), values.out);
} finally {
  for (const hook of hooks) await hook();
}

async function tellMonth(month: Month, folder: string | undefined): Promise<void> {
  const { people, audits } = month;
  console.log(storyOf(month.world.story));
  for (const person of [people.ada, people.ben, people.dora, people.lab]) {
    console.log(`\n\n${person.name.toUpperCase()}\n`);
    console.log(await chargesOf(month, person));
    console.log(await invoiceOf(month, person, folder));
  }
  console.log("\n\nHOSTS\n");
  console.log(await payoutsOf(month));
  const differences = audits.reduce((sum, audit) => sum + audit.differences.length, 0);
  console.log(`\n\nAUDIT\n\n${audits.length} full audits, ${differences} rows that differ.`);
  if (differences > 0) process.exitCode = 1;
}

/** A line for each thing that happened; the day only where it begins. */
function storyOf(story: readonly Entry[]): string {
  const width = Math.max(...story.map(({ who }) => who.length));
  let day = "";
  return story
    .map(({ at, who, what }) => {
      const date = at.toLocaleDateString("en-GB", {
        weekday: "short",
        day: "2-digit",
        month: "short",
        timeZone: "UTC",
      });
      const isSame = date === day;
      day = date;
      const time = at.toISOString().slice(11, 16);
      return `${isSame ? "" : "\n"}${(isSame ? "" : date).padEnd(12)}${time}  ${who.padEnd(width)}  ${what}`;
    })
    .join("\n")
    .trimStart();
}

async function chargesOf({ world }: Month, person: Person): Promise<string> {
  const days = encodeURIComponent(JSON.stringify({ day: { gte: MONTH.from, lte: MONTH.to } }));
  const { results, total_amount: total } = await world.done(
    person,
    "GET",
    `/v0/charges/?limit=500&latest_first=false&select_filters=${days}`,
  );
  const rows: readonly Row[] = results;
  const lines = [...Map.groupBy(rows, rowName)].map(([name, own]) => {
    const sums = COLUMNS.map((type) => sumOf(own.flatMap(({ items }) => items.filter((item) => item.type === type))));
    return [name, ...sums.map(formatDollars), formatDollars(sums.reduce((sum, one) => sum + one, 0n))];
  });
  return `${table([TITLES, ...lines])}\n\nCharges of March: $${total}`;
}

function rowName({ source, metadata: { label } }: Row): string {
  return label === undefined || label === null ? source : `${source} (${label})`;
}

function sumOf(items: readonly Item[]): bigint {
  return items.reduce((sum, { amount_exact: text }) => sum + (parseDollars(text) ?? 0n), 0n);
}

async function invoiceOf({ world }: Month, { name, secret }: Person, folder: string | undefined): Promise<string> {
  const { results } = await world.done({ secret }, "GET", "/v0/invoice_documents/");
  const url = `/v0/invoice_documents/${results[0].number}`;
  const invoice = await world.done({ secret }, "GET", `${url}/`);
  const pdf = await world.call({ url: `/api${url}/pdf/`, secret });
  const words = (await readPdf(pdf.bytes)).join("\n");
  if (folder !== undefined) {
    const page = await world.call({ url: `/api${url}/page/`, secret });
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, `${name.toLowerCase()}.pdf`), pdf.bytes);
    await writeFile(path.join(folder, `${name.toLowerCase()}.html`), page.text);
  }
  const { balance } = invoice;
  const moved = balance.entries.map(({ label, amount }: { label: string; amount: number }) => [label, dollars(amount)]);
  return [
    `Invoice ${invoice.number}:  $${dollars(invoice.total)}`,
    `Its PDF:              ${/Total[^\d]*([\d,]+\.\d\d)/.exec(words)?.[1] ?? "has no total"}`,
    "",
    table([
      ["Opening balance", dollars(balance.opening)],
      ...moved,
      ["Usage of this invoice", dollars(-balance.usage)],
      ...(balance.rounding === 0 ? [] : [["Fractions of a cent carried on", dollars(balance.rounding)]]),
      ["Closing balance", dollars(balance.closing)],
    ]),
  ].join("\n");
}

async function payoutsOf({ world, people }: Month): Promise<string> {
  const rows = [["", "invoiced", "earned", "fee", "paid out", "state"]];
  for (const host of [people.harbour, people.northlight]) {
    const { payouts } = await world.done(host, "GET", "/v0/billing/payouts/");
    for (const { invoiced_at: at, earned, fee, amount, state } of payouts.toReversed()) {
      const day = new Date(at * 1000).toISOString().slice(0, 10);
      rows.push([host.name, day, String(earned), String(fee), dollars(amount), state]);
    }
  }
  return table(rows);
}

function dollars(amount: number): string {
  return amount.toLocaleString("en", { minimumFractionDigits: 2 });
}
