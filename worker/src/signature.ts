import { createPublicKey, verify, type KeyObject } from "node:crypto";
import type { Clock } from "./clock.ts";

/** The signed text of a worker's URL: the JSON that Python's encoder writes with an indent of four. */
export function signedText(url: string): string {
  const escaped = JSON.stringify(url).replaceAll(/[^\0-~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `{\n    "url": ${escaped}\n}`;
}

/** After a refused signature a new key is fetched, but not for each of many bad signatures. */
const FETCH_AGAIN_AFTER_MS = 10_000;

/** The server's key: fetched once, and again when it seems to have changed. */
export class SigningKey {
  readonly #fetchPem: () => Promise<string | undefined>;
  readonly #clock: Clock;
  #key: KeyObject | undefined;
  #pem = "";
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<boolean> | undefined;

  constructor(fetchPem: () => Promise<string | undefined>, clock: Clock) {
    this.#fetchPem = fetchPem;
    this.#clock = clock;
  }

  /** Checks a signature; `unknown` if no server gave its key. */
  async verify(url: string, signature: string): Promise<"good" | "bad" | "unknown"> {
    if (this.#isGood(url, signature)) return "good";
    if (await this.#renew()) return this.#isGood(url, signature) ? "good" : "bad";
    return this.#key === undefined ? "unknown" : "bad";
  }

  #isGood(url: string, signature: string): boolean {
    if (this.#key === undefined) return false;
    return verify("sha256", Buffer.from(signedText(url), "latin1"), this.#key, Buffer.from(signature, "base64"));
  }

  /** Fetches the key; true if it differs from the present one. */
  #renew(): Promise<boolean> {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#key !== undefined && nowMs - this.#fetchedAtMs < FETCH_AGAIN_AFTER_MS) return false;
    const pem = await this.#fetchPem();
    if (pem === undefined || pem === this.#pem) {
      if (pem !== undefined) this.#fetchedAtMs = nowMs;
      return false;
    }
    const key = readKey(pem);
    if (key === undefined) return false;
    this.#fetchedAtMs = nowMs;
    this.#pem = pem;
    this.#key = key;
    return true;
  }
}

function readKey(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}
