import { epochSeconds } from "../../../../base/clock.ts";
import type { DocumentResponse, DocumentSummary } from "./document-schema.ts";
import type { InvoiceDocument } from "./document-store.ts";

const dollarsOf = (cents: number) => cents / 100;

/** An invoice as lists show it. */
export function viewSummary({ number, issuedAt, from, until, content }: InvoiceDocument): DocumentSummary {
  return {
    number,
    issued_at: epochSeconds(issuedAt),
    period_start: epochSeconds(from),
    period_end: epochSeconds(until),
    currency: content.currency,
    total: dollarsOf(content.total_cents),
  };
}

/** An invoice with its content. */
export function viewDocument(document: InvoiceDocument): DocumentResponse {
  const { seller, buyer, lines, net_cents: net, tax, balance } = document.content;
  return {
    success: true,
    ...viewSummary(document),
    seller: { ...seller, address: [...seller.address] },
    buyer: { ...buyer, address: [...buyer.address] },
    lines: lines.map(({ component, from_ms: fromMs, to_ms: toMs, amount_cents: cents, ...line }) => ({
      ...line,
      machine_id: line.machine_id ?? null,
      hardware: line.hardware ?? null,
      label: line.label ?? null,
      is_late: line.is_late ?? false,
      type: component,
      start: fromMs / 1000,
      end: toMs / 1000,
      amount: dollarsOf(cents),
    })),
    net: dollarsOf(net),
    tax: {
      percent: tax.percent,
      amount: dollarsOf(tax.amount_cents),
      note: tax.note,
      name: tax.name ?? "Tax",
      country: tax.country ?? "",
      is_reverse_charge: tax.is_reverse_charge ?? false,
    },
    balance: {
      opening: dollarsOf(balance.opening_cents),
      entries: balance.entries.map(({ label, amount_cents: cents }) => ({ label, amount: dollarsOf(cents) })),
      usage: dollarsOf(balance.usage_cents),
      rounding: dollarsOf(balance.rounding_cents),
      closing: dollarsOf(balance.closing_cents),
    },
  };
}
