import { createPrivateKey, generateKeyPair, sign, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

const KEY_BITS = 2048;

/** A new pair of keys in PEM: the private one in PKCS #8, the public one as workers read it. */
export async function createSigningKey(): Promise<{ readonly privateKeyPem: string; readonly publicKeyPem: string }> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("rsa", {
    modulusLength: KEY_BITS,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
}

/**
 * The signed text of a worker's URL: the JSON that Python's encoder writes with an indent of four, which workers check.
 */
export function signedText(url: string): string {
  return `{\n    "url": ${pythonString(url)}\n}`;
}

/** A text as Python's JSON encoder writes it: printable ASCII alone, the rest by units of UTF-16. */
export function pythonString(text: string): string {
  // Control characters have the same escapes in both languages; DEL and non-ASCII characters remain.
  return JSON.stringify(text).replaceAll(
    /[^\0-~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Signs URLs with RSA PKCS #1 v1.5 over SHA-256, in base64. The signature depends on the URL alone, so it is kept. */
export class UrlSigner {
  readonly publicKeyPem: string;
  readonly #privateKey: KeyObject;
  readonly #signatures = new Map<string, string>();
  readonly #keptMax: number;

  constructor(pair: { readonly privateKeyPem: string; readonly publicKeyPem: string }, keptMax: number) {
    this.publicKeyPem = pair.publicKeyPem;
    this.#privateKey = createPrivateKey(pair.privateKeyPem);
    this.#keptMax = keptMax;
  }

  sign(url: string): string {
    const known = this.#signatures.get(url);
    if (known !== undefined) return known;
    const signature = sign("sha256", Buffer.from(signedText(url), "latin1"), this.#privateKey).toString("base64");
    const [oldest] = this.#signatures.keys();
    if (this.#signatures.size >= this.#keptMax && oldest !== undefined) this.#signatures.delete(oldest);
    this.#signatures.set(url, signature);
    return signature;
  }
}
