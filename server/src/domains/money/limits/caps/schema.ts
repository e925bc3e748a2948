import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";
import { MAX_ID } from "../../../../base/ids.ts";
import { MAX_DOLLARS } from "../../../../base/money.ts";

const Scope = Type.Union([
  Type.Literal("account"),
  Type.Literal("key"),
  Type.Literal("endpoint"),
  Type.Literal("instance"),
]);
const Period = Type.Union([Type.Literal("day"), Type.Literal("month"), Type.Literal("total")], {
  description: "Days and months of UTC; a total never begins anew.",
});
const Dollars = (description: string) => Type.Number({ description });

const Cap = model("Cap", {
  id: Type.Integer(),
  scope: Scope,
  scope_id: Type.Integer({ description: "Of the account, API key, endpoint group or instance." }),
  period: Period,
  limit: Dollars("Dollars that may be spent in one period."),
  spent: Dollars("Dollars charged in the present period."),
  held: Dollars("Dollars set aside for what runs now."),
  left: Dollars("Dollars that can still be set aside; 0 when the limit is reached."),
  holds_from: Type.Number({
    description:
      "From when on the limit holds, in seconds since the epoch. What was consumed before counts as spent and is charged in full, so spent may be above the limit. In the future while something runs that the limit does not bear: it is stopped before.",
  }),
  stops_at: Type.Union([Type.Number(), Type.Null()], {
    description:
      "About when what runs within this cap is stopped, in seconds since the epoch, if it goes on at the rate of now; null while nothing runs that costs anything.",
  }),
  resets_at: Type.Union([Type.Number(), Type.Null()], {
    description: "When the next period begins, in seconds since the epoch; null for a total.",
  }),
});

export const Caps = Type.Object({ success: Type.Literal(true), caps: Type.Array(Cap) });
export const CapAnswer = Type.Object({ success: Type.Literal(true), cap: Cap });
export const Done = Type.Object({ success: Type.Literal(true), msg: Type.String() });

export const PutCapBody = Type.Object({
  scope: Scope,
  scope_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ID,
      description: "Of what is limited; for the account it may be left out.",
    }),
  ),
  period: Period,
  limit: Type.Number({ minimum: 0, maximum: MAX_DOLLARS, description: "Dollars that may be spent in one period." }),
});
export type PutCapBody = Static<typeof PutCapBody>;

export const IdParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: MAX_ID }) });
