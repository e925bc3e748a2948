import { Type, type Static } from "typebox";

/** A cost above this is a mistake, and would drown all other loads in rounding. */
const COST_MAX = 1e12;
export const REPLAY_TIMEOUT_S = 60;
const REPLAY_TIMEOUT_MAX_S = 86_400;

/** A request for a worker (docs/endpoints.md#routing). */
export const RouteBody = Type.Object({
  endpoint: Type.String({ description: "The endpoint's name." }),
  cost: Type.Number({ minimum: 0, maximum: COST_MAX }),
  api_key: Type.Optional(Type.String()),
  request_idx: Type.Optional(
    Type.Integer({ minimum: 0, description: "0, or the number that an earlier answer gave to the request." }),
  ),
  replay_timeout: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: REPLAY_TIMEOUT_MAX_S,
      default: REPLAY_TIMEOUT_S,
      description: "Seconds in which a request that was routed may be routed again under its number.",
    }),
  ),
});
export type RouteBody = Static<typeof RouteBody>;

export const RouteQuery = Type.Object({ api_key: Type.Optional(Type.String()) });

export const RouteResponse = Type.Object({
  endpoint: Type.String(),
  url: Type.Optional(Type.String()),
  cost: Type.Number(),
  reqnum: Type.Optional(
    Type.Integer({ description: "Rises with what the worker is given; no two requests to it have the same." }),
  ),
  request_idx: Type.Integer({ description: "The number of the request, to be sent when it is routed again." }),
  signature: Type.Optional(Type.String()),
  expires_at: Type.Optional(Type.Integer({ description: "Seconds since 1970, until when the worker takes it." })),
  ticket: Type.Optional(Type.String()),
  status: Type.Optional(Type.String()),
  __request_id: Type.String(),
});
export type RouteResponse = Static<typeof RouteResponse>;
