import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Text = Type.Optional(Type.String());

export const MovementsQuery = Type.Object({
  select_filters: Text,
  order_by: Text,
  latest_first: Text,
  limit: Type.Optional(Type.Number()),
  after_token: Text,
});

export const MovementRow = model("MoneyMovement", {
  start: Type.Number(),
  end: Type.Union([Type.Number(), Type.Null()]),
  type: Type.Union([
    Type.Literal("credit"),
    Type.Literal("transfer"),
    Type.Literal("payout"),
    Type.Literal("refund"),
    Type.Literal("reserved"),
  ]),
  source: Type.String(),
  description: Type.String(),
  amount: Type.Number({
    description:
      "Dollars, to three decimals; below zero for what the customer was charged and for outgoing transfers, above for incoming transfers, payouts and refunds",
  }),
  amount_exact: Type.String({ description: "The same amount with every digit", examples: ["-12.345678901"] }),
  metadata: Type.Object({
    invoice_id: Type.Integer(),
    service: Type.String(),
    direction: Type.String(),
    paid_from: Type.Optional(Type.String()),
    state: Type.Optional(Type.String()),
  }),
  items: Type.Array(Type.Never()),
});
export type MovementRow = Static<typeof MovementRow>;

export const MovementsResponse = Type.Object({
  success: Type.Boolean(),
  error: Type.Optional(Type.String()),
  count: Type.Integer(),
  total: Type.Integer(),
  next_token: Type.Union([Type.String(), Type.Null()]),
  results: Type.Array(MovementRow),
});

export const RawInvoicesQuery = Type.Object({
  select_filters: Text,
  select_cols: Text,
  order_by: Text,
  limit: Type.Optional(Type.Number()),
});

const Nothing = Type.Null();
const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);
export const RawInvoice = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  when: Type.Number(),
  paid_on: MaybeNumber,
  payment_expected: Type.Number(),
  amount_cents: Type.Integer(),
  original_amount: Type.Integer(),
  is_credit: Type.Boolean(),
  is_delayed: Type.Boolean(),
  balance_before: MaybeNumber,
  balance_after: MaybeNumber,
  event_id: Type.String(),
  cut_amount: Type.Integer(),
  cut_percent: Type.Number(),
  extra: Type.Unknown(),
  service: Type.String(),
  stripe_charge: Nothing,
  stripe_refund: Nothing,
  stripe_payout: Nothing,
  error: Type.Union([Type.Object({ message: Type.String() }), Nothing]),
  paypal_email: Nothing,
  transfer_group: Nothing,
  failed: Type.Boolean(),
  refunded: Type.Boolean(),
  is_check: Type.Boolean(),
  description: Type.String(),
});
export type RawInvoice = Static<typeof RawInvoice>;
/** With `select_cols` only some of the columns. */
export const RawInvoicesResponse = Type.Array(Type.Partial(RawInvoice, { title: "MovementRecord" }));
