import type { UserId } from "../../../../../base/ids.ts";
import type { CreditNoteContent } from "./credit-note.ts";
import type { ReceiptContent } from "./receipt.ts";
import type { StatementContent } from "./statement.ts";

/** A document of an account other than its monthly invoices, as it was issued. */
type Issued = {
  readonly number: string;
  readonly userId: UserId;
  /** The month of a statement; undefined for a document about one transfer. */
  readonly month: { readonly from: Date; readonly until: Date } | undefined;
  readonly transferId: bigint | undefined;
  /** The number of the receipt or invoice that it refers to; undefined without one. */
  readonly refersTo: string | undefined;
  readonly issuedAt: Date;
};

export type Receipt = Issued & { readonly kind: "receipt"; readonly content: ReceiptContent };

export type Statement = Issued & { readonly kind: "statement"; readonly content: StatementContent };
export type CreditNote = Issued & { readonly kind: "credit_note"; readonly content: CreditNoteContent };

export type AccountDocument = Receipt | Statement | CreditNote;
export type AccountDocumentKind = AccountDocument["kind"];

export const ACCOUNT_DOCUMENT_KINDS = [
  "receipt",
  "statement",
  "credit_note",
] as const satisfies readonly AccountDocumentKind[];

const LETTERS = { receipt: "R", statement: "S", credit_note: "C" } as const satisfies Record<
  AccountDocumentKind,
  string
>;

/** `2026-R000042`, after the seller's prefix. The letter keeps the numbers of different kinds apart. */
export function accountNumberOf(kind: AccountDocumentKind, prefix: string, year: number, sequence: number): string {
  return `${prefix}${year}-${LETTERS[kind]}${String(sequence).padStart(6, "0")}`;
}
