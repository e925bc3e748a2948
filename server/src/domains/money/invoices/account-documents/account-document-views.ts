import { epochSeconds } from "../../../../base/clock.ts";
import { formatDollars } from "../../../../base/money.ts";
import type { InvoiceDocument } from "../documents/document-store.ts";
import { sheetOfInvoice } from "../documents/document-sheet.ts";
import { viewDocument } from "../documents/document-views.ts";
import type { Sheet } from "../documents/rules/sheet.ts";
import { sheetOf } from "./sheets.ts";
import type { DocumentResponseOfAnyKind, HeadRecord, StatementRecord } from "./account-document-schema.ts";
import type { CreditNoteContent } from "./rules/credit-note.ts";
import type { ReceiptContent } from "./rules/receipt.ts";
import type { StatementContent, TaxedAmount } from "./rules/statement.ts";
import type { DocumentHead } from "./account-document-store.ts";
import type { AccountDocument } from "./rules/account-document.ts";

const dollarsOf = (cents: number) => cents / 100;

export function viewHead({ number, kind, issuedAt, month, refersTo, totalCents }: DocumentHead): HeadRecord {
  return {
    number,
    kind,
    issued_at: epochSeconds(issuedAt),
    period_start: month === undefined ? null : epochSeconds(month.from),
    period_end: month === undefined ? null : epochSeconds(month.until),
    refers_to: refersTo ?? null,
    total: dollarsOf(totalCents),
  };
}

function headOf({ content, ...document }: AccountDocument): DocumentHead {
  return { ...document, totalCents: content.total_cents };
}

export function viewAccountDocument(
  document: AccountDocument,
  referring: readonly AccountDocument[],
): DocumentResponseOfAnyKind {
  const { currency, seller, buyer } = document.content;
  return {
    success: true,
    ...viewHead(headOf(document)),
    currency,
    seller: { ...seller, address: [...seller.address] },
    buyer: { ...buyer, address: [...buyer.address] },
    referred_by: referring.map((one) => viewHead(headOf(one))),
    receipt: document.kind === "receipt" ? viewReceipt(document.content) : null,
    statement: document.kind === "statement" ? viewStatement(document.content) : null,
    credit_note: document.kind === "credit_note" ? viewCreditNote(document.content) : null,
    invoice: null,
    shown: viewSheet(sheetOf(document)),
  };
}

function viewReceipt(content: ReceiptContent): DocumentResponseOfAnyKind["receipt"] {
  const { event, total_cents: cents, amount_nanos: exact, paid_at_ms: paidAtMs } = content;
  return {
    event,
    amount: dollarsOf(cents),
    amount_exact: exactOf(exact),
    paid_at: paidAtMs / 1000,
    method: content.method,
    payment_id: content.payment_id,
    transfer_id: content.transfer_id,
  };
}

const exactOf = (nanosText: string) => formatDollars(BigInt(nanosText));

function viewTaxed({ net_cents: net, tax, total_cents: total }: TaxedAmount) {
  const { amount_cents: amount, ...rest } = tax;
  return { net: dollarsOf(net), tax: { ...rest, amount: dollarsOf(amount) }, total: dollarsOf(total) };
}

function viewStatement(content: StatementContent): StatementRecord {
  const { fee, self_billing: selfBilling, waiting } = content;
  return {
    lines: content.lines.map(({ machine_id, kind, description, amount_cents: cents, amount_nanos: exact }) => ({
      machine_id,
      type: kind,
      description,
      amount: dollarsOf(cents),
      amount_exact: exactOf(exact),
    })),
    earned: dollarsOf(content.earned_cents),
    earned_exact: exactOf(content.earned_nanos),
    fee: fee === null ? null : { ...viewTaxed(fee), total_exact: exactOf(fee.amount_nanos) },
    self_billing: selfBilling === null ? null : viewTaxed(selfBilling),
    movements: content.movements.map(({ code, label, amount_cents: cents, amount_nanos: exact }) => ({
      type: code,
      label,
      amount: dollarsOf(cents),
      amount_exact: exactOf(exact),
    })),
    opening: dollarsOf(content.opening_cents),
    opening_exact: exactOf(content.opening_nanos),
    rounding: dollarsOf(content.rounding_cents),
    closing: dollarsOf(content.closing_cents),
    closing_exact: exactOf(content.closing_nanos),
    waiting: {
      as_of: waiting.as_of_ms / 1000,
      payable_exact: exactOf(waiting.payable_nanos),
      granted_exact: exactOf(waiting.granted_nanos),
      young_exact: exactOf(waiting.young_nanos),
      held_exact: exactOf(waiting.held_nanos),
      debt_exact: exactOf(waiting.debt_nanos),
    },
  };
}

function viewCreditNote(content: CreditNoteContent): DocumentResponseOfAnyKind["credit_note"] {
  const { tax, invoice } = content;
  const { name = "Tax", country = "", is_reverse_charge: isReverseCharge = false } = tax;
  return {
    ...viewTaxed({ ...content, tax: { ...tax, name, country, is_reverse_charge: isReverseCharge } }),
    amount_exact: exactOf(content.amount_nanos),
    invoice_number: invoice.number,
    invoice_line: content.invoice_line,
    description: content.description,
    reason: content.reason,
    credited_at: content.credited_at_ms / 1000,
    transfer_id: content.transfer_id,
  };
}

export function viewInvoice(
  document: InvoiceDocument,
  referring: readonly AccountDocument[],
): DocumentResponseOfAnyKind {
  const { number, issuedAt, from, until, content } = document;
  const head = { number, kind: "invoice" as const, issuedAt, month: { from, until }, refersTo: undefined };
  const invoice = viewDocument(document);
  return {
    success: true,
    ...viewHead({ ...head, totalCents: content.total_cents }),
    currency: content.currency,
    seller: invoice.seller,
    buyer: invoice.buyer,
    referred_by: referring.map((one) => viewHead(headOf(one))),
    receipt: null,
    statement: null,
    credit_note: null,
    invoice,
    shown: viewSheet(sheetOfInvoice(document)),
  };
}

function viewSheet({ title, subtitle, facts, tables, notes }: Sheet): DocumentResponseOfAnyKind["shown"] {
  return {
    title,
    subtitle,
    facts: facts.map(([name, value]) => ({ name, value })),
    tables: tables.map(({ caption, columns, rows, empty, totals }) => ({
      caption,
      columns: columns.map((column) => column.title),
      rows:
        rows.length === 0
          ? [{ cells: [empty], note: "" }]
          : rows.map(({ cells, note }) => ({ cells: [...cells], note })),
      totals: totals.map(({ label, amount }) => ({ label, amount })),
    })),
    notes: [...notes],
  };
}
