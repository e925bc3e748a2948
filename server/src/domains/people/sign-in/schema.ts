import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { MAX_ID } from "../../../base/ids.ts";
import { CurrentUserResponse } from "../accounts/for-sign-in.ts";

const Success = Type.Literal(true);
const MethodId = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID }));
const Code = Type.Optional(Type.String({ maxLength: 32 }));
const Secret = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));
const AnyMethod = Type.Union([Type.Literal("totp"), Type.Literal("sms"), Type.Literal("email")]);
const StoredMethod = Type.Union([Type.Literal("totp"), Type.Literal("sms")]);
const Seconds = Type.Union([Type.Number(), Type.Null()]);

/** sign-in-service.ts says which of them are missing. */
export const SignInBody = Type.Object({
  username: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  captcha: Type.Optional(Type.String()),
  team_id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID })),
});
export type SignInBody = Static<typeof SignInBody>;

export const MethodView = model("TfaMethod", {
  id: Type.Integer(),
  user_id: Type.Integer(),
  method: StoredMethod,
  label: Type.String(),
  phone_number: Type.Union([Type.String(), Type.Null()]),
  is_primary: Type.Boolean(),
  fail_count: Type.Integer(),
  locked_until: Seconds,
  created_at: Type.Number(),
  last_used: Seconds,
});
export type MethodView = Static<typeof MethodView>;

/** The record of the account with the key of its new session, or the second factor that is missing. */
export const SignInResponse = model("SignIn", {
  ...Type.Partial(CurrentUserResponse).properties,
  success: Success,
  api_key: Type.Optional(Type.String()),
  session_key: Type.Optional(Type.String()),
  session_expires_at: Type.Optional(Type.Number()),
  msg: Type.Optional(Type.Literal("2fa_required")),
  secret: Type.Optional(Type.String()),
  methods: Type.Optional(Type.Array(MethodView)),
  num_backup_codes: Type.Optional(Type.Integer()),
  backup_codes_remaining: Type.Optional(Type.Integer()),
});

export const SignOutResponse = Type.Object({ success: Success, sid: Type.String() });

const SessionFields = {
  id: Type.Integer(),
  key_type: Type.Literal("session"),
  last_ipaddr: Type.String(),
  location: Type.String(),
  browser: Type.Union([Type.String(), Type.Null()]),
  system: Type.Union([Type.String(), Type.Null()]),
  last_used_at: Type.Number(),
  created_at: Type.Number(),
  expires_at: Type.Number(),
};

export const SessionsResponse = Type.Object({
  success: Success,
  sessions: Type.Array(
    model("Session", {
      ...SessionFields,
      deleted_at: Type.Null(),
      has_tfa: Type.Boolean(),
      is_current: Type.Boolean(),
    }),
  ),
});

export const EndSessionsBody = Type.Object({
  all: Type.Optional(Type.Boolean()),
  key_id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID })),
});

export const TeamSessionsResponse = Type.Object({
  success: Type.Boolean({ description: "False when nobody is signed in for the team" }),
  msg: Type.Optional(Type.String()),
  sessions_found: Type.Integer(),
  sessions: Type.Array(
    model("TeamSession", {
      ...SessionFields,
      user_id: Type.Integer(),
      username: Type.String(),
      role_name: Type.String(),
    }),
  ),
});

export const MessageResponse = Type.Object({ success: Success, msg: Type.String() });

export const TfaStatusResponse = model("TfaStatus", {
  success: Success,
  tfa_enabled: Type.Boolean(),
  methods: Type.Array(MethodView),
  backup_codes_remaining: Type.Integer(),
  new_method_authorized: Type.Boolean(),
});

const ProofFields = {
  tfa_method: Type.Optional(AnyMethod),
  code: Code,
  secret: Secret,
  tfa_method_id: MethodId,
  backup_code: Type.Optional(Type.String({ maxLength: 64 })),
};
export type ProofFields = Static<ReturnType<typeof proofFields>>;
const proofFields = () => Type.Object(ProofFields);

export const FactorBody = Type.Object({ ...ProofFields, admin: Type.Optional(Type.Unknown()) });
export const RenewBody = Type.Object(ProofFields);
export const RemoveMethodBody = Type.Object({
  ...ProofFields,
  target_id: MethodId,
  delete_legacy: Type.Optional(Type.Boolean()),
});

export const MailCodeBody = Type.Object({ secret: Secret });
export const PhoneCodeBody = Type.Object({
  phone_number: Type.Optional(Type.String({ maxLength: 32 })),
  tfa_method_id: MethodId,
  secret: Secret,
});
export const SentResponse = model("SentCode", { success: Success, msg: Type.String(), secret: Type.String() });

export const SetUpAppResponse = model("TotpSetup", {
  success: Success,
  secret: Type.String(),
  provisioning_uri: Type.String(),
});

export const AuthorizeBody = Type.Object({
  tfa_method: Type.Optional(AnyMethod),
  tfa_method_id: MethodId,
  backup_code: Type.Optional(Type.String({ maxLength: 64 })),
  password: Type.Optional(Type.String()),
});
export const AuthorizeResponse = model("TfaAuthorization", {
  success: Success,
  msg: Type.String(),
  secret: Type.Optional(Type.String()),
});
export const FinishAuthorizationBody = Type.Object({ code: Code, secret: Secret });

export const ConfirmMethodBody = Type.Object({
  tfa_method: Type.Optional(StoredMethod),
  code: Code,
  secret: Secret,
  phone_number: Type.Optional(Type.String({ maxLength: 32 })),
  label: Type.Optional(Type.String()),
});
export const ConfirmMethodResponse = model("ConfirmedTfaMethod", {
  success: Success,
  msg: Type.String(),
  backup_codes: Type.Optional(Type.Array(Type.String())),
});

export const UpdateMethodBody = Type.Object({
  tfa_method_id: MethodId,
  tfa_method: Type.Optional(StoredMethod),
  label: Type.Optional(Type.String()),
  is_primary: Type.Optional(Type.Boolean()),
});
export const UpdateMethodResponse = model("UpdatedTfaMethod", {
  success: Success,
  msg: Type.String(),
  method: MethodView,
});

export const RemovedMethodResponse = model("RemovedTfaMethod", {
  success: Success,
  msg: Type.String(),
  remaining_methods: Type.Integer(),
});
export const BackupCodesResponse = model("BackupCodes", {
  success: Success,
  msg: Type.String(),
  backup_codes: Type.Array(Type.String()),
});
