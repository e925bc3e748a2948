// Compares issued invoices with what they would state today: a finished month does not change any more.
import type { Reader } from "../../../../db/transaction.ts";
import { firstMovementAt, listCreditHolders } from "../../ledger/for-invoices.ts";
import { listDue, needsInvoice, readFacts, readFactsToIssue } from "./document-service.ts";
import type { DocumentLine } from "./rules/document-lines.ts";
import {
  documentText,
  listBrokenSequences,
  listIssuedSince,
  readDocumentClock,
  type InvoiceDocument,
} from "./document-store.ts";
import { makeContent, type DocumentContent } from "./rules/document.ts";
import { monthAfter, monthsToAudit } from "../month.ts";
import { UNNAMED_SELLER } from "../seller.ts";
import { ppmOf } from "../rules/tax.ts";

const DOCUMENTS_PER_PAGE = 200;
const USERS_AT_ONCE = 1_000;

/** An invoice or a number sequence with a value that is wrong. */
export type WrongDocument = {
  readonly subject: string;
  readonly problem: string;
  readonly stored: string;
  readonly expected: string;
};

/** Checks invoices issued since a moment: their amounts and their numbers, and whether invoices are missing. */
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
    if (last === undefined || page.length < DOCUMENTS_PER_PAGE) break;
    after = last.number;
  }
  return { examined, wrong: [...wrong, ...(await listWithoutInvoice(db, since))] };
}

/** Users with usage or movements in a finished month, and without an invoice of it. */
async function listWithoutInvoice(db: Reader, since: Date | undefined): Promise<readonly WrongDocument[]> {
  const { nextFrom } = await readDocumentClock(db);
  const wrong: WrongDocument[] = [];
  for (const from of monthsToAudit({ since, doneUntil: nextFrom, firstAt: await firstMovementAt(db) })) {
    const month = { from, until: monthAfter(from) };
    for (let after = 0; ;) {
      const holders = await listCreditHolders(db, after, USERS_AT_ONCE);
      for (const userId of await listDue(db, holders, month)) {
        const { facts } = await readFactsToIssue(db, { seller: UNNAMED_SELLER, userId, month });
        if (!needsInvoice(facts)) continue;
        const subject = `invoice of user ${userId} for ${from.toISOString().slice(0, 7)}`;
        wrong.push({
          subject,
          problem: "it is missing",
          stored: "none",
          expected: "one: there was usage or a movement",
        });
      }
      const last = holders.at(-1);
      if (last === undefined || holders.length < USERS_AT_ONCE) break;
      after = last;
    }
  }
  return wrong;
}

/** The full texts of invoices issued since a moment, by their numbers, as their facts digest them. */
export async function listIssuedTexts(db: Reader, since: Date | undefined): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (let after = ""; ;) {
    const page = await listIssuedSince(db, { since, after, limit: DOCUMENTS_PER_PAGE });
    for (const document of page) texts.set(document.number, documentText(document));
    const last = page.at(-1);
    if (last === undefined || page.length < DOCUMENTS_PER_PAGE) return texts;
    after = last.number;
  }
}

async function differencesOf(db: Reader, document: InvoiceDocument): Promise<readonly WrongDocument[]> {
  const { number, userId, content } = document;
  const seller = { ...UNNAMED_SELLER, taxPpm: ppmOf(content.tax.percent) };
  const edition = content.edition ?? 1;
  const facts = await readFacts(db, { seller, userId, month: document, edition });
  const expected = amountsIn(makeContent(facts, edition));
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
 * The amounts of an invoice, which must stay right forever. Names, addresses and words are those of its day, so that a
 * release with other words makes no old invoice wrong.
 */
function amountsIn({ lines, balance, ...content }: DocumentContent): Readonly<Record<string, string>> {
  const { opening_nanos: opening, closing_nanos: closing, usage_cents: usage, rounding_cents: rounding } = balance;
  return {
    ...Object.fromEntries(lines.map((line) => [nameOf(line), amountsOf(line)])),
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

function nameOf({ component, source, is_late: isLate, from_ms: from }: DocumentLine): string {
  return `${component} of ${source}${isLate === true ? ` late from ${from}` : ""}`;
}

function amountsOf(line: DocumentLine): string {
  const { from_ms: from, to_ms: to, quantity, rate, amount_cents: cents, unpaid } = line;
  return `${quantity} at ${rate} from ${from} to ${to}: ${cents}, ${unpaid} unpaid`;
}
