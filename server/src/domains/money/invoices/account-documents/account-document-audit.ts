// Compares receipts and credit notes with their movements, and statements with the ledger.
import { canonical } from "../../../../base/facts.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listMovementsOf, type PostedMovement } from "../../ledger/for-invoices.ts";
import type { WrongDocument } from "../documents/document-audit.ts";
import { UNNAMED_SELLER } from "../seller.ts";
import { ppmOf } from "../rules/tax.ts";
import { listBrokenAccountSequences } from "./account-document-audit-store.ts";
import { accountDocumentText, listAccountDocumentsSince } from "./account-document-store.ts";
import type { AccountDocument, AccountDocumentKind, CreditNote, Receipt, Statement } from "./rules/account-document.ts";
import { CREDIT_NOTE_CODES, creditedAmounts, creditFactsOf } from "./rules/credit-note.ts";
import { amountsOf, RECEIPT_CODES, receiptFactsOf } from "./rules/receipt.ts";
import { listMissingDocuments } from "./missing-documents.ts";
import { readStatementFacts } from "./statement-service.ts";
import { makeStatement, type StatementContent } from "./rules/statement.ts";

const PER_PAGE = 200;

type AccountDocumentAudit = { readonly examined: number; readonly wrong: readonly WrongDocument[] };

/** Checks documents issued since a moment: their figures and their numbers, and whether documents are missing. */
export async function listWrongAccountDocuments(db: Reader, since: Date | undefined): Promise<AccountDocumentAudit> {
  const wrong: WrongDocument[] = (await listBrokenAccountSequences(db, since)).map(
    ({ name, storedCount, lastSequence }) => ({
      subject: name,
      problem: "a number of them is missing, or there is one too many",
      stored: String(storedCount),
      expected: String(lastSequence),
    }),
  );
  let examined = 0;
  for (const kind of ["receipt", "statement", "credit_note"] as const) {
    for await (const page of pagesOf(db, kind, since)) {
      examined += page.length;
      wrong.push(...(await wrongAbout(db, page)));
      for (const document of page)
        if (document.kind === "statement") wrong.push(...(await wrongStatement(db, document)));
    }
  }
  wrong.push(...(await listMissingDocuments(db, since)));
  return { examined, wrong };
}

/** The full texts of documents of a kind issued since a moment, by their numbers, as their facts digest them. */
export async function listAccountDocumentTexts(
  db: Reader,
  kind: AccountDocumentKind,
  since: Date | undefined,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for await (const page of pagesOf(db, kind, since)) {
    for (const document of page) texts.set(document.number, accountDocumentText(document));
  }
  return texts;
}

async function* pagesOf(db: Reader, kind: AccountDocumentKind, since: Date | undefined) {
  for (let after = ""; ;) {
    const page = await listAccountDocumentsSince(db, kind, { since, after, limit: PER_PAGE });
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PER_PAGE) return;
    after = last.number;
  }
}

/** Checks documents that are about one movement each. */
async function wrongAbout(db: Reader, documents: readonly AccountDocument[]): Promise<readonly WrongDocument[]> {
  const about = documents.filter((one): one is Receipt | CreditNote => one.kind !== "statement");
  const movements = await listMovementsOf(
    db,
    [...RECEIPT_CODES, ...CREDIT_NOTE_CODES],
    about.flatMap(({ transferId }) => transferId ?? []),
  );
  return about.flatMap((document) => {
    const movement = movements.get(document.transferId ?? 0n);
    const says = movement && saysOf(document, movement);
    if (says === undefined) {
      const transfer = String(document.transferId);
      return [wrongOf(document, "there is no movement that it is about", transfer, "a movement of its user")];
    }
    const [stored, expected] = [canonical(says.stored), canonical(says.expected)];
    return stored === expected ? [] : [wrongOf(document, "it is not what its transfer says", stored, expected)];
  });
}

/** The figures of a document, and those that it would have today; undefined when it would not be issued. */
function saysOf(document: Receipt | CreditNote, movement: PostedMovement) {
  const { userId } = document;
  if (document.kind === "receipt") {
    const facts = receiptFactsOf(movement);
    if (facts === undefined) return undefined;
    const { event, total_cents, amount_nanos, paid_at_ms, payment_id, transfer_id } = document.content;
    return {
      stored: { user: userId, event, total_cents, amount_nanos, paid_at_ms, payment_id, transfer_id },
      expected: { user: facts.userId, ...amountsOf(movement, facts) },
    };
  }
  const facts = creditFactsOf(movement);
  if (facts === undefined) return undefined;
  const { amount_nanos, net_cents, tax, total_cents } = document.content;
  return {
    stored: { user: userId, amount_nanos, net_cents, tax, total_cents },
    expected: { user: facts.userId, ...creditedAmounts(facts.amount, tax) },
  };
}

/** Compares a statement with its month, which does not change once it is over. */
async function wrongStatement(db: Reader, statement: Statement): Promise<readonly WrongDocument[]> {
  const { userId, month, content } = statement;
  invariant(month !== undefined, `statement ${statement.number} has a month`);
  const seller = { ...UNNAMED_SELLER, taxPpm: content.fee === null ? 0 : ppmOf(content.fee.tax.percent) };
  const facts = await readStatementFacts(db, { seller, userId, month, now: statement.issuedAt });
  const expected = figuresOf(makeStatement({ ...facts, user: undefined }));
  const stored = figuresOf(content);
  return Object.keys({ ...expected, ...stored }).flatMap((name) =>
    stored[name] === expected[name]
      ? []
      : [wrongOf(statement, `its ${name} is not that of its month`, stored[name] ?? "none", expected[name] ?? "none")],
  );
}

/** The figures of a statement, which must stay right forever. Names and waiting parts are those of its day. */
function figuresOf(content: StatementContent): Readonly<Record<string, string>> {
  const { fee, earned_cents: earned, movements } = content;
  const line = (one: { readonly amount_cents: number; readonly amount_nanos: string }) =>
    `${one.amount_cents} (${one.amount_nanos})`;
  return {
    ...Object.fromEntries(content.lines.map((one) => [`${one.kind} of machine ${one.machine_id ?? "-"}`, line(one)])),
    ...Object.fromEntries(movements.map((one, index) => [`movement ${index + 1}`, `${one.code} ${line(one)}`])),
    earned: `${earned} (${content.earned_nanos})`,
    fee:
      fee === null ? "none" : `${fee.net_cents} + ${fee.tax.amount_cents} = ${fee.total_cents} (${fee.amount_nanos})`,
    opening: `${content.opening_cents} (${content.opening_nanos})`,
    rounding: String(content.rounding_cents),
    closing: `${content.closing_cents} (${content.closing_nanos})`,
    total: String(content.total_cents),
  };
}

function wrongOf({ kind, number }: AccountDocument, problem: string, stored: string, expected: string): WrongDocument {
  return { subject: `${kind.replace("_", " ")} ${number}`, problem, stored, expected };
}
