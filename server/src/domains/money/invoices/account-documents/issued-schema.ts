import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";
import { HeadRecord } from "./account-document-schema.ts";

const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const Dollars = Type.Number();

const filter = {
  month: Type.String(),
  kind: Type.Optional(Type.String()),
};
export const IssuedExportQuery = Type.Object(filter);
export const IssuedQuery = Type.Object({
  ...filter,
  limit: Type.Optional(Type.Number()),
  after_token: Type.Optional(Type.String()),
});

export const IssuedRecord = model("IssuedDocument", {
  ...HeadRecord.properties,
  currency: Type.String(),
  user_id: Type.Integer(),
  name: Type.String(),
  email: Type.String(),
  tax_id: Type.String(),
  event: OrNull(Type.String()),
  method: OrNull(Type.String()),
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
  earned: OrNull(Type.Number()),
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
  results: Type.Array(IssuedRecord, { description: "Documents in the order of issue" }),
});
