import { Type } from "typebox";
import { model } from "../../../../http/model.ts";
import { State } from "../schema.ts";

/** The most instances of one bulk change, as the contract allows. Published clients send 64 at most. */
const INSTANCES_MAX = 100;

const Ids = Type.Array(Type.Integer(), { minItems: 1, maxItems: INSTANCES_MAX, description: "Ids of instances" });

export const BulkUpdateBody = Type.Object({ state: State, ids: Ids }, { additionalProperties: true });

export const BulkStartBody = Type.Object({ IDs: Ids }, { additionalProperties: true });

export const BulkDestroyBody = Type.Object({ instance_ids: Ids }, { additionalProperties: true });

const Result = model("InstanceChange", {
  id: Type.Integer(),
  success: Type.Boolean(),
  error: Type.Optional(Type.String()),
  msg: Type.Optional(Type.String()),
});

export const BulkChangeAnswer = model("InstanceChanges", {
  success: Type.Literal(true, { description: "Always true: a request that changes none of the instances is refused" }),
  msg: Type.String(),
  results: Type.Array(Result, { description: "One result for each instance, in the order of the ids" }),
});
