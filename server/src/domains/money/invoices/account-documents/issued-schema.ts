import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";
import { HeadRecord, KINDS } from "./account-document-schema.ts";

const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const Dollars = Type.Number({ description: "Dollars, in whole cents" });

const filter = {
  month: Type.String({ description: "The month (UTC) in which they were issued, such as 2026-03" }),
  kind: Type.Optional(Type.String({ description: `Only these: ${KINDS.join(", ")}` })),
};
export const IssuedExportQuery = Type.Object(filter);
export const IssuedQuery = Type.Object({
  ...filter,
  limit: Type.Optional(Type.Number({ description: "100 when left out, at most 500" })),
  after_token: Type.Optional(Type.String({ description: "The next_token of the page before" })),
});

export const IssuedRecord = model("IssuedDocument", {
  ...HeadRecord.properties,
  currency: Type.String(),
  user_id: Type.Integer(),
  name: Type.String({ description: "Of the account, as the document says it" }),
  email: Type.String(),
  tax_id: Type.String(),
  event: OrNull(Type.String({ description: "Of a receipt: payment, refund, dispute or dispute_won" })),
  method: OrNull(Type.String({ description: "Of a receipt: how it was paid" })),
  taxed: OrNull(
    Type.Object(
      {
        net: Dollars,
        tax: Dollars,
        total: Dollars,
        percent: Type.String(),
        tax_name: Type.String(),
        country: Type.String(),
        is_reverse_charge: Type.Boolean(),
      },
      {
        description: "Of an invoice or a credit note: its total; of a statement: the platform's fee. Null without any",
      },
    ),
  ),
  earned: OrNull(Type.Number({ description: "Of a statement: dollars that the host earned" })),
  self_billed: OrNull(
    Type.Object(
      { net: Dollars, tax: Dollars, percent: Type.String(), country: Type.String(), is_reverse_charge: Type.Boolean() },
      { description: "Of a statement by which the operator invoices itself for the host" },
    ),
  ),
});
export type IssuedRecord = Static<typeof IssuedRecord>;

export const IssuedResponse = Type.Object({
  success: Type.Literal(true),
  count: Type.Integer(),
  next_token: OrNull(Type.String()),
  results: Type.Array(IssuedRecord, { description: "In the order in which they were issued" }),
});
