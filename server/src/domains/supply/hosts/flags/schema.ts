import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Success = Type.Literal(true);

export const FlagParams = Type.Object({ id: Type.String() });

export const FlagQuery = Type.Object({
  open: Type.Optional(
    Type.Union([Type.Literal("true"), Type.Literal("false")], {
      description: "`true` shows open flags alone, `false` those that were cleared; without it both",
    }),
  ),
});

const Flag = model("HostFlag", {
  id: Type.Integer(),
  host_id: Type.Integer(),
  machine_id: Type.Union([Type.Integer(), Type.Null()], { description: "Null where no known machine is concerned" }),
  kind: Type.String({ description: "docs/hosts.md lists the kinds" }),
  msg: Type.String({ description: "One sentence that names the contradiction" }),
  facts: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Null()]), {
    description: "The numbers that it was concluded from, as of the last time",
  }),
  since: Type.Number({ description: "When it was seen first, as Unix time" }),
  last_at: Type.Number({ description: "When it was seen last, as Unix time" }),
  seen_count: Type.Integer({ description: "How often it was seen" }),
  cleared_at: Type.Union([Type.Number(), Type.Null()]),
  cleared_by: Type.Union([Type.Integer(), Type.Null()], { description: "The administrator who cleared it" }),
  clear_reason: Type.Union([Type.String(), Type.Null()]),
});
export type Flag = Static<typeof Flag>;

export const FlagsResponse = model("HostFlags", {
  success: Success,
  flags: Type.Array(Flag, { description: "Newest first" }),
});

export const ClearFlagBody = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 500, description: "Why; the host reads it" }),
});
export const ClearFlagResponse = Type.Object({ success: Success, flag: Flag });
