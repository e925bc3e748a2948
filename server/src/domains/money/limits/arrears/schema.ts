import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

const Arrears = model("Arrears", {
  began_at: Type.Number({ description: "Seconds since the epoch." }),
  delete_at: Type.Number({
    description: "When instances and volumes are deleted, unless the balance is zero or above.",
  }),
  storage_per_hour: Type.Number({ description: "Dollars an hour that the data cost when it began." }),
  floor: Type.Number({ description: "Dollars: the balance does not go below this meanwhile." }),
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
  arrears: Type.Union([Arrears, Type.Null()], { description: "Null unless data is kept that nobody pays for." }),
  balance_stops_at: Type.Union([Type.Number(), Type.Null()], {
    description:
      "About when what runs is stopped for want of credit, in seconds since the epoch, if it goes on at the rate of now; null while nothing runs that costs anything.",
  }),
  caps: Type.Array(CappedData, { description: "Caps that leave nothing for what is stored within their scopes." }),
});
