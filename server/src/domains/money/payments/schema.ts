import { Type } from "typebox";
import { model } from "../../../http/model.ts";
import { MAX_DOLLARS } from "../../../base/money.ts";
import { MAX_ID } from "../../../base/ids.ts";

const TEXT_MAX = 255;
const PAGE_MAX = 500;
const Success = Type.Literal(true);
const Dollars = (description: string) => Type.Number({ description, minimum: 0, maximum: MAX_DOLLARS });
const NullableNumber = Type.Union([Type.Number(), Type.Null()]);
const NullableText = Type.Union([Type.String(), Type.Null()]);

export const IdParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: MAX_ID }) });
export const SuccessResponse = Type.Object({ success: Success });
export const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: 100 })),
  before_id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID })),
});

export const CheckoutBody = Type.Object({
  amount: Type.Number({ minimum: 0, maximum: MAX_DOLLARS }),
  save_card: Type.Optional(Type.Boolean({ description: "Keep the card for automatic payments" })),
});
export const PageResponse = model("PaymentPage", {
  success: Success,
  url: Type.String(),
  payment_id: Type.Integer(),
});

const PaymentState = Type.Union(
  [
    Type.Literal("pending"),
    Type.Literal("paid"),
    Type.Literal("failed"),
    Type.Literal("expired"),
    Type.Literal("mismatched"),
  ],
  {
    description: "`mismatched`: the amount or currency that was paid differs from the request, so nothing was credited",
  },
);
const PaymentView = model("Payment", {
  id: Type.Integer(),
  kind: Type.Union([Type.Literal("checkout"), Type.Literal("autobill")]),
  state: PaymentState,
  amount: Type.Number({ description: "Dollars" }),
  failure: NullableText,
  created_at: Type.Number(),
  settled_at: NullableNumber,
});
export const PaymentsResponse = Type.Object({ success: Success, payments: Type.Array(PaymentView) });

const CardView = model("Card", {
  id: Type.Integer(),
  brand: Type.String(),
  last4: Type.String(),
  exp_month: Type.Integer(),
  exp_year: Type.Integer(),
  is_default: Type.Boolean({ description: "True for the card that is charged automatically" }),
  created_at: Type.Number(),
});
export const CardsResponse = Type.Object({ success: Success, payment_methods: Type.Array(CardView) });
export const PreferCardBody = Type.Object({ is_default: Type.Literal(true) });

export const AutobillBody = Type.Object({
  enabled: Type.Optional(Type.Boolean()),
  threshold: Type.Optional(Dollars("The card is charged when credit has come down to this")),
  amount: Type.Optional(Dollars("Dollars that are charged each time, in whole cents, at least 5")),
});
export const AutobillResponse = model("Autobill", {
  success: Success,
  enabled: Type.Boolean(),
  threshold: Type.Number(),
  amount: Type.Number(),
  last4: Type.Union([Type.String(), Type.Null()], {
    description: "Last four digits of the card that is charged; null when none is saved",
  }),
  failure_count: Type.Integer({ description: "Failures since the last success" }),
  retry_at: NullableNumber,
});

const Detail = Type.Optional(Type.String({ maxLength: TEXT_MAX }));
export const PayoutMethodBody = Type.Object({
  method: Type.Union([Type.Literal("stripe"), Type.Literal("wise"), Type.Literal("paypal"), Type.Literal("bank")]),
  details: Type.Object({
    account_id: Detail,
    email: Detail,
    account_holder: Detail,
    country: Detail,
    iban: Detail,
    bic: Detail,
    account_number: Detail,
    routing_number: Detail,
  }),
});

export const PayoutMethodResponse = model("PayoutMethod", {
  success: Success,
  method: NullableText,
  shown: NullableText,
  updated_at: NullableNumber,
});

const PayoutState = Type.Union([
  Type.Literal("pending"),
  Type.Literal("sending"),
  Type.Literal("paid"),
  Type.Literal("failed"),
]);
const PayoutView = model("Payout", {
  id: Type.Integer(),
  state: PayoutState,
  invoiced_at: Type.Number(),
  due_at: Type.Number(),
  earned: Type.Number({ description: "Dollars earned since the invoice before" }),
  fee_percent: Type.Number(),
  fee: Type.Number({ description: "Dollars that the platform kept of that" }),
  amount: Type.Number({ description: "Dollars that are paid out" }),
  method: NullableText,
  reference: NullableText,
  failure: NullableText,
  returned: Type.Number({
    description: "Dollars of it that came back, all of a failed payout; a later payout pays them out",
  }),
  settled_at: NullableNumber,
});
const PayoutHoldView = model("PayoutHold", {
  id: Type.Integer(),
  kind: Type.String(),
  reason: Type.String(),
  placed_at: Type.Number(),
});
const EarningsView = model(
  "Earnings",
  {
    balance: Type.Number({
      description: "Dollars earned that are in no payout yet; below zero when the host owes something",
    }),
    payable: Type.Number({ description: "Dollars that a payout made now would be of, before the fee" }),
    granted: Type.Number({ description: "Dollars that wait because they came of granted credit" }),
    young: Type.Number({
      description: "Dollars that wait because they came of card payments that may still be disputed",
    }),
    held: Type.Number({ description: "Dollars that wait for a hold to be released" }),
    debt: Type.Number({ description: "Dollars that later earnings make good" }),
    card_hold_days: Type.Integer({ description: "Days for which earnings from a card payment wait" }),
    granted_after_days: NullableNumber,
  },
  { description: "Earnings that were not paid out yet, in dollars, and the parts of them that wait" },
);
const HoldReason = Type.String({ minLength: 1, maxLength: 500, description: "The reason, which the host reads" });
export const PayoutHoldBody = Type.Object({
  user: Type.String({ minLength: 1, maxLength: 320, description: "E-mail address or id of the host" }),
  reason: HoldReason,
});
export const ReleaseHoldBody = Type.Object({ reason: HoldReason });
export const PayoutHoldResponse = Type.Object({
  success: Success,
  id: Type.Integer({ description: "Id of the hold" }),
  is_new: Type.Boolean({ description: "False when the payouts were held by an administrator already" }),
});
export const AdminPayoutHoldsResponse = Type.Object({
  success: Success,
  holds: Type.Array(
    model("AdminPayoutHold", {
      ...PayoutHoldView.properties,
      user_id: Type.Integer(),
      placed_by: Type.Union([Type.Integer(), Type.Null()], {
        description: "Id of the administrator who placed it; null when the server did",
      }),
    }),
  ),
});
export const PayoutsResponse = Type.Object({
  success: Success,
  fee_percent: Type.Number({ description: "Part of the earnings that the platform keeps from now on, in percent" }),
  holds: Type.Array(PayoutHoldView),
  earnings: EarningsView,
  payouts: Type.Array(PayoutView),
});

export const ReleaseEarningsBody = Type.Object({
  email: Type.Optional(Type.String({ minLength: 1, maxLength: TEXT_MAX })),
  user_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_ID, description: "Id of the user, instead of the e-mail address" }),
  ),
  amount: Type.Optional(Dollars("Dollars; all that waits when left out")),
  reason: Type.String({ minLength: 1, maxLength: 500, description: "The reason, which the host reads" }),
});
export const ReleaseEarningsResponse = Type.Object({
  success: Success,
  user_id: Type.Integer(),
  released: Type.Number({ description: "Dollars of earnings that may be paid out from now on" }),
});

const AdminPayoutView = model("AdminPayout", {
  ...PayoutView.properties,
  user_id: Type.Integer(),
  email: NullableText,
});
export const AdminPayoutsQuery = Type.Object({
  ...PageQuery.properties,
  state: Type.Optional(PayoutState),
});
export const AdminPayoutsResponse = Type.Object({ success: Success, payouts: Type.Array(AdminPayoutView) });
export const AdminPayoutResponse = Type.Object({
  success: Success,
  payout: AdminPayoutView,
  payout_method: Type.Union([
    model("PayoutTarget", { method: Type.String(), details: Type.Record(Type.String(), Type.String()) }),
    Type.Null(),
  ]),
});
export const SettlePayoutBody = Type.Object({
  state: Type.Union([Type.Literal("paid"), Type.Literal("failed")]),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
});
export const RefundBody = Type.Object({
  amount: Type.Optional(Dollars("Dollars to give back, in whole cents; everything when left out")),
});
export const RefundResponse = Type.Object({
  success: Success,
  amount: Type.Number({ description: "Dollars that the provider is asked to give back" }),
});
