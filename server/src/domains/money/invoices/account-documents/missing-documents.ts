// Documents that must exist by now. The ledger decides which, never the documents themselves.
import { formatDollars } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import {
  firstMovementAt,
  listEarnersAmong,
  listEarningsHolders,
  listPostedMovements,
  type MovementCode,
  type PostedMovement,
} from "../../ledger/for-invoices.ts";
import type { WrongDocument } from "../documents/document-audit.ts";
import { monthAfter, monthsToAudit } from "../month.ts";
import { listDocumentedAmong, listStatedAmong, readKindClock } from "./account-document-store.ts";
import { CREDIT_NOTE_CODES, creditFactsOf } from "./rules/credit-note.ts";
import { findCorrected } from "./credit-note-service.ts";
import { RECEIPT_CODES, receiptFactsOf } from "./rules/receipt.ts";

const PER_PAGE = 200;
const HOSTS_AT_ONCE = 1_000;
const DAY_MS = 86_400_000;

type Kind = {
  readonly kind: "receipt" | "credit_note";
  readonly codes: readonly MovementCode[];
  readonly mayNeedOne: (movement: PostedMovement) => boolean;
  /** True when a movement without a document needs one. */
  readonly needsOne: (db: Reader, movement: PostedMovement) => Promise<boolean>;
  /** Longest time before a checkpoint in which movements may have got their documents after it. */
  readonly lookBackMs: number;
};

const RECEIPTS: Kind = {
  kind: "receipt",
  codes: RECEIPT_CODES,
  mayNeedOne: (movement) => receiptFactsOf(movement) !== undefined,
  needsOne: async () => true,
  lookBackMs: DAY_MS,
};

const CREDIT_NOTES: Kind = {
  kind: "credit_note",
  codes: CREDIT_NOTE_CODES,
  mayNeedOne: (movement) => creditFactsOf(movement) !== undefined,
  needsOne: needsCreditNote,
  // A credit note waits for the invoice of its month.
  lookBackMs: 35 * DAY_MS,
};

/** Receipts, credit notes and statements that should have been issued; all of them without `since`. */
export async function listMissingDocuments(db: Reader, since: Date | undefined): Promise<readonly WrongDocument[]> {
  return [
    ...(await listWithoutDocument(db, RECEIPTS, since)),
    ...(await listWithoutDocument(db, CREDIT_NOTES, since)),
    ...(await listWithoutStatement(db, since)),
  ];
}

/** Movements before the clock of the kind that have no document. */
async function listWithoutDocument(db: Reader, kind: Kind, since: Date | undefined): Promise<readonly WrongDocument[]> {
  const { doneUntil } = await readKindClock(db, kind.kind);
  const problem = `it has no ${kind.kind.replace("_", " ")}`;
  const wrong: WrongDocument[] = [];
  for (let after = { at: new Date((since?.getTime() ?? 0) - kind.lookBackMs), id: 0n }; ;) {
    const page = await listPostedMovements(db, kind.codes, { after, limit: PER_PAGE });
    const candidates = page.filter((one) => one.createdAt < doneUntil && kind.mayNeedOne(one));
    const documented = await listDocumentedAmong(
      db,
      candidates.map(({ id }) => id),
    );
    for (const movement of candidates.filter(({ id }) => !documented.has(id))) {
      if (!(await kind.needsOne(db, movement))) continue;
      const { id, code, amount, credit, debit } = movement;
      const userId = credit.userId ?? debit.userId;
      const expected = `one of user ${userId} for ${code} of $${formatDollars(amount)}`;
      wrong.push({ subject: `transfer ${id}`, problem, stored: "none", expected });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PER_PAGE || last.createdAt >= doneUntil) return wrong;
    after = { at: last.createdAt, id: last.id };
  }
}

async function needsCreditNote(db: Reader, movement: PostedMovement): Promise<boolean> {
  const facts = creditFactsOf(movement);
  const corrected = facts === undefined ? "none" : await findCorrected(db, movement, facts);
  if (corrected === "none" || corrected === "later" || facts === undefined) return false;
  // A correction that names an invoice before it is issued corrects no invoice.
  return facts.about.kind === "instance" || corrected.invoice.issuedAt <= movement.createdAt;
}

/** Hosts whose earnings moved in a finished month, and who have no statement of it. */
async function listWithoutStatement(db: Reader, since: Date | undefined): Promise<readonly WrongDocument[]> {
  const { doneUntil } = await readKindClock(db, "statement");
  const wrong: WrongDocument[] = [];
  for (const from of monthsToAudit({ since, doneUntil, firstAt: await firstMovementAt(db) })) {
    const month = { from, until: monthAfter(from) };
    for (let after = 0; ;) {
      const hosts = await listEarningsHolders(db, after, HOSTS_AT_ONCE);
      const stated = await listStatedAmong(db, hosts, from);
      const unstated = hosts.filter((id) => !stated.has(id));
      for (const userId of await listEarnersAmong(db, unstated, month)) {
        const subject = `statement of user ${userId} for ${from.toISOString().slice(0, 7)}`;
        wrong.push({ subject, problem: "it is missing", stored: "none", expected: "one: the earnings moved" });
      }
      const last = hosts.at(-1);
      if (last === undefined || hosts.length < HOSTS_AT_ONCE) break;
      after = last;
    }
  }
  return wrong;
}
