import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * A key is `berth_`, 256 random bits in base64url, `_`, and the CRC-32 of all before in hexadecimal. The prefix lets
 * secret scanners find a leaked key; the checksum lets them, and the server, tell a key from a look-alike without a
 * database.
 */
export const KEY_PATTERN = /\bberth_[A-Za-z0-9_-]{43}_[0-9a-f]{8}(?![A-Za-z0-9_-])/;

const WHOLE_KEY = /^berth_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/;
const SECRET_BYTES = 32;
/** Six of the 43 random characters are kept for display: 220 secret bits remain. */
const DISPLAYED_CHARACTERS = 12;

/** Unpredictable bytes: `crypto.randomBytes` outside of tests. */
export type RandomBytes = (byteCount: number) => Buffer;

/** `secret` goes to the user and nowhere else; the other two are stored. */
export type NewKey = { readonly secret: string; readonly sha256: Buffer; readonly prefix: string };

export function newKey(random: RandomBytes): NewKey {
  const body = `berth_${random(SECRET_BYTES).toString("base64url")}`;
  const secret = `${body}_${checksumOf(body)}`;
  return { secret, sha256: hashSecret(secret), prefix: secret.slice(0, DISPLAYED_CHARACTERS) };
}

/** True when the text has the form of a key; it may never have been issued. */
export function isWellFormed(secret: string): boolean {
  if (!WHOLE_KEY.test(secret)) return false;
  const checksumAt = secret.length - 9;
  return checksumOf(secret.slice(0, checksumAt)) === secret.slice(checksumAt + 1);
}

/** The hash of a secret that is stored. A plain hash is enough: 256 random bits cannot be guessed from it. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/**
 * The stored hash of the secret in a session's cookie. It is another one than that of a key, so that a cookie does not work
 * as a key, nor a key as a cookie.
 */
export function hashCookieSecret(secret: string): Buffer {
  return createHash("sha256").update(`cookie ${secret}`).digest();
}

/** A key that works in a cookie only. */
export function newCookieKey(random: RandomBytes): NewKey {
  const key = newKey(random);
  return { ...key, sha256: hashCookieSecret(key.secret) };
}

function checksumOf(body: string): string {
  return crc32(body).toString(16).padStart(8, "0");
}
