import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Text = (description: string) => Type.Optional(Type.String({ description }));
const MaybeInteger = Type.Union([Type.Integer(), Type.Null()]);
const MaybeText = Type.Union([Type.String(), Type.Null()]);

export const ChargesQuery = Type.Object({
  select_filters: Text('JSON: {"day": {"gte": seconds, "lte": seconds}}, and {"type": {"in": [...]}} if wanted'),
  format: Text("table, tree or lines; table when left out"),
  latest_first: Text("true or false; true when left out"),
  limit: Type.Optional(Type.Number({ description: "100 when left out, at most 500" })),
  after_token: Text("The next_token of the page before"),
});

const amounts = {
  description: Type.String(),
  amount: Type.Number({ description: "Dollars, to three decimals, such that parts add up to their whole" }),
  amount_exact: Type.String({ description: "Dollars, exactly" }),
};
const span = {
  start: Type.Number({ description: "Seconds since 1970: from when on the charge is" }),
  end: Type.Number(),
};

/** What hangs below it is of the same form: how deep that goes follows from the format. */
export const ChargeRow = model("Charge", {
  ...span,
  type: Type.String({ description: "instance, volume or serverless; of an item: gpu, disk, bwd or bwu" }),
  source: MaybeText,
  ...amounts,
  metadata: Type.Object({
    template_id: Type.Optional(MaybeInteger),
    label: Type.Optional(MaybeText),
    endpoint_id: Type.Optional(MaybeInteger),
    workergroup_id: Type.Optional(MaybeInteger),
    quantity: Type.Optional(Type.Number()),
    unit: Type.Optional(Type.String()),
    unpaid: Type.Optional(Type.String({ description: "Dollars that were due besides, exactly" })),
  }),
  items: Type.Array(Type.Unknown({ description: "Rows of the same form" })),
});
export type ChargeRow = Omit<Static<typeof ChargeRow>, "items"> & { items: ChargeRow[] };

/** One line of a charge, with all that it follows from. */
export const ChargeLineRow = model("ChargeLine", {
  id: Type.Integer(),
  ...span,
  type: Type.String({ description: "gpu, disk, bwu or bwd" }),
  source: MaybeText,
  ...amounts,
  state: Type.String({ description: "running, loading, stopped or stored" }),
  cause: Type.String(),
  instance_id: MaybeInteger,
  volume_id: MaybeInteger,
  machine_id: MaybeInteger,
  generation: MaybeInteger,
  quantity: Type.Integer({ description: "Milliseconds for gpu and disk, bytes for bwu and bwd" }),
  size_gb: Type.Union([Type.Number(), Type.Null()]),
  unit_price: Type.String({ description: "Dollars per hour, per GB and month (30 days), or per GB" }),
  discount: Type.Number({ description: "The part of the price that is not charged" }),
  unpaid: Type.String({ description: "Dollars that were due besides, exactly" }),
  paid_from: Type.String({ description: "credit or deposit" }),
  charged_at: Type.Number(),
  metadata: Type.Object({}),
  items: Type.Array(Type.Never()),
});
export type ChargeLineRow = Static<typeof ChargeLineRow>;

export const ChargesResponse = Type.Object({
  success: Type.Literal(true),
  count: Type.Integer({ description: "Of this page" }),
  total: Type.Integer({ description: "Of all pages" }),
  total_amount: Type.String({ description: "Dollars of all pages, exactly" }),
  next_token: MaybeText,
  results: Type.Array(Type.Union([ChargeLineRow, ChargeRow])),
});
