import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const Success = Type.Literal(true);
/** Bytes in base64url. The limits leave room for the largest keys and certificates of authenticators. */
const bytes = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: "^[A-Za-z0-9_-]+$" });
const CredentialId = bytes(1_364);
const PublicKeyType = Type.Literal("public-key");
const Attachment = Type.Optional(Type.String({ maxLength: 64 }));
const Verification = Type.Union([Type.Literal("required"), Type.Literal("preferred"), Type.Literal("discouraged")]);

const Credential = model("PasskeyDescriptor", {
  id: Type.String(),
  type: PublicKeyType,
  transports: Type.Optional(Type.Array(Type.String())),
});

export const RegistrationOptionsResponse = model("PasskeyCreation", {
  success: Success,
  options: model("PasskeyCreationOptions", {
    rp: model("PasskeySite", { id: Type.String(), name: Type.String() }),
    user: model("PasskeyUser", { id: Type.String(), name: Type.String(), displayName: Type.String() }),
    challenge: Type.String(),
    pubKeyCredParams: Type.Array(model("PasskeyAlgorithm", { type: PublicKeyType, alg: Type.Integer() })),
    timeout: Type.Integer(),
    excludeCredentials: Type.Array(Credential),
    authenticatorSelection: model("PasskeySelection", {
      residentKey: Type.Literal("required"),
      requireResidentKey: Type.Boolean(),
      userVerification: Verification,
    }),
    attestation: Type.Literal("none"),
  }),
});

export const SignInOptionsResponse = model("PasskeyRequest", {
  success: Success,
  options: model("PasskeyRequestOptions", {
    challenge: Type.String(),
    timeout: Type.Integer(),
    rpId: Type.String(),
    userVerification: Verification,
  }),
});

const RegistrationAnswer = model("NewPasskey", {
  id: CredentialId,
  rawId: CredentialId,
  type: PublicKeyType,
  authenticatorAttachment: Attachment,
  response: model("PasskeyAttestation", {
    clientDataJSON: bytes(8_192),
    attestationObject: bytes(16_384),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32, pattern: "^[a-z-]+$" }), { maxItems: 16 })),
  }),
});
export type RegistrationAnswer = Static<typeof RegistrationAnswer>;

const SignInAnswer = model("PasskeyProof", {
  id: CredentialId,
  rawId: CredentialId,
  type: PublicKeyType,
  authenticatorAttachment: Attachment,
  response: model("PasskeyAssertion", {
    clientDataJSON: bytes(8_192),
    authenticatorData: bytes(8_192),
    signature: bytes(4_096),
    userHandle: Type.Optional(bytes(128)),
  }),
});
export type SignInAnswer = Static<typeof SignInAnswer>;

const Label = Type.String({ maxLength: 200 });

export const CreatePasskeyBody = Type.Object({ label: Type.Optional(Label), response: RegistrationAnswer });
export const PasskeySignInBody = Type.Object({ response: SignInAnswer });
export const RenamePasskeyBody = Type.Object({ label: Label });
export const PasskeyParams = Type.Object({ id: Type.String() });

export const PasskeyView = model("Passkey", {
  id: Type.Integer(),
  label: Type.String(),
  is_synced: Type.Boolean(),
  transports: Type.Array(Type.String()),
  created_at: Type.Number(),
  last_used: Type.Union([Type.Number(), Type.Null()]),
});
export type PasskeyView = Static<typeof PasskeyView>;

export const PasskeysResponse = Type.Object({ success: Success, passkeys: Type.Array(PasskeyView) });
export const PasskeyResponse = model("PasskeyAnswer", { success: Success, msg: Type.String(), passkey: PasskeyView });
export const PasskeyDeletedResponse = Type.Object({ success: Success, msg: Type.String() });
