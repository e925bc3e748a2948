import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

export const OutlookPath = Type.Object({
  id: Type.String(),
});

export const OutlookQuery = Type.Object(
  {
    type: Type.Optional(Type.Union([Type.Literal("ondemand"), Type.Literal("bid")])),
    num_gpus: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    gpu_name: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    disk: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
  },
  { additionalProperties: true },
);

const OutlookOffer = model("OutlookOffer", {
  ask_id: Type.Integer({ description: "Id of the offer", examples: [481] }),
  machine_id: Type.Integer({ description: "Id of its machine", examples: [12] }),
  gpu_name: Type.String({ description: "Model of its GPUs", examples: ["RTX 4090"] }),
  num_gpus: Type.Integer({ description: "Number of its GPUs", examples: [1] }),
  dph_total: Type.Number({
    description: "Dollars an hour for GPUs and disk; for a bid the lowest that runs",
    examples: [0.31],
  }),
  disk_space: Type.Number({ description: "Free disk, in GB", examples: [900] }),
  geolocation: Type.Union([Type.String(), Type.Null()], {
    description: "City and country of the machine",
    examples: ["Stockholm, SE"],
  }),
});

export const Outlook = Type.Object({
  success: Type.Literal(true),
  template_id: Type.Integer({ description: "Id of the template", examples: [31] }),
  hash_id: Type.String({
    description: "Hash of the present version",
    examples: ["3f1c0a5be9d24c7788aa01f2c3d4e5f6"],
  }),
  disk: Type.Number({ description: "Disk that the rental would have, in GB", examples: [40] }),
  would_start: Type.Boolean({ description: "True when an offer meets all conditions now", examples: [true] }),
  offers: Type.Integer({ description: "Offers that can be rented now", examples: [318] }),
  matching: Type.Integer({ description: "Number of them that meet all conditions", examples: [120] }),
  cheapest: Type.Array(OutlookOffer, { description: "At most five matching offers, the cheapest first" }),
  refused: Type.Array(
    model("OutlookRefusal", {
      field: Type.String({ description: "Field of offers that the condition is about", examples: ["disk_space"] }),
      wanted: Type.Object({}, { additionalProperties: true, description: "The condition", examples: [{ gte: 40 }] }),
      offers: Type.Integer({ description: "Offers that do not meet it", examples: [80] }),
      alone: Type.Integer({ description: "Offers that it alone keeps away", examples: [12] }),
      msg: Type.String({
        description: "The same in a sentence",
        examples: ["80 of 318 offers do not meet: GB of free disk is at least 40."],
      }),
    }),
    { description: "Conditions that keep offers away; first the one whose end would bring most offers" },
  ),
});
