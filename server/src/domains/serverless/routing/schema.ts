import { Type, type Static } from "typebox";
import { MAX_ID } from "../../../base/ids.ts";
import { model } from "../../../http/model.ts";

/** A cost above this is a mistake, and would drown all other loads in rounding. */
const COST_MAX = 1e12;
export const REPLAY_TIMEOUT_S = 60;
const REPLAY_TIMEOUT_MAX_S = 86_400;

/** A request for a worker (docs/endpoints.md#routing). */
export const RouteBody = Type.Object({
  endpoint: Type.Optional(Type.String({ description: "Name of the endpoint" })),
  endpoint_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_ID, description: "Id of the endpoint, which counts before a name" }),
  ),
  cost: Type.Number({ minimum: 0, maximum: COST_MAX }),
  latency: Type.Optional(
    Type.Number({ minimum: 0, description: "Seconds that the client measured; accepted, unused" }),
  ),
  guid: Type.Optional(Type.Integer({ description: "The client's own number of the request; accepted, unused" })),
  api_key: Type.Optional(Type.String()),
  request_idx: Type.Optional(
    Type.Integer({ minimum: 0, description: "Number that an earlier answer gave to the request; 0 for a new request" }),
  ),
  replay_timeout: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: REPLAY_TIMEOUT_MAX_S,
      default: REPLAY_TIMEOUT_S,
      description: "Seconds for which a routed request may be routed again under its number",
    }),
  ),
});
export type RouteBody = Static<typeof RouteBody>;

export const PublicKeysResponse = Type.Object({
  success: Type.Literal(true),
  pubkeys: Type.Array(
    model("PublicKey", {
      id: Type.Integer(),
      algorithm: Type.Literal("RSA-SHA256"),
      public_key: Type.String(),
    }),
  ),
});

export const RouteQuery = Type.Object({ api_key: Type.Optional(Type.String()) });

export const RouteResponse = Type.Object({
  endpoint: Type.String(),
  url: Type.Optional(Type.String()),
  cost: Type.Number(),
  reqnum: Type.Optional(
    Type.Integer({
      description: "Number that rises with each request that the worker is given; no two of its requests share one",
    }),
  ),
  request_idx: Type.Integer({ description: "Number of the request, to be sent when it is routed again" }),
  signature: Type.Optional(Type.String()),
  expires_at: Type.Optional(
    Type.Integer({ description: "Time until which the worker takes the request, in seconds since the epoch" }),
  ),
  ticket: Type.Optional(Type.String()),
  status: Type.Optional(Type.String()),
  __request_id: Type.String(),
});
export type RouteResponse = Static<typeof RouteResponse>;
