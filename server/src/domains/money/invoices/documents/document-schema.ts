import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Dollars = Type.Number();
const Party = { name: Type.String(), address: Type.Array(Type.String()), tax_id: Type.String() };

const summary = {
  number: Type.String(),
  issued_at: Type.Number(),
  period_start: Type.Number(),
  period_end: Type.Number(),
  currency: Type.String(),
  total: Dollars,
};
export const DocumentSummary = model("InvoiceSummary", summary);

export const DocumentsQuery = Type.Object({
  limit: Type.Optional(Type.Number()),
  after_token: Type.Optional(Type.String()),
});
export const DocumentsResponse = Type.Object({
  success: Type.Literal(true),
  count: Type.Integer(),
  total: Type.Integer(),
  next_token: Type.Union([Type.String(), Type.Null()]),
  results: Type.Array(DocumentSummary),
});

export const NumberParams = Type.Object({ number: Type.String() });
export const DocumentResponse = model("Invoice", {
  success: Type.Literal(true),
  ...summary,
  seller: Type.Object(Party),
  buyer: Type.Object({ ...Party, user_id: Type.Integer(), email: Type.String() }),
  lines: Type.Array(
    Type.Object({
      source: Type.String(),
      type: Type.String(),
      description: Type.String(),
      start: Type.Number(),
      end: Type.Number(),
      quantity: Type.Number(),
      unit: Type.String(),
      rate: Type.String(),
      is_rate_average: Type.Boolean({
        description:
          "True when `rate` is the average price of a unit: the price changed, was discounted, or could not be paid in full",
      }),
      amount: Dollars,
      unpaid: Type.String({ description: "Dollars that were due besides and could not be paid, with every digit" }),
      machine_id: Type.Union([Type.Integer(), Type.Null()]),
      hardware: Type.Union([Type.String(), Type.Null()]),
      label: Type.Union([Type.String(), Type.Null()]),
      is_late: Type.Boolean({
        description: "True for usage of an earlier month that was charged after the invoice of that month",
      }),
    }),
  ),
  net: Dollars,
  tax: Type.Object({
    percent: Type.String(),
    amount: Dollars,
    note: Type.String(),
    name: Type.String(),
    country: Type.String({ description: "ISO code of the customer's country; empty when it is not known" }),
    is_reverse_charge: Type.Boolean(),
  }),
  balance: Type.Object({
    opening: Dollars,
    entries: Type.Array(Type.Object({ label: Type.String(), amount: Dollars })),
    usage: Dollars,
    rounding: Type.Number({
      description: "Fractions of a cent that the balance carries on, so that the column adds up",
    }),
    closing: Dollars,
  }),
});
export type DocumentResponse = Static<typeof DocumentResponse>;
export type DocumentSummary = Static<typeof DocumentSummary>;
