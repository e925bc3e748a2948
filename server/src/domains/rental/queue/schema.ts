import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { CreateBody as InstanceBody } from "../instances/index.ts";

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const Time = Type.Number();

/** The body of an instance's creation, with the search to wait for. */
export const CreateBody = Type.Object(
  {
    ...InstanceBody.properties,
    q: Type.Optional(
      Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })], {
        description: "Search for offers, as the body of `POST /api/v0/bundles/` or as a query text",
      }),
    ),
    max_dph: Type.Optional(Type.Number()),
    expires_in_hours: Type.Optional(
      Type.Number({ description: "Hours for which the request waits: at most 720, 24 by default" }),
    ),
  },
  { additionalProperties: true },
);
export type CreateBody = Static<typeof CreateBody>;

export const Created = Type.Object({
  success: Type.Literal(true),
  id: Type.Integer(),
  position: Type.Integer({ description: "Position of the request in the queue; 1 is served first" }),
  expires_at: Time,
});

const Status = Type.Union([
  Type.Literal("open"),
  Type.Literal("claimed"),
  Type.Literal("cancelled"),
  Type.Literal("expired"),
  Type.Literal("failed"),
]);

const StandingRequest = model("StandingRequest", {
  id: Type.Integer(),
  status: Status,
  reason: Type.String(),
  position: Nullable(Type.Integer()),
  q: Type.Object({}, { additionalProperties: true }),
  max_dph: Nullable(Type.Number()),
  price: Nullable(Type.Number()),
  image: Type.String(),
  template_hash_id: Nullable(Type.String()),
  disk: Type.Number(),
  label: Nullable(Type.String()),
  created_at: Time,
  expires_at: Time,
  attempted_at: Nullable(Time),
  closed_at: Nullable(Time),
  instance_id: Nullable(Type.Integer()),
});

export const IdParams = Type.Object({ id: Type.Integer() });
export const Listing = Type.Object({ success: Type.Literal(true), standing_requests: Type.Array(StandingRequest) });
export const Shown = Type.Object({
  success: Type.Literal(true),
  standing_request: model("ShownStandingRequest", {
    ...StandingRequest.properties,
    offers_matching: Type.Integer({ description: "Offers that the request could have now, counted up to 64" }),
    offers_at_any_price: Type.Integer({ description: "Offers that its search finds at any price, counted up to 64" }),
    cheapest_dph: Nullable(
      Type.Number({
        description:
          "Dollars an hour of the cheapest offer that its search finds, disk included; null when there is none",
      }),
    ),
  }),
});
export const Done = Type.Object({ success: Type.Literal(true), msg: Type.String() });
