import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { PostedMovement } from "../../ledger/for-invoices.ts";
import { listContractSums } from "../../charging/for-invoices.ts";
import { monthAfter, monthStart } from "../month.ts";
import { findDocument, listDocuments, readDocumentClock } from "../documents/document-store.ts";
import {
  correctedLine,
  CREDIT_NOTE_CODES,
  creditFactsOf,
  makeCreditNote,
  type CorrectedLine,
  type CreditFacts,
} from "./rules/credit-note.ts";
import { issueByMovement, type IssueMeans } from "./issue-by-movement.ts";

type Run = { readonly userId: UserId; readonly instanceId: number };

/**
 * The invoice and line that a credit note is about. `none`: no invoice of the user has it. The result for running time
 * is final once it is not `later`.
 */
export async function findCorrected(
  db: Reader,
  movement: PostedMovement,
  { userId, about, amount }: CreditFacts,
): Promise<CorrectedLine | "later" | "none"> {
  if (about.kind === "invoice") {
    const invoice = await findDocument(db, userId, about.number);
    if (invoice === undefined) return "none";
    const isThere = about.line !== undefined && about.line <= invoice.content.lines.length;
    return { invoice, index: isThere ? (about.line ?? 0) - 1 : undefined };
  }
  const run = { userId, instanceId: about.instanceId };
  const isOfMonth = await isChargedBefore(db, movement, run);
  const { nextFrom } = await readDocumentClock(db);
  const before = isOfMonth ? monthAfter(movement.createdAt) : monthStart(movement.createdAt);
  if (nextFrom === undefined || nextFrom < before) return "later";
  const invoices = await listDocuments(db, userId, { before, limit: INVOICES_BACK });
  // Usage from before charge lines existed is on no invoice.
  return correctedLine({ instanceId: about.instanceId, amount }, invoices) ?? "none";
}

/**
 * True when running time of the instance was charged in the month of the credit before it, and may be on that month's
 * invoice.
 */
async function isChargedBefore(
  db: Reader,
  { createdAt }: PostedMovement,
  { userId, instanceId }: Run,
): Promise<boolean> {
  const span = { payerId: userId, from: monthStart(createdAt), until: new Date(createdAt.getTime() + 1) };
  const charged = await listContractSums(db, span);
  return charged.some((sum) => sum.component === "gpu" && sum.instanceId === instanceId);
}

/** Number of invoices, newest first, that are searched for the running time, which was charged before the credit. */
const INVOICES_BACK = 3;

/**
 * Issues a credit note for each credit for usage on an invoice, once the invoice of the month is issued and can be
 * referred to. Returns the number issued.
 */
export async function issueCreditNotes(means: IssueMeans): Promise<number> {
  return issueByMovement(means, {
    kind: "credit_note",
    codes: CREDIT_NOTE_CODES,
    draft: async (tx, movement) => {
      const facts = creditFactsOf(movement);
      if (facts === undefined) return "none";
      const corrected = await findCorrected(tx.db, movement, facts);
      if (corrected === "later" || corrected === "none") return corrected;
      const content = makeCreditNote(movement, facts, corrected);
      const { userId } = facts;
      const refersTo = corrected.invoice.number;
      return { kind: "credit_note", userId, month: undefined, transferId: movement.id, refersTo, content };
    },
  });
}
