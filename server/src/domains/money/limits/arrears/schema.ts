import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

const Arrears = model("Arrears", {
  began_at: Type.Number({ description: "Seconds since the epoch." }),
  delete_at: Type.Number({
    description: "When instances and volumes are deleted, unless the balance is zero or above.",
  }),
  storage_per_hour: Type.Number({ description: "Dollars an hour that the data cost when it began." }),
  floor: Type.Number({ description: "The lowest balance meanwhile, in dollars." }),
});

const CappedData = model("CappedData", {
  cap_id: Type.Integer(),
  scope: Type.String({ description: "account, key, endpoint or instance" }),
  scope_id: Type.Integer(),
  period: Type.String({ description: "day, month or total" }),
  began_at: Type.Number({ description: "Seconds since the epoch." }),
  delete_at: Type.Number({
    description: "When these are deleted, unless the cap leaves enough for at least a day of them before.",
  }),
  storage_per_hour: Type.Number({ description: "Dollars an hour that the data cost when it began." }),
  instance_ids: Type.Array(Type.Integer()),
  volume_ids: Type.Array(Type.Integer()),
});

export const ArrearsAnswer = Type.Object({
  success: Type.Literal(true),
  arrears: Type.Union([Arrears, Type.Null()], { description: "Null unless unpaid data is kept." }),
  balance_stops_at: Type.Union([Type.Number(), Type.Null()], {
    description:
      "The time at which running instances are stopped for lack of credit if costs stay as they are, in seconds since the epoch; null while nothing that costs anything runs.",
  }),
  caps: Type.Array(CappedData, { description: "Caps that leave nothing for the storage within their scopes." }),
});
