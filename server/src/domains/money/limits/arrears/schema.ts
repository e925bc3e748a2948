import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

const Arrears = model("Arrears", {
  began_at: Type.Number({ description: "Time from which storage was not paid, in seconds since the epoch" }),
  delete_at: Type.Number(),
  storage_per_hour: Type.Number({ description: "Dollars an hour that the stored data cost at that time" }),
  floor: Type.Number(),
});

const CappedData = model("CappedData", {
  cap_id: Type.Integer(),
  scope: Type.String(),
  scope_id: Type.Integer(),
  period: Type.String(),
  began_at: Type.Number({ description: "Time from which storage was not paid, in seconds since the epoch" }),
  delete_at: Type.Number(),
  storage_per_hour: Type.Number({ description: "Dollars an hour that the stored data cost at that time" }),
  instance_ids: Type.Array(Type.Integer()),
  volume_ids: Type.Array(Type.Integer()),
});

export const ArrearsAnswer = Type.Object({
  success: Type.Literal(true),
  arrears: Type.Union([Arrears, Type.Null()]),
  balance_stops_at: Type.Union([Type.Number(), Type.Null()]),
  caps: Type.Array(CappedData),
});
