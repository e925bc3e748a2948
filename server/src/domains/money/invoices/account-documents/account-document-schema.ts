import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";
import { DocumentResponse } from "../documents/document-schema.ts";

const Dollars = Type.Number();
const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const Party = { name: Type.String(), address: Type.Array(Type.String()), tax_id: Type.String() };

export const KINDS = ["invoice", "receipt", "statement", "credit_note"] as const;

const head = {
  number: Type.String(),
  kind: Type.String(),
  issued_at: Type.Number(),
  period_start: OrNull(
    Type.Number({
      description:
        "First instant of the month of an invoice or statement, in seconds since the epoch; null for other kinds",
    }),
  ),
  period_end: OrNull(
    Type.Number({
      description: "First instant after that month, in seconds since the epoch; null for other kinds",
    }),
  ),
  refers_to: OrNull(Type.String()),
  total: Type.Number({ description: "Dollars, in whole cents; below zero for what was paid back" }),
};
export const HeadRecord = model("DocumentHead", head);
export type HeadRecord = Static<typeof HeadRecord>;

export const ListQuery = Type.Object({
  kind: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Number()),
  after_token: Type.Optional(Type.String()),
});
export const ListResponse = Type.Object({
  success: Type.Literal(true),
  count: Type.Integer(),
  total: Type.Integer(),
  next_token: OrNull(Type.String()),
  results: Type.Array(HeadRecord),
});

const Receipt = model("Receipt", {
  event: Type.String(),
  amount: Dollars,
  amount_exact: Type.String(),
  paid_at: Type.Number(),
  method: Type.String(),
  payment_id: OrNull(Type.Integer()),
  transfer_id: Type.String(),
});

const Tax = model("DocumentTax", {
  percent: Type.String(),
  amount: Dollars,
  note: Type.String(),
  name: Type.String(),
  country: Type.String(),
  is_reverse_charge: Type.Boolean(),
});
const Taxed = { net: Dollars, tax: Tax, total: Dollars };
const exact = Type.String();

const Statement = model("Statement", {
  lines: Type.Array(
    Type.Object({
      machine_id: OrNull(Type.Integer()),
      type: Type.String(),
      description: Type.String(),
      amount: Dollars,
      amount_exact: exact,
    }),
  ),
  earned: Dollars,
  earned_exact: exact,
  fee: OrNull(Type.Object({ ...Taxed, total_exact: exact }, { description: "The platform's fee, its tax included" })),
  self_billing: OrNull(
    Type.Object(Taxed, { description: "The host's supply, where the seller invoices it for the host" }),
  ),
  movements: Type.Array(
    Type.Object({ type: Type.String(), label: Type.String(), amount: Dollars, amount_exact: exact }),
  ),
  opening: Dollars,
  opening_exact: exact,
  rounding: Dollars,
  closing: Dollars,
  closing_exact: exact,
  waiting: Type.Object(
    {
      as_of: Type.Number(),
      payable_exact: exact,
      granted_exact: exact,
      young_exact: exact,
      held_exact: exact,
      debt_exact: exact,
    },
    { description: "Parts of the earnings on the day of issue" },
  ),
});
export type StatementRecord = Static<typeof Statement>;

const CreditNote = model("CreditNote", {
  ...Taxed,
  amount_exact: exact,
  invoice_number: Type.String(),
  invoice_line: OrNull(Type.Integer()),
  description: Type.String(),
  reason: Type.String(),
  credited_at: Type.Number(),
  transfer_id: Type.String(),
});

const Shown = model(
  "DocumentSheet",
  {
    title: Type.String(),
    subtitle: Type.String(),
    facts: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
    tables: Type.Array(
      Type.Object({
        caption: Type.String(),
        columns: Type.Array(Type.String()),
        rows: Type.Array(Type.Object({ cells: Type.Array(Type.String()), note: Type.String() })),
        totals: Type.Array(Type.Object({ label: Type.String(), amount: Type.String() })),
      }),
    ),
    notes: Type.Array(Type.String()),
  },
  { description: "The words and amounts of its page, in order" },
);

export const DocumentResponseOfAnyKind = model("AccountDocument", {
  success: Type.Literal(true),
  ...head,
  currency: Type.String(),
  seller: Type.Object(Party),
  buyer: Type.Object({ ...Party, user_id: Type.Integer(), email: Type.String() }),
  referred_by: Type.Array(HeadRecord),
  receipt: OrNull(Receipt),
  statement: OrNull(Statement),
  credit_note: OrNull(CreditNote),
  invoice: OrNull(DocumentResponse),
  shown: Shown,
});
export type DocumentResponseOfAnyKind = Static<typeof DocumentResponseOfAnyKind>;
