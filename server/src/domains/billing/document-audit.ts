// Invoices as they were issued, beside what they would say today: a month that is over does not change any more.
import { invariant } from "../../base/invariant.ts";
import { parseDollars } from "../../base/money.ts";
import type { Reader } from "../../db/transaction.ts";
import { readFacts } from "./document-service.ts";
import { listBrokenSequences, listIssuedSince, type InvoiceDocument } from "./document-store.ts";
import { makeContent, type DocumentContent, type DocumentLine } from "./document.ts";
import { UNNAMED_SELLER } from "./seller.ts";

const DOCUMENTS_PER_PAGE = 200;
/** Nano-dollars as a percentage is read as dollars, to millionths. */
const NANOS_PER_PPM = 100_000n;

/** Something that an invoice says, or a sequence of them has, and that is not so. */
export type WrongDocument = {
  readonly subject: string;
  readonly problem: string;
  readonly stored: string;
  readonly expected: string;
};

/** Of invoices issued since a moment: what they say in amounts, and whether their numbers are all there. */
export async function listWrongDocuments(
  db: Reader,
  since: Date | undefined,
): Promise<{ readonly examined: number; readonly wrong: readonly WrongDocument[] }> {
  const wrong: WrongDocument[] = (await listBrokenSequences(db, since)).map(({ name, storedCount, lastSequence }) => ({
    subject: `invoices ${name}`,
    problem: "a number of them is missing, or there is one too many",
    stored: String(storedCount),
    expected: String(lastSequence),
  }));
  let examined = 0;
  for (let after = ""; ;) {
    const page = await listIssuedSince(db, { since, after, limit: DOCUMENTS_PER_PAGE });
    for (const document of page) wrong.push(...(await differencesOf(db, document)));
    examined += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < DOCUMENTS_PER_PAGE) return { examined, wrong };
    after = last.number;
  }
}

async function differencesOf(db: Reader, document: InvoiceDocument): Promise<readonly WrongDocument[]> {
  const { number, userId, content } = document;
  const percent = parseDollars(Number(content.tax.percent));
  invariant(percent !== undefined, `invoice ${number} has no percentage of tax`);
  const seller = { ...UNNAMED_SELLER, taxPpm: Number(percent / NANOS_PER_PPM) };
  const expected = amountsIn(makeContent(await readFacts(db, seller, userId, document)));
  const stored = amountsIn(content);
  return Object.keys({ ...stored, ...expected }).flatMap((name) =>
    stored[name] === expected[name]
      ? []
      : [
          {
            subject: `invoice ${number}`,
            problem: `its ${name} is not that of its month`,
            stored: stored[name] ?? "none",
            expected: expected[name] ?? "none",
          },
        ],
  );
}

/**
 * Names and addresses are those of its day, and so are its words: a release that calls something otherwise makes no old
 * invoice wrong. Amounts must be right for ever.
 */
function amountsIn({ lines, balance, ...content }: DocumentContent): Readonly<Record<string, string>> {
  const { opening_nanos: opening, closing_nanos: closing, usage_cents: usage, rounding_cents: rounding } = balance;
  return {
    ...Object.fromEntries(lines.map((line) => [`${line.component} of ${line.source}`, amountsOf(line)])),
    ...Object.fromEntries(
      balance.entries.map(({ amount_cents: cents }, index) => [`movement ${index + 1}`, String(cents)]),
    ),
    net: String(content.net_cents),
    tax: String(content.tax.amount_cents),
    total: String(content.total_cents),
    opening: `${balance.opening_cents} ${opening}`,
    closing: `${balance.closing_cents} ${closing}`,
    usage: String(usage),
    rounding: String(rounding),
  };
}

function amountsOf(line: DocumentLine): string {
  const { from_ms: from, to_ms: to, quantity, rate, amount_cents: cents, unpaid } = line;
  return `${quantity} at ${rate} from ${from} to ${to}: ${cents}, ${unpaid} unpaid`;
}
