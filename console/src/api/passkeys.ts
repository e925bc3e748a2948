// Passkeys of the browser. The library is loaded when somebody uses one.
import {
  passkeyCreate,
  passkeyOptions,
  passkeySignIn,
  passkeySignInOptions,
  type PasskeyAnswer,
  type PasskeySignInAnswer,
} from "../../../sdk/src/index.ts";
import { client } from "./client.ts";

/** True where the browser has passkeys at all; they need a name and TLS, or the machine of the server itself. */
export function hasPasskeys(): boolean {
  return globalThis.isSecureContext && globalThis.PublicKeyCredential !== undefined;
}

/** Signs in with a passkey that the person chooses. Undefined when they choose none. */
export async function signInWithPasskey(): Promise<PasskeySignInAnswer | undefined> {
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const { options } = await passkeySignInOptions(client);
  const proof = await unlessLeft(startAuthentication({ optionsJSON: options }));
  if (proof === undefined) return undefined;
  const { id, rawId, type, response } = proof;
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const assertion = {
    clientDataJSON,
    authenticatorData,
    signature,
    ...(userHandle === undefined ? {} : { userHandle }),
  };
  return passkeySignIn(client, { body: { response: { id, rawId, type, response: assertion } } });
}

/** Makes a passkey in the browser and adds it to the account. Undefined when the person makes none. */
export async function addPasskey(label: string): Promise<PasskeyAnswer | undefined> {
  const { startRegistration } = await import("@simplewebauthn/browser");
  const { options } = await passkeyOptions(client);
  const made = await unlessLeft(
    startRegistration({
      optionsJSON: {
        ...options,
        pubKeyCredParams: [...options.pubKeyCredParams],
        excludeCredentials: options.excludeCredentials.map(({ id, type }) => ({ id, type })),
      },
    }),
  );
  if (made === undefined) return undefined;
  const { id, rawId, type, response } = made;
  const { clientDataJSON, attestationObject, transports } = response;
  const attestation = { clientDataJSON, attestationObject, ...(transports === undefined ? {} : { transports }) };
  const named = label.trim() === "" ? {} : { label: label.trim() };
  return passkeyCreate(client, { body: { ...named, response: { id, rawId, type, response: attestation } } });
}

/** The browser's answer; undefined when the person closed its window, which is no failure. */
async function unlessLeft<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && (error.name === "NotAllowedError" || error.name === "AbortError")) return undefined;
    throw error;
  }
}
