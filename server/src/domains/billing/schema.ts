import { Type, type Static } from "typebox";
import { MAX_DOLLARS } from "../../base/money.ts";

const TEXT_MAX = 255;
const Dollars = Type.Number({ minimum: 0.01, maximum: MAX_DOLLARS });
const Name = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: TEXT_MAX }), Type.Integer()], { description });
const Flag = (description: string) => Type.Optional(Type.String({ description: `${description} (true or false)` }));
const Moment = (description: string) =>
  Type.Optional(
    Type.String({ description: `${description}: seconds since 1970, ISO 8601 date or date-time, or MM/DD/YYYY` }),
  );

export const TransferBody = Type.Object({
  recipient: Name("E-mail address or id of the user who gets the credit"),
  amount: Dollars,
  client_id: Type.Optional(Name('Ignored; usually "me"')),
  apikey_id: Type.Optional(Name("For the audit log")),
});
export const SuccessResponse = Type.Object({ success: Type.Literal(true) });

export const GrantBody = Type.Object({
  email: Type.Optional(Type.String({ minLength: 1, maxLength: TEXT_MAX })),
  user_id: Type.Optional(Name("Id of the user, instead of the e-mail address")),
  amount: Dollars,
  reason: Type.Optional(Type.String({ maxLength: TEXT_MAX, description: "Shown on the user's invoice" })),
});
export const GrantResponse = Type.Object({
  success: Type.Literal(true),
  id: Type.Integer({ description: "The user" }),
  email: Type.String(),
  credit: Type.Number({ description: "Dollars that the user can spend now" }),
});

export const InvoicesParams = Type.Object({ user_id: Type.String() });
export const InvoicesQuery = Type.Object({
  inc_charges: Flag("Include charges for usage"),
  only_payouts: Flag("Payouts only"),
  no_payouts: Flag("No payouts"),
  sdate: Moment("From this moment"),
  edate: Moment("To this moment; a date includes its whole day"),
});
export type InvoicesQuery = Static<typeof InvoicesQuery>;

export const InvoiceItem = Type.Object({
  id: Type.Integer(),
  type: Type.Union([Type.Literal("charge"), Type.Literal("payment")]),
  service: Type.String({ description: "credit, transfer, refund, payout, fee, gpu, disk, bwu or bwd" }),
  amount: Type.Number({ description: "Dollars; negative for credit that was transferred to somebody else" }),
  timestamp: Type.Integer({ description: "Seconds since 1970" }),
  description: Type.String(),
  quantity: Type.Number({ description: "Hours, GB-months or GB" }),
  rate: Type.Number({ description: "Dollars per unit of quantity" }),
  last4: Type.String(),
  is_credit: Type.Boolean(),
  instance_id: Type.Optional(Type.Integer()),
});
export type InvoiceItem = Static<typeof InvoiceItem>;

export const InvoicesResponse = Type.Object({
  invoices: Type.Array(InvoiceItem),
  username: Type.String(),
  bill_to: Type.String(),
  email: Type.String(),
  fullname: Type.String(),
  address1: Type.String(),
  address2: Type.String(),
  city: Type.String(),
  zip: Type.String(),
  country: Type.String(),
  taxinfo: Type.String(),
  current: Type.Object({
    charges: Type.Number({ description: "Usage since the first of the month (UTC)" }),
    service_fee: Type.Number(),
    total: Type.Number(),
    credit: Type.Number({ description: "What can be spent" }),
  }),
});
export type InvoicesResponse = Static<typeof InvoicesResponse>;
