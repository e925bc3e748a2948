import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

const Hours = Type.Optional(Type.Integer({ minimum: 1, maximum: 168 }));
const Price = Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 }));

export const BidHistoryQuery = Type.Object({ hours: Hours, price: Price }, { additionalProperties: true });
export const ModelBidHistoryQuery = Type.Object(
  {
    gpu_name: Type.String({ minLength: 1, maxLength: 256 }),
    num_gpus: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    hours: Hours,
    price: Price,
  },
  { additionalProperties: true },
);
export const OfferParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
});

const DollarsOrNull = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], { description, examples: [0.41] });

const Outcome = model("BidOutcome", {
  price: Type.Number({ description: "The bid, in dollars an hour for all GPUs", examples: [0.41] }),
  running_share: Type.Number({
    description: "Part of the known time in which it would have run, from 0 to 1",
    examples: [0.93],
  }),
  running_hours: Type.Number({ description: "Hours in which it would have run", examples: [156.2] }),
  interruptions: Type.Integer({ description: "Times that it would have had to stop", examples: [2] }),
  cost: Type.Number({ description: "Dollars for the GPUs in the hours in which it would have run", examples: [64.05] }),
});

const history = {
  num_gpus: Type.Integer(),
  from: Type.Number({ description: "Beginning of the span, in seconds since 1970", examples: [1_769_299_200] }),
  to: Type.Number({ description: "End of the span, in seconds since 1970", examples: [1_769_904_000] }),
  known_hours: Type.Number({
    description: "Hours of the span in which the server watched the market; shares are of these",
    examples: [168],
  }),
  lowest_now: DollarsOrNull(
    "Lowest bid that ran when the market was last watched, in dollars an hour; null when none did",
  ),
  at_price: Type.Union([Outcome, Type.Null()], { description: "Outcome of the `price` asked for; null without one" }),
  ladder: Type.Array(Outcome, {
    description: "Outcomes of at most 32 prices, ascending; between two of them the outcome is that of the lower one",
  }),
  points: Type.Array(
    model("BidFloorPoint", {
      at: Type.Number({ description: "Beginning of the step, in seconds since 1970", examples: [1_769_299_200] }),
      lowest: DollarsOrNull("Lowest bid that ran at some moment of the step, in dollars an hour; null when none did"),
      highest: DollarsOrNull("Bid that ran at each moment of the step in which any did, in dollars an hour"),
      open_share: Type.Number({ description: "Part of the step's known time in which a bid could run", examples: [1] }),
    }),
    { description: "The lowest bids over time, in steps of an hour; steps that nobody watched are absent" },
  ),
};

export const BidHistory = Type.Object({ success: Type.Literal(true), ask_id: Type.Integer(), ...history });
export const ModelBidHistory = Type.Object({ success: Type.Literal(true), gpu_name: Type.String(), ...history });
