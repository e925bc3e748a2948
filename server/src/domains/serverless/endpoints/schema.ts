import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { DEFAULT_PARAMETERS, ENDPOINT_STATES } from "./rules/parameters.ts";

const nullableNumber = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

/** Parameters of an endpoint group. `parameters.ts` checks their ranges. */
export const EndpointBody = model("EndpointSettings", {
  endpoint_name: Type.Optional(Type.String({ description: "1 to 255 characters.", default: DEFAULT_PARAMETERS.name })),
  min_load: Type.Optional(Type.Number({ description: "Load always ready for.", default: DEFAULT_PARAMETERS.minLoad })),
  target_util: Type.Optional(
    Type.Number({ description: "Above 0, at most 1.", default: DEFAULT_PARAMETERS.targetUtil }),
  ),
  cold_mult: Type.Optional(Type.Number({ description: "Above 0.", default: DEFAULT_PARAMETERS.coldMult })),
  cold_workers: Type.Optional(
    Type.Integer({ description: "At most max_workers.", default: DEFAULT_PARAMETERS.coldWorkers }),
  ),
  min_workers: Type.Optional(Type.Integer()),
  max_workers: Type.Optional(Type.Integer({ description: "At least 1.", default: DEFAULT_PARAMETERS.maxWorkers })),
  min_cold_load: Type.Optional(
    Type.Number({ description: "Load that hot and cold workers together can take.", default: 0 }),
  ),
  max_queue_time: Type.Optional(Type.Number({ description: "Seconds a worker's queue may be long." })),
  target_queue_time: Type.Optional(Type.Number({ description: "Seconds in the queue above which workers are added." })),
  inactivity_timeout: Type.Optional(
    Type.Number({ description: "Seconds without requests before scaling to zero; negative: never." }),
  ),
  endpoint_state: Type.Optional(Type.String({ description: ENDPOINT_STATES.join(", "), default: "active" })),
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
  max_queue_time: nullableNumber("Seconds."),
  target_queue_time: nullableNumber("Seconds."),
  inactivity_timeout: nullableNumber("Seconds."),
  auto_delete_in_seconds: nullableNumber("Seconds."),
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
