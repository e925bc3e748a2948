import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const DAY_SECONDS = 86_400;
const EXPIRY_MAX_DAYS = 30;
const time = (description: string) => Type.Number({ description: `${description}, in seconds since the epoch` });
const maybeTime = (description: string) => Type.Union([time(description), Type.Null()]);
const Success = Type.Literal(true);

export const IdParams = Type.Object({ id: Type.String() });
export const Done = Type.Object({ success: Success, msg: Type.String() });

export const CreateJoinTokenBody = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 255 })),
  expires_in_s: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: EXPIRY_MAX_DAYS * DAY_SECONDS,
      default: DAY_SECONDS,
      description: "Seconds for which it can be used",
    }),
  ),
});

export const CreateJoinTokenResponse = Type.Object({
  success: Success,
  id: Type.Integer(),
  token: Type.String(),
  expires_at: time("Time from which it can no longer be used"),
});

export const JoinTokenRecord = model("JoinToken", {
  id: Type.Integer(),
  name: Type.String(),
  created_at: time("Time of creation"),
  expires_at: time("Time from which it can no longer be used"),
  used_at: maybeTime("Time at which a machine joined with it"),
  credential_id: Type.Union([Type.Integer(), Type.Null()]),
});
export type JoinTokenRecord = Static<typeof JoinTokenRecord>;
export const JoinTokensResponse = Type.Object({ success: Success, tokens: Type.Array(JoinTokenRecord) });

export const CredentialRecord = model("AgentCredential", {
  id: Type.Integer(),
  name: Type.String(),
  is_own_agent: Type.Boolean({ description: "True for the agent that the server starts itself" }),
  created_at: time("Time at which its machine joined"),
  revoked_at: maybeTime("Time of its revocation"),
  machines: Type.Array(
    model("JoinedMachine", {
      id: Type.Integer(),
      host_key: Type.String(),
      hostname: Type.String(),
      is_simulated: Type.Boolean(),
      is_connected: Type.Boolean(),
      last_seen_at: time("Time of the agent's last report"),
      clone_noticed_at: maybeTime("Time at which a copy of its credential was last refused"),
      gpu_problems: Type.Array(Type.String()),
      agent_version: Type.String(),
      agent_update: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
});
export type CredentialRecord = Static<typeof CredentialRecord>;
export const CredentialsResponse = Type.Object({ success: Success, credentials: Type.Array(CredentialRecord) });

const PRINTABLE = "^[\\x21-\\x7e]+$";
export const JoinBody = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 256 }),
  host_key: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: "^[A-Za-z0-9._-]+$",
  }),
  fingerprint: Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: PRINTABLE,
  }),
  nonce: Type.String({
    minLength: 16,
    maxLength: 128,
    pattern: PRINTABLE,
  }),
  name: Type.Optional(Type.String({ maxLength: 255 })),
});

export const JoinResponse = Type.Object({
  success: Success,
  credential: Type.String(),
});
