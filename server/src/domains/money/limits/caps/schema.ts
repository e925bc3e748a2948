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
  description: "Days and months of UTC; a total never starts over",
});
const Dollars = (description: string) => Type.Number({ description });

const Cap = model("Cap", {
  id: Type.Integer(),
  scope: Scope,
  scope_id: Type.Integer({ description: "Id of the account, API key, endpoint or instance" }),
  period: Period,
  limit: Dollars("Dollars that may be spent in one period"),
  spent: Dollars("Dollars charged in the present period"),
  held: Dollars("Dollars set aside for what runs now"),
  left: Dollars("Dollars that can still be set aside; 0 when the limit is reached"),
  holds_from: Type.Number(),
  stops_at: Type.Union([Type.Number(), Type.Null()]),
  resets_at: Type.Union([Type.Number(), Type.Null()]),
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
      description: "Id of the API key, endpoint or instance; for the account it may be left out",
    }),
  ),
  period: Period,
  limit: Type.Number({ minimum: 0, maximum: MAX_DOLLARS }),
});
export type PutCapBody = Static<typeof PutCapBody>;

export const IdParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: MAX_ID }) });
