import { Type } from "typebox";
import { model } from "../../../http/model.ts";
import { MAX_DOLLARS } from "../../../base/money.ts";

const NullableNumber = Type.Union([Type.Number(), Type.Null()]);

export const IdParams = Type.Object({ id: Type.Integer() });

export const PrepayBody = Type.Object(
  {
    amount: Type.Number({ exclusiveMinimum: 0, maximum: MAX_DOLLARS }),
  },
  { additionalProperties: true },
);

export const Prepaid = Type.Object({
  success: Type.Literal(true),
  timescale: Type.Number(),
  discount_rate: Type.Number(),
  deposit: Type.Number(),
});

export const DepositBalance = Type.Object({
  success: Type.Literal(true),
  refundable_deposit: Type.Number({ description: "Dollars that come back if the instance is destroyed now" }),
  total_discount: Type.Number({ description: "Dollars that the discount has saved so far" }),
  discount_months: Type.Number({ description: "Months of running that the deposit still pays" }),
  deposit: Type.Number(),
  discount_rate: Type.Number(),
});

const PriceIncrease = model("PriceIncrease", {
  pending_price_increase_id: Type.Integer(),
  contract_id: Type.Integer(),
  host_id: Type.Integer(),
  old_gpu_costpersec: Type.Number(),
  new_gpu_costpersec: NullableNumber,
  old_disk_ram_costpersec: Type.Number(),
  new_disk_ram_costpersec: NullableNumber,
  old_bwu_cost: Type.Number(),
  new_bwu_cost: NullableNumber,
  old_bwd_cost: Type.Number(),
  new_bwd_cost: NullableNumber,
  old_platform_fee: Type.Number(),
  new_platform_fee: NullableNumber,
  contract_end_date: Type.Number({ description: "Present end of the rental, in seconds since the epoch" }),
  ask_end_date: Type.Number({ description: "End of the rental if this is accepted, in seconds since the epoch" }),
  created_at: Type.Number(),
});

export const PriceIncreases = Type.Object({
  success: Type.Literal(true),
  count: Type.Integer(),
  truncated: Type.Boolean(),
  pending_price_increases: Type.Array(PriceIncrease),
});

/** A body with exactly this key. The route refuses other keys, which the framework would accept. */
export const IncreaseBody = model(
  "PriceIncreaseChoice",
  { pending_price_increase_id: Type.Integer() },
  { additionalProperties: true },
);

export const OwnIncreaseBody = Type.Object({ pending_price_increase_id: Type.Optional(Type.Integer()) });

export const IncreaseAnswer = model("PriceIncreaseAnswer", {
  success: Type.Literal(true),
  pending_price_increase_id: Type.Integer(),
  contract_id: Type.Integer(),
});
