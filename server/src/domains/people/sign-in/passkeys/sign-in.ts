import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import { unauthenticated, type AppError } from "../../../../base/errors.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockUser, recordAudit } from "../../accounts/index.ts";
import { findLiveUser } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { openPersonSession } from "../sessions/open-session.ts";
import { openOrChallenge, type SignInOutcome } from "../sessions/sign-in-service.ts";
import type { SignInAnswer } from "./schema.ts";
import { CHALLENGE_MS, openPasskeyChallenge, takeChallengeOf } from "./challenges.ts";
import type { RelyingParty } from "./relying-party.ts";
import { wentBack } from "./rules/sign-count.ts";
import { findPasskey, notePasskeyUse, type Passkey } from "./store.ts";

/** Options with which a browser signs in with any passkey that it has for this site. */
export async function beginPasskeySignIn(
  tx: Tx,
  { party, browser }: { readonly party: RelyingParty; readonly browser: string },
  means: SignInMeans,
) {
  const challenge = await openPasskeyChallenge(tx, { browser, userId: undefined }, means);
  return { rpId: party.id, challenge, timeout: CHALLENGE_MS, userVerification: "preferred" as const };
}

/** A refusal is an outcome and no exception, since the challenge that it used up has to be committed. */
export type PasskeyOutcome =
  | SignInOutcome
  | { readonly kind: "over" }
  | { readonly kind: "refused" }
  | { readonly kind: "went_back" };

/**
 * Opens a session for the account of a passkey. A passkey that made sure of its person by a finger or a PIN counts as two
 * factors; another one as a password does.
 */
export async function finishPasskeySignIn(
  tx: Tx,
  asked: {
    readonly response: SignInAnswer;
    readonly party: RelyingParty;
    readonly browser: string;
    readonly ipAddress: string;
  },
  means: SignInMeans,
): Promise<PasskeyOutcome> {
  const { response, party, browser, ipAddress } = asked;
  const challenge = await takeChallengeOf(tx, { clientDataJSON: response.response.clientDataJSON, browser });
  if (challenge === undefined || challenge.userId !== undefined) return { kind: "over" };
  const passkey = await lockPasskey(tx, Buffer.from(response.id, "base64url"));
  if (passkey === undefined) return { kind: "refused" };
  const signed = await check(response, passkey, { party, challenge: challenge.text });
  if (signed === undefined) return { kind: "refused" };
  const { id, userId, signCount: stored } = passkey;
  if (wentBack(stored, signed.signCount)) {
    const args = { id, stored_count: stored, sent_count: signed.signCount };
    await recordAudit(tx, { userId }, { ipAddress, action: "api.passkey.went_back", args });
    return { kind: "went_back" };
  }
  await notePasskeyUse(tx, id, signed.signCount);
  const person = { personId: userId, teamId: undefined, ipAddress, isForBrowser: true };
  if (!signed.isPersonVerified) return openOrChallenge(tx, person, means);
  return { kind: "open", opened: await openPersonSession(tx, { ...person, hasTfa: true }, means) };
}

/** The passkey of a credential and a live account, which is locked until the commit: two answers cannot pass one count. */
async function lockPasskey(tx: Tx, credentialId: Buffer): Promise<Passkey | undefined> {
  const before = await findPasskey(tx.db, credentialId);
  if (before === undefined) return undefined;
  await lockUser(tx, before.userId);
  if ((await findLiveUser(tx.db, before.userId)) === undefined) return undefined;
  return findPasskey(tx.db, credentialId);
}

type Signed = { readonly signCount: number; readonly isPersonVerified: boolean };

async function check(
  response: SignInAnswer,
  { publicKey, userHandle }: Passkey,
  { party, challenge }: { readonly party: RelyingParty; readonly challenge: string },
): Promise<Signed | undefined> {
  const { id, rawId, type, response: answered } = response;
  const handle = answered.userHandle;
  if (handle !== undefined && !Buffer.from(handle, "base64url").equals(userHandle)) return undefined;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId, type, clientExtensionResults: {}, response: { ...answered } },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
      // The count is compared by sign-count.ts, after the signature: the word of a stranger is no sign of a copy.
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
    });
    if (!verified) return undefined;
    return { signCount: authenticationInfo.newCounter, isPersonVerified: authenticationInfo.userVerified };
  } catch {
    // The library throws for every part of an answer that does not hold.
    return undefined;
  }
}

/** One refusal for passkeys that are unknown, deleted, another site's, or whose signature is wrong. */
export function passkeyRefused(): AppError {
  return unauthenticated("This passkey opens no account here. Sign in another way.", "passkey_refused");
}

export function passkeyWentBack(): AppError {
  return unauthenticated(
    "This passkey counted backwards, as a copy of it would. Sign in another way, and delete the passkey if it is not yours alone.",
    "passkey_went_back",
  );
}
