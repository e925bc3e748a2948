import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Text = (description: string) => Type.Optional(Type.String({ description }));

export const MovementsQuery = Type.Object({
  select_filters: Text('JSON: {"when": {"gte": seconds, "lte": seconds}}, and "service" if wanted'),
  order_by: Text('JSON: [{"col": "when" | "paid_on" | "amount_cents", "dir": "asc" | "desc"}]'),
  latest_first: Text("true or false; true when left out"),
  limit: Type.Optional(Type.Number({ description: "60 when left out, at most 500" })),
  after_token: Text("The next_token of the page before"),
});

export const MovementRow = model("MoneyMovement", {
  start: Type.Number({ description: "When it happened" }),
  end: Type.Union([Type.Number({ description: "When a payout was paid or failed" }), Type.Null()]),
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
    description: "Dollars; below zero for what the customer was charged, above for transfers, payouts and refunds",
  }),
  metadata: Type.Object({
    invoice_id: Type.Integer(),
    service: Type.String(),
    direction: Type.String({ description: "in: it came to the account; out: it left" }),
    paid_from: Type.Optional(
      Type.String({ description: "deposit: an early end took it from there, and your credit stays as it was" }),
    ),
    state: Type.Optional(Type.String({ description: "Of a payout: pending, sending, paid or failed" })),
  }),
  items: Type.Array(Type.Never()),
});
export type MovementRow = Static<typeof MovementRow>;

export const MovementsResponse = Type.Object({
  success: Type.Boolean(),
  error: Type.Optional(Type.String({ description: "Invalid date range" })),
  count: Type.Integer({ description: "Of this page" }),
  total: Type.Integer({ description: "Of all pages" }),
  next_token: Type.Union([Type.String(), Type.Null()]),
  results: Type.Array(MovementRow),
});

export const RawInvoicesQuery = Type.Object({
  select_filters: Text("JSON: {column: {operator: value}}"),
  select_cols: Text("JSON: a list of columns; all when left out"),
  order_by: Text('JSON: [{"col": name, "dir": "asc" | "desc"}]'),
  limit: Type.Optional(Type.Number({ description: "1000 when left out, at most 10000" })),
});

const Nothing = Type.Null();
const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);
export const RawInvoice = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  when: Type.Number(),
  paid_on: MaybeNumber,
  payment_expected: Type.Number(),
  amount_cents: Type.Integer({ description: "Above zero for what came to the account, below for what left it" }),
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
