import type { Cell } from "../rules/csv.ts";
import type { DocumentContent } from "../documents/rules/document.ts";
import { viewHead } from "./account-document-views.ts";
import type { IssuedRecord } from "./issued-schema.ts";
import type { IssuedDocument } from "./issued-store.ts";
import type { TaxedAmount } from "./rules/statement.ts";

const dollarsOf = (cents: number) => cents / 100;

/** A document of any account, with the figures that book-keeping needs. */
export function viewIssued(document: IssuedDocument): IssuedRecord {
  const { currency, buyer, total_cents: totalCents } = document.content;
  const receipt = document.kind === "receipt" ? document.content : undefined;
  const statement = document.kind === "statement" ? document.content : undefined;
  return {
    ...viewHead({ ...document, totalCents }),
    currency,
    user_id: document.userId,
    name: buyer.name,
    email: buyer.email,
    tax_id: buyer.tax_id,
    event: receipt?.event ?? null,
    method: receipt?.method ?? null,
    taxed: taxedOf(document),
    earned: statement === undefined ? null : dollarsOf(statement.earned_cents),
    self_billed: selfBilledOf(statement?.self_billing ?? null),
  };
}

type Taxed = { readonly net_cents: number; readonly tax: DocumentContent["tax"]; readonly total_cents: number };

function taxedOf(document: IssuedDocument): IssuedRecord["taxed"] {
  switch (document.kind) {
    case "receipt":
      return null;
    case "statement":
      return document.content.fee === null ? null : viewTaxed(document.content.fee);
    case "invoice":
    case "credit_note":
      return viewTaxed(document.content);
  }
}

function viewTaxed({ net_cents: net, tax, total_cents: total }: Taxed): NonNullable<IssuedRecord["taxed"]> {
  return {
    net: dollarsOf(net),
    tax: dollarsOf(tax.amount_cents),
    total: dollarsOf(total),
    percent: tax.percent,
    tax_name: tax.name ?? "",
    country: tax.country ?? "",
    is_reverse_charge: tax.is_reverse_charge ?? false,
  };
}

function selfBilledOf(taxed: TaxedAmount | null): IssuedRecord["self_billed"] {
  if (taxed === null) return null;
  const { net, tax, percent, country, is_reverse_charge } = viewTaxed(taxed);
  return { net, tax, percent, country, is_reverse_charge };
}

export const ISSUED_TITLES = [
  "number",
  "kind",
  "issued_at",
  "period_start",
  "period_end",
  "refers_to",
  "user_id",
  "name",
  "email",
  "tax_id",
  "currency",
  "total_usd",
  "event",
  "method",
  "net_usd",
  "tax_usd",
  "taxed_usd",
  "tax_percent",
  "tax_name",
  "tax_country",
  "reverse_charge",
  "earned_usd",
  "self_billed_net_usd",
  "self_billed_tax_usd",
];

/** The cells of a document under `ISSUED_TITLES`; empty for figures that it does not have. */
export function issuedCells(document: IssuedDocument): readonly Cell[] {
  const record = viewIssued(document);
  const { taxed, self_billed: selfBilled } = record;
  const day = (at: Date | undefined) => at?.toISOString().slice(0, 10);
  return [
    record.number,
    record.kind,
    document.issuedAt.toISOString(),
    day(document.month?.from),
    day(document.month?.until),
    document.refersTo,
    { number: String(record.user_id) },
    record.name,
    record.email,
    record.tax_id,
    record.currency,
    amount(record.total),
    record.event ?? undefined,
    record.method ?? undefined,
    amount(taxed?.net),
    amount(taxed?.tax),
    amount(taxed?.total),
    taxed === null ? undefined : { number: taxed.percent },
    taxed?.tax_name,
    taxed?.country,
    taxed === null ? undefined : String(taxed.is_reverse_charge),
    amount(record.earned),
    amount(selfBilled?.net),
    amount(selfBilled?.tax),
  ];
}

function amount(dollars: number | null | undefined): Cell {
  return dollars === null || dollars === undefined ? undefined : { number: dollars.toFixed(2) };
}
