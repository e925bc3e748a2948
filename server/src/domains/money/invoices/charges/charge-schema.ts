import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Text = Type.Optional(Type.String());
const MaybeInteger = Type.Union([Type.Integer(), Type.Null()]);
const MaybeText = Type.Union([Type.String(), Type.Null()]);

export const ChargesQuery = Type.Object({
  select_filters: Text,
  format: Text,
  latest_first: Text,
  limit: Type.Optional(Type.Number()),
  after_token: Text,
});

const amounts = {
  description: Type.String(),
  amount: Type.Number({ description: "Dollars, to three decimals, such that parts add up to their whole" }),
  amount_exact: Type.String({ description: "Dollars, with every digit" }),
};
const span = {
  start: Type.Number(),
  end: Type.Number(),
};

/** Charges below a charge have the same form; their depth follows from the format. */
export const ChargeRow = model("Charge", {
  ...span,
  type: Type.String(),
  source: MaybeText,
  ...amounts,
  metadata: Type.Object({
    template_id: Type.Optional(Type.Integer()),
    label: Type.Optional(Type.String()),
    endpoint_id: Type.Optional(Type.Integer()),
    workergroup_id: Type.Optional(Type.Integer()),
    quantity: Type.Optional(Type.Number()),
    unit: Type.Optional(Type.String()),
    unpaid: Type.Optional(
      Type.String({ description: "Dollars that were due besides and could not be paid, with every digit" }),
    ),
  }),
  items: Type.Array(Type.Unknown({ description: "Rows of the same form" })),
});
export type ChargeRow = Omit<Static<typeof ChargeRow>, "items"> & { items: ChargeRow[] };

/** One line of a charge, with all that it follows from. */
export const ChargeLineRow = model("ChargeLine", {
  id: Type.Integer(),
  ...span,
  type: Type.String(),
  source: MaybeText,
  ...amounts,
  state: Type.String(),
  cause: Type.String(),
  instance_id: MaybeInteger,
  volume_id: MaybeInteger,
  machine_id: MaybeInteger,
  generation: MaybeInteger,
  quantity: Type.Integer(),
  size_gb: Type.Union([Type.Number(), Type.Null()]),
  unit_price: Type.String(),
  discount: Type.Number(),
  unpaid: Type.String({ description: "Dollars that were due besides and could not be paid, with every digit" }),
  paid_from: Type.String(),
  charged_at: Type.Number(),
  metadata: Type.Object({}),
  items: Type.Array(Type.Never()),
});
export type ChargeLineRow = Static<typeof ChargeLineRow>;

export const ChargesResponse = Type.Object({
  success: Type.Literal(true),
  count: Type.Integer(),
  total: Type.Integer(),
  total_amount: Type.String(),
  next_token: MaybeText,
  results: Type.Array(Type.Union([ChargeLineRow, ChargeRow])),
});

export const ChargesChartQuery = Type.Object({ select_filters: Text });

const chartSums = {
  instance: Type.Number({ description: "Dollars for instances that work for no endpoint", examples: [1.5] }),
  serverless: Type.Number({ description: "Dollars for instances that work for endpoints", examples: [0] }),
  volume: Type.Number({ description: "Dollars for volumes", examples: [0.25] }),
  gpu: Type.Number({ description: "Dollars for running time", examples: [1.4] }),
  disk: Type.Number({ description: "Dollars for storage", examples: [0.3] }),
  bwd: Type.Number({ description: "Dollars for received traffic", examples: [0.03] }),
  bwu: Type.Number({ description: "Dollars for sent traffic", examples: [0.02] }),
  amount: Type.Number({ description: "Dollars in all: by kind of contract, or by component", examples: [1.75] }),
  amount_exact: Type.String({ description: "Dollars in all, with every digit", examples: ["1.75"] }),
};
export const ChargesChartResponse = Type.Object({
  success: Type.Literal(true),
  chart: Type.Array(
    model("ChargesChartDay", {
      day: Type.Integer({ description: "The day (UTC), in days since 1970", examples: [20_454] }),
      start: Type.Number({
        description: "Beginning of the day, in seconds since the epoch",
        examples: [1_767_225_600],
      }),
      end: Type.Number({ description: "End of the day, in seconds since the epoch", examples: [1_767_312_000] }),
      ...chartSums,
    }),
    { description: "Every day of the window, the earliest first, days without charges too" },
  ),
  total: model("ChargesChartTotal", chartSums, { description: "Sums over the window" }),
});
export type ChargesChartResponse = Static<typeof ChargesChartResponse>;
