import { createPublicKey, type JsonWebKey } from "node:crypto";
import { cose, decodeCredentialPublicKey } from "@simplewebauthn/server/helpers";

const CURVES: ReadonlyMap<number, string> = new Map([
  [1, "P-256"],
  [6, "Ed25519"],
]);
const RSA_BITS_MIN = 2_048;

/** True for a key in COSE form with which a signature can be checked: a cut or made-up one would let nobody in. */
export function isUsableKey(publicKey: Uint8Array<ArrayBuffer>): boolean {
  try {
    const jwk = jwkOf(decodeCredentialPublicKey(publicKey));
    if (jwk === undefined) return false;
    const { modulusLength = RSA_BITS_MIN } = createPublicKey({ key: jwk, format: "jwk" }).asymmetricKeyDetails ?? {};
    return modulusLength >= RSA_BITS_MIN;
  } catch {
    // A point that is not on its curve, or no key at all.
    return false;
  }
}

function jwkOf(key: cose.COSEPublicKey): JsonWebKey | undefined {
  if (cose.isCOSEPublicKeyEC2(key)) {
    const [x, y] = [text(key.get(cose.COSEKEYS.x)), text(key.get(cose.COSEKEYS.y))];
    return { kty: "EC", crv: curveOf(key.get(cose.COSEKEYS.crv)), x, y };
  }
  if (cose.isCOSEPublicKeyOKP(key)) {
    return { kty: "OKP", crv: curveOf(key.get(cose.COSEKEYS.crv)), x: text(key.get(cose.COSEKEYS.x)) };
  }
  if (!cose.isCOSEPublicKeyRSA(key)) return undefined;
  return { kty: "RSA", n: text(key.get(cose.COSEKEYS.n)), e: text(key.get(cose.COSEKEYS.e)) };
}

const curveOf = (curve: number | undefined): string => CURVES.get(curve ?? 0) ?? "";

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("base64url");
