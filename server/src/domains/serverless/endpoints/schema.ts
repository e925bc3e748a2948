import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { DEFAULT_PARAMETERS } from "./rules/parameters.ts";

const NullableNumber = Type.Union([Type.Number(), Type.Null()]);

/** Parameters of an endpoint group. `parameters.ts` checks their ranges. */
export const EndpointBody = model("EndpointSettings", {
  endpoint_name: Type.Optional(Type.String({ default: DEFAULT_PARAMETERS.name })),
  min_load: Type.Optional(Type.Number({ default: DEFAULT_PARAMETERS.minLoad })),
  target_util: Type.Optional(Type.Number({ default: DEFAULT_PARAMETERS.targetUtil })),
  cold_mult: Type.Optional(Type.Number({ default: DEFAULT_PARAMETERS.coldMult })),
  cold_workers: Type.Optional(Type.Integer({ default: DEFAULT_PARAMETERS.coldWorkers })),
  min_workers: Type.Optional(Type.Integer()),
  max_workers: Type.Optional(Type.Integer({ default: DEFAULT_PARAMETERS.maxWorkers })),
  min_cold_load: Type.Optional(Type.Number({ default: 0 })),
  max_queue_time: Type.Optional(Type.Number()),
  target_queue_time: Type.Optional(Type.Number()),
  inactivity_timeout: Type.Optional(Type.Number()),
  endpoint_state: Type.Optional(Type.String({ default: "active" })),
});
export type EndpointBody = Static<typeof EndpointBody>;

export const EndpointPath = Type.Object({ id: Type.Integer() });

export const CreateEndpointResponse = Type.Object({
  success: Type.Literal(true),
  result: Type.Integer(),
});

export const EndpointRecord = model("Endpoint", {
  id: Type.Integer(),
  user_id: Type.Integer(),
  endpoint_name: Type.String(),
  api_key: Type.String(),
  created_at: Type.Number(),
  endpoint_state: Type.String(),
  min_load: Type.Number(),
  min_cold_load: Type.Number(),
  target_util: Type.Number(),
  cold_mult: Type.Number(),
  cold_workers: Type.Integer(),
  max_workers: Type.Integer(),
  max_queue_time: NullableNumber,
  target_queue_time: NullableNumber,
  inactivity_timeout: NullableNumber,
  auto_delete_in_seconds: NullableNumber,
  auto_delete_due_24h: Type.Boolean(),
});
export type EndpointRecord = Static<typeof EndpointRecord>;

export const ListEndpointsResponse = Type.Object({ success: Type.Literal(true), results: Type.Array(EndpointRecord) });
export const ShowEndpointResponse = Type.Object({ success: Type.Literal(true), result: EndpointRecord });
export const UpdateEndpointResponse = Type.Object({ success: Type.Literal(true) });

export const DeleteEndpointResponse = model("RemovedWorkers", {
  success: Type.Literal(true),
  deleted_workers: Type.Array(Type.Integer()),
  failed_workers: Type.Array(Type.Integer()),
  msg: Type.String(),
});
