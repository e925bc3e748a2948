import { Type } from "typebox";
import { MAX_ID } from "../../../../base/ids.ts";
import { model } from "../../../../http/model.ts";

const Success = Type.Literal(true);

export const MakeLinkBody = Type.Object({
  user_id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID })),
});
export const LinkResponse = model("SignInLink", {
  success: Success,
  user_id: Type.Integer(),
  token: Type.String(),
  path: Type.String(),
  expires_at: Type.Number(),
});

export const InviteBody = Type.Object({ email: Type.Optional(Type.String()) });
const INVITATION = {
  id: Type.Integer(),
  email: Type.Union([Type.String(), Type.Null()]),
  user_id: Type.Union([Type.Integer(), Type.Null()]),
  created_at: Type.Number(),
  expires_at: Type.Number(),
  used_at: Type.Union([Type.Number(), Type.Null()]),
};
export const InvitedResponse = model("NewSignUpInvitation", {
  success: Success,
  ...INVITATION,
  token: Type.String(),
  path: Type.String(),
});
export const InvitationsResponse = Type.Object({
  success: Success,
  invitations: Type.Array(model("SignUpInvitation", INVITATION)),
});
export const InvitationParams = Type.Object({ id: Type.String() });
export const RevokedResponse = Type.Object({ success: Success, msg: Type.String() });
