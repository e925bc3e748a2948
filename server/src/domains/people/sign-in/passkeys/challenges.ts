import { createHash } from "node:crypto";
import { decodeClientDataJSON } from "@simplewebauthn/server/helpers";
import { conflict, invalid, type AppError } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { SignInMeans } from "../means.ts";
import { insertPasskeyChallenge, takePasskeyChallenge, type StoredChallenge } from "./challenge-store.ts";
import { findRelyingParty, type CalledAddress, type RelyingParty } from "./relying-party.ts";

export const CHALLENGE_MS = 5 * 60_000;
const CHALLENGE_BYTES = 32;

/** The site of this server; throws `passkeys_unavailable` with the reason where browsers would take none. */
export function requireParty({ publicUrl }: Pick<SignInMeans, "publicUrl">, called: CalledAddress): RelyingParty {
  const found = findRelyingParty(publicUrl, called);
  if (found.kind === "party") return found.party;
  throw conflict("passkeys_unavailable", found.why);
}

/** A new challenge for one browser, in base64url. */
export async function openPasskeyChallenge(
  tx: Tx,
  { browser, userId }: { readonly browser: string; readonly userId: UserId | undefined },
  { random }: Pick<SignInMeans, "random">,
): Promise<string> {
  const challenge = random(CHALLENGE_BYTES);
  await insertPasskeyChallenge(tx, {
    challengeSha256: sha256(challenge),
    browserSha256: sha256(browser),
    userId,
    expiresAt: new Date(tx.now.getTime() + CHALLENGE_MS),
  });
  return challenge.toString("base64url");
}

/** The challenge that an answer signed, used up by this call; undefined when it is none of this browser's open ones. */
export async function takeChallengeOf(
  tx: Tx,
  { clientDataJSON, browser }: { readonly clientDataJSON: string; readonly browser: string },
): Promise<(StoredChallenge & { readonly text: string }) | undefined> {
  const text = challengeIn(clientDataJSON);
  if (text === undefined) return undefined;
  const challengeSha256 = sha256(Buffer.from(text, "base64url"));
  const stored = await takePasskeyChallenge(tx, { challengeSha256, browserSha256: sha256(browser) });
  return stored && { ...stored, text };
}

function challengeIn(clientDataJSON: string): string | undefined {
  try {
    const { challenge }: { readonly challenge: unknown } = decodeClientDataJSON(clientDataJSON);
    return typeof challenge === "string" ? challenge : undefined;
  } catch {
    // Texts of strangers: most are no JSON.
    return undefined;
  }
}

export function challengeOver(): AppError {
  return invalid(
    "response",
    "This answer comes too late, a second time, or from another browser. Begin again.",
    "passkey_challenge_over",
  );
}

/** A name for something that only its holder knows, of 256 random bits. */
function sha256(value: string | Uint8Array): Buffer {
  return createHash("sha256").update(value).digest();
}
