import type { Sheet } from "../documents/rules/sheet.ts";
import type { AccountDocument } from "./rules/account-document.ts";
import { sheetOfCreditNote } from "./credit-note-sheet.ts";
import { sheetOfReceipt } from "./receipt-sheet.ts";
import { sheetOfStatement } from "./statement-sheet.ts";

/** The sheet of a document, for its page and its PDF. */
export function sheetOf(document: AccountDocument): Sheet {
  switch (document.kind) {
    case "receipt":
      return sheetOfReceipt(document);
    case "statement":
      return sheetOfStatement(document);
    case "credit_note":
      return sheetOfCreditNote(document);
  }
}
