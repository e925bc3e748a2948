import { createHash, createHmac } from "node:crypto";

/** The secrets of one sign-in at the issuer. */
export type FlowSecrets = { readonly state: string; readonly nonce: string; readonly codeVerifier: string };

/**
 * The secrets that follow from the value of the browser's cookie. So they are nowhere but in that browser, any server of
 * the database can finish the sign-in, and an answer that another browser brings fits none of them.
 */
export function flowSecrets(cookie: string): FlowSecrets {
  const derive = (purpose: string) => createHmac("sha256", cookie).update(`berth sso ${purpose}`).digest("base64url");
  return { state: derive("state"), nonce: derive("nonce"), codeVerifier: derive("verifier") };
}

/** The name under which a sign-in is kept: a copy of the database tells no state. */
export function hashState(state: string): Buffer {
  return createHash("sha256").update(state).digest();
}
