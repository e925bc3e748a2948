import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { COSEALG, decodeAttestationObject, isoBase64URL } from "@simplewebauthn/server/helpers";
import { conflict, invalid, type AppError } from "../../../../base/errors.ts";
import type { Caller } from "../../../../base/identity.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../../accounts/index.ts";
import { renewCookiesOf } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { hashCode } from "../rules/codes.ts";
import type { RegistrationAnswer } from "./schema.ts";
import { CHALLENGE_MS, openPasskeyChallenge, takeChallengeOf } from "./challenges.ts";
import { requireLeave } from "./leave.ts";
import type { RelyingParty } from "./relying-party.ts";
import { isUsableKey } from "./public-key.ts";
import { insertPasskey, listPasskeys, type Passkey } from "./store.ts";

/** The name of this site in the dialogs of browsers. */
const SITE_NAME = "Berth";
const PASSKEYS_MAX = 20;
const TRANSPORTS_MAX = 8;
const ALGORITHMS = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256];

/** Options with which a browser makes a passkey for the caller's account. */
export async function beginRegistration(
  tx: Tx,
  { identity }: Pick<Caller, "identity">,
  { party, browser }: { readonly party: RelyingParty; readonly browser: string },
  means: SignInMeans,
) {
  const user = await requireLeave(tx, identity, means);
  const known = await listPasskeys(tx.db, user.id);
  refuseTooMany(known);
  const challenge = await openPasskeyChallenge(tx, { browser, userId: user.id }, means);
  return {
    rp: { id: party.id, name: SITE_NAME },
    user: {
      id: handleOf(user.id, means).toString("base64url"),
      name: user.email,
      displayName: user.fullname === "" ? user.username : user.fullname,
    },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: CHALLENGE_MS,
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId.toString("base64url"),
      type: "public-key" as const,
      transports: [...transports],
    })),
    authenticatorSelection: {
      residentKey: "required" as const,
      requireResidentKey: true,
      userVerification: "preferred" as const,
    },
    attestation: "none" as const,
  };
}

/** A refusal is an outcome and no exception, since the challenge that it used up has to be committed. */
export type Registered =
  | { readonly kind: "added"; readonly passkeyId: number }
  | { readonly kind: "over" }
  | { readonly kind: "refused"; readonly why: string };

/** Stores the passkey that a browser made, after a look at its answer. */
export async function finishRegistration(
  tx: Tx,
  { identity, ipAddress }: Caller,
  asked: {
    readonly response: RegistrationAnswer;
    readonly label: string;
    readonly party: RelyingParty;
    readonly browser: string;
  },
  means: SignInMeans,
): Promise<Registered> {
  const { response, label, party, browser } = asked;
  const user = await requireLeave(tx, identity, means);
  const known = await listPasskeys(tx.db, user.id);
  refuseTooMany(known);
  const { clientDataJSON } = response.response;
  const challenge = await takeChallengeOf(tx, { clientDataJSON, browser });
  if (challenge?.userId !== user.id) return { kind: "over" };
  const made = await check(response, { party, challenge: challenge.text });
  if (typeof made === "string") return { kind: "refused", why: made };
  const passkey = { ...made, userId: user.id, userHandle: handleOf(user.id, means), label };
  const passkeyId = await insertPasskey(tx, passkey);
  if (passkeyId === undefined) return { kind: "refused", why: "This passkey belongs to an account already." };
  await renewCookiesOf(tx, user.id);
  const args = { id: passkeyId, label };
  await recordAudit(tx, identity, { ipAddress, action: "api.passkey.create", args });
  return { kind: "added", passkeyId };
}

type Made = Pick<Passkey, "credentialId" | "publicKey" | "signCount" | "isSynced" | "transports">;

/** The passkey in an answer, or a sentence that says what is wrong with it. */
async function check(
  response: RegistrationAnswer,
  { party, challenge }: { readonly party: RelyingParty; readonly challenge: string },
): Promise<Made | string> {
  const { id, rawId, type, response: answered } = response;
  try {
    if (!isPlain(answered.attestationObject)) {
      return "The authenticator sent a certificate that nobody asked for.";
    }
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { id, rawId, type, clientExtensionResults: {}, response: { ...answered } },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return "The signature of the passkey is wrong.";
    const { credential, credentialDeviceType } = registrationInfo;
    if (!isUsableKey(credential.publicKey)) return "The key of the passkey is of no use.";
    return {
      credentialId: Buffer.from(credential.id, "base64url"),
      publicKey: Buffer.from(credential.publicKey),
      signCount: credential.counter,
      isSynced: credentialDeviceType === "multiDevice",
      transports: (answered.transports ?? []).slice(0, TRANSPORTS_MAX),
    };
  } catch {
    // The library throws for every part of an answer that does not hold; its words may repeat the answer.
    return "This is no answer of a browser to these options, at this address.";
  }
}

/**
 * True for an answer without certificates. Others are not looked at: to check one, the library would call addresses that
 * the certificate names.
 */
function isPlain(attestationObject: string): boolean {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get("fmt");
  return format === "none" || (format === "packed" && decoded.get("attStmt").get("x5c") === undefined);
}

/** The name of an account inside authenticators: always the same, so that one keeps a single passkey of it. */
function handleOf(userId: UserId, { codeKey }: Pick<SignInMeans, "codeKey">): Buffer {
  return hashCode(codeKey, "passkey user", String(userId));
}

function refuseTooMany(known: readonly Passkey[]): void {
  if (known.length < PASSKEYS_MAX) return;
  throw conflict(
    "too_many_passkeys",
    `An account has at most ${PASSKEYS_MAX} passkeys. Delete one that you do not use.`,
  );
}

export function registrationRefused(why: string): AppError {
  return invalid("response", `${why} No passkey was added.`, "passkey_refused");
}
