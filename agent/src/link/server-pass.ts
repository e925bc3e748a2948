import { createHmac, timingSafeEqual } from "node:crypto";
import { passText, proofText, writePass } from "../../../protocol/index.ts";

/** The pass for one address, shown there in place of the credential. `passKey` came with a server's welcome. */
export function makePass(passKey: string, address: string): string {
  const [id = "", key = ""] = passKey.split(".");
  return writePass(id, signatureOf(key, passText(address)));
}

/** True when the server at an address has the same key, and publishes that address. */
export function isServerProof(
  passKey: string,
  { address, challenge, proof }: { readonly address: string; readonly challenge: string; readonly proof: string },
): boolean {
  const [, key = ""] = passKey.split(".");
  const text = proofText(address, challenge);
  if (text === undefined) return false;
  const [shown, expected] = [Buffer.from(proof), Buffer.from(signatureOf(key, text))];
  return shown.length === expected.length && timingSafeEqual(shown, expected);
}

function signatureOf(key: string, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}
