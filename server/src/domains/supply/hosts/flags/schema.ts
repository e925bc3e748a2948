import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Success = Type.Literal(true);

export const FlagParams = Type.Object({ id: Type.String() });

export const FlagQuery = Type.Object({
  open: Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false")])),
});

const Flag = model("HostFlag", {
  id: Type.Integer(),
  host_id: Type.Integer(),
  machine_id: Type.Union([Type.Integer(), Type.Null()]),
  kind: Type.String(),
  msg: Type.String(),
  facts: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Null()])),
  since: Type.Number({ description: "Time at which it was seen first, in seconds since the epoch" }),
  last_at: Type.Number({ description: "Time at which it was seen last, in seconds since the epoch" }),
  seen_count: Type.Integer({ description: "Number of times that it was seen" }),
  cleared_at: Type.Union([Type.Number(), Type.Null()]),
  cleared_by: Type.Union([Type.Integer(), Type.Null()]),
  clear_reason: Type.Union([Type.String(), Type.Null()]),
});
export type Flag = Static<typeof Flag>;

export const FlagsResponse = model("HostFlags", {
  success: Success,
  flags: Type.Array(Flag),
});

export const ClearFlagBody = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 500, description: "The reason, which the host reads" }),
});
export const ClearFlagResponse = Type.Object({ success: Success, flag: Flag });
