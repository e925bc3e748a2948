import { Type } from "typebox";
import { model } from "../../../../http/model.ts";
import { MAX_DOLLARS } from "../../../../base/money.ts";

const About = {
  user: Type.String({ minLength: 1, maxLength: 320, description: "E-mail address or id of the account" }),
  reason: Type.String({
    minLength: 1,
    maxLength: 500,
    description: "The reason, which stands on the account's statements",
  }),
  reference: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: "^[\\x21-\\x7e]+$",
    description: "Name of the case, without spaces; an account has one entry under each reference",
  }),
};

export const TakeBackBody = Type.Object({
  ...About,
  amount: Type.Number({ exclusiveMinimum: 0, maximum: MAX_DOLLARS, description: "Dollars to take back" }),
});

export const CorrectionBody = Type.Object({
  ...About,
  amount: Type.Number({
    minimum: -MAX_DOLLARS,
    maximum: MAX_DOLLARS,
    description: "Dollars: above 0 they come to the account, below 0 they leave it",
  }),
  side: Type.Optional(
    Type.Union([Type.Literal("credit"), Type.Literal("earnings")], {
      description: "`credit`, which the account spends as a renter, or `earnings`, which it has as a host",
      default: "credit",
    }),
  ),
});

export const BookedResponse = model("BookedEntry", {
  success: Type.Literal(true),
  user_id: Type.Integer(),
  transfer_id: Type.String({ description: "Id of the entry in the ledger" }),
  is_new: Type.Boolean({ description: "False when this very entry was booked before" }),
  balance: Type.Number({ description: "Dollars that the account has afterwards; earnings may be below 0" }),
});
