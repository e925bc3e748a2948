import { Type, type Static } from "typebox";
import { MAX_ID } from "../../../../base/ids.ts";
import { model } from "../../../../http/model.ts";
import { SignInResponse } from "../schema.ts";

/** sign-in.ts says which of them are missing. */
export const BrowserSignInBody = Type.Object({
  username: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  api_key: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  token: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  team_id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID })),
});
export type BrowserSignInBody = Static<typeof BrowserSignInBody>;

const { api_key: _apiKey, session_key: _sessionKey, ...WITHOUT_SECRETS } = SignInResponse.properties;

/** As the answer to a sign-in of a program, without any key: the session is in the cookie, which scripts cannot read. */
export const BrowserSignInResponse = model("BrowserSignIn", WITHOUT_SECRETS);

/** profile.ts checks lengths and forms. */
export const SignUpBody = Type.Object({
  email: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  username: Type.Optional(Type.String()),
  token: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
});
export type SignUpBody = Static<typeof SignUpBody>;

/** The team to act for; without it the person acts for themselves. */
export const SwitchBody = Type.Object({
  team_id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID })),
});

export const SignedOutResponse = Type.Object({ success: Type.Literal(true) });

export const BrowserSettingsResponse = model("BrowserSettings", {
  success: Type.Literal(true),
  sign_up: Type.Union([Type.Literal("open"), Type.Literal("invitation"), Type.Literal("sso")]),
  has_mail: Type.Boolean(),
  sso: Type.Array(model("SsoProvider", { id: Type.String(), name: Type.String() })),
  version: Type.String(),
  is_simulated: Type.Boolean(),
});
