import { Type } from "typebox";
import { model } from "../../../http/model.ts";

const Success = Type.Literal(true);
const Reason = Type.String({
  minLength: 1,
  maxLength: 500,
  description: "The reason, which the account's owner reads",
});

export const FreezeParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) });
export const FreezeQuery = Type.Object({
  all: Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false")])),
});
export const FreezeBody = Type.Object({
  user: Type.String({ minLength: 1, maxLength: 320, description: "E-mail address or id of the account" }),
  reason: Reason,
});
export const LiftBody = Type.Object({ reason: Reason });

export const FreezeResponse = Type.Object({
  success: Success,
  id: Type.Integer({ description: "Id of the freeze" }),
  is_new: Type.Boolean({ description: "False when the account had an open freeze of its own already" }),
  user_ids: Type.Array(Type.Integer(), {
    description: "Ids of the accounts that this request froze: subaccounts, and teams without another member, as well",
  }),
  team_ids: Type.Array(Type.Integer()),
});
export const LiftResponse = Type.Object({
  success: Success,
  user_ids: Type.Array(Type.Integer(), { description: "Ids of the accounts that are no longer frozen" }),
});
export const FreezesResponse = Type.Object({
  success: Success,
  freezes: Type.Array(
    model("Freeze", {
      id: Type.Integer(),
      user_id: Type.Integer({ description: "Id of the account that was named; its subaccounts are frozen with it" }),
      reason: Type.String(),
      frozen_by: Type.Integer({ description: "Id of the administrator who froze the account" }),
      frozen_at: Type.Number(),
      lifted_by: Type.Union([Type.Integer(), Type.Null()]),
      lifted_at: Type.Union([Type.Number(), Type.Null()]),
      lift_reason: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
});
