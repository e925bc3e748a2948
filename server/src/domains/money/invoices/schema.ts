import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { MAX_ID } from "../../../base/ids.ts";
import { MAX_DOLLARS } from "../../../base/money.ts";
import { REPORT_HEADING } from "../../people/accounts/index.ts";

const TEXT_MAX = 255;
const Dollars = Type.Number({ minimum: 0.01, maximum: MAX_DOLLARS });
const Name = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: TEXT_MAX }), Type.Integer()], { description });
const Text = Type.Optional(Type.String());

export const TransferBody = Type.Object({
  recipient: Name("E-mail address or id of the user who gets the credit"),
  amount: Dollars,
  client_id: Type.Optional(Name('Ignored; usually "me"')),
  sender: Type.Optional(Name("Account whose credit is transferred: `me`, or the e-mail address or id of a subaccount")),
  apikey_id: Type.Optional(Name("API key that the sender states for the audit log")),
});
export const SuccessResponse = Type.Object({ success: Type.Literal(true) });

export const GrantBody = Type.Object({
  email: Type.Optional(Type.String({ minLength: 1, maxLength: TEXT_MAX })),
  user_id: Type.Optional(Name("Id of the user, instead of the e-mail address")),
  amount: Dollars,
  reason: Type.Optional(Type.String({ maxLength: TEXT_MAX })),
  paid_by: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: TEXT_MAX,
      description:
        "Way in which the user paid outside of the provider, such as a wire transfer; the user gets a receipt",
    }),
  ),
});
export const GrantResponse = Type.Object({
  success: Type.Literal(true),
  id: Type.Integer(),
  email: Type.String(),
  credit: Type.Number({ description: "Dollars that the user can spend now" }),
});

export const FetchBody = Type.Object({
  label: Type.Optional(
    Type.String({ maxLength: TEXT_MAX, description: "Label of the instances; all named instances when left out" }),
  ),
  contract_ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: MAX_ID }), { maxItems: 10_000, description: "Ids of instances" }),
  ),
});
export const FetchResponse = Type.Object({
  contracts: Type.Array(model("ContractName", { id: Type.Integer(), label: Type.Union([Type.String(), Type.Null()]) })),
});

export const InvoicesParams = Type.Object({ user_id: Type.String() });
export const InvoicesQuery = Type.Object({
  inc_charges: Text,
  only_payouts: Text,
  no_payouts: Text,
  sdate: Text,
  edate: Text,
});
export type InvoicesQuery = Static<typeof InvoicesQuery>;

export const InvoiceItem = model("InvoiceReportItem", {
  id: Type.Integer(),
  type: Type.Union([Type.Literal("charge"), Type.Literal("payment")]),
  service: Type.String(),
  amount: Type.Number({ description: "Dollars; negative for credit that was transferred to somebody else" }),
  timestamp: Type.Integer(),
  description: Type.String(),
  quantity: Type.Number({ description: "Hours, GB-months or GB" }),
  rate: Type.Number({ description: "Dollars per unit of quantity" }),
  last4: Type.String(),
  is_credit: Type.Boolean(),
  instance_id: Type.Optional(Type.Integer()),
});
export type InvoiceItem = Static<typeof InvoiceItem>;

export const InvoicesResponse = model("InvoiceReport", {
  invoices: Type.Array(InvoiceItem),
  ...REPORT_HEADING,
  bill_to: Type.String(),
  current: Type.Object({
    charges: Type.Number(),
    service_fee: Type.Number(),
    total: Type.Number(),
    credit: Type.Number(),
  }),
});
export type InvoicesResponse = Static<typeof InvoicesResponse>;
