import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";
import type { FoundPrice } from "../../../../base/hourly-price.ts";
import { CreateAnswer, CreateBody } from "./create-schema.ts";

/** The fields of a found offer that renting by a search needs. */
type FoundOffer = FoundPrice & { readonly id: number };

/** Searches the offers as `POST /api/v0/bundles/` does; mistakes in the query are `invalid`. */
export type SearchOffers = (query: Readonly<Record<string, unknown>>) => readonly FoundOffer[];

const OFFERS_MAX = 64;

export const LaunchBody = Type.Object(
  {
    ...CreateBody.properties,
    q: Type.Optional(
      Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })], {
        description: "Search for offers, as the body of `POST /api/v0/bundles/` or as a query text",
      }),
    ),
    gpu_name: Type.Optional(Type.String({ maxLength: 256 })),
    num_gpus: Type.Optional(Type.Union([Type.Integer(), Type.String({ maxLength: 16 })])),
    region: Type.Optional(Type.String({ maxLength: 256 })),
  },
  { additionalProperties: true },
);

export const BulkBody = Type.Object(
  {
    ...CreateBody.properties,
    ids: Type.Array(Type.Integer(), { minItems: 1, maxItems: OFFERS_MAX, description: "Ids of offers" }),
  },
  { additionalProperties: true },
);

const Made = model("CreatedInstance", {
  ...CreateAnswer.properties,
  state: Type.Union([Type.Literal("running"), Type.Literal("stopped")]),
  msg: Type.Optional(Type.String()),
});
const Refused = model("RefusedOffer", {
  success: Type.Literal(false),
  ask_id: Type.Integer(),
  error: Type.String(),
  msg: Type.String(),
});

export type LaunchBody = Static<typeof LaunchBody>;
export type BulkBody = Static<typeof BulkBody>;

export const BulkAnswer = Type.Object({
  success: Type.Literal(true),
  created: Type.Array(Type.Integer(), { description: "Ids of the created instances", examples: [[481]] }),
  failed: Type.Array(Type.Integer(), { description: "Ids of the offers that could not be had", examples: [[483]] }),
  elapsed: Type.Number({ description: "Seconds that the server took", examples: [0.02] }),
  new_contracts: Type.Array(Type.Integer(), { description: "The ids of `created`, under an older name" }),
  results: Type.Array(Type.Union([Made, Refused]), { description: "One result for each offer, in the order of `ids`" }),
});
