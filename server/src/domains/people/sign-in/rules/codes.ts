import { createHmac, hkdfSync } from "node:crypto";
import type { RandomBytes } from "../../accounts/index.ts";
import { toBase32 } from "./base32.ts";
import { CODE_DIGITS } from "./totp.ts";

const BACKUP_CODES = 10;
/** Twelve characters of five bits each. */
const BACKUP_BYTES = 8;
const GROUP = 4;
const GROUPS = 3;

/** The key of the hashes of codes. Codes are short: without it, a copy of the database would reveal them. */
export function codeKey(secret: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", "berth sign-in codes 1", 32));
}

/** The hash of a code that is stored, bound to its owner or challenge. */
export function hashCode(key: Buffer, context: string, code: string): Buffer {
  return createHmac("sha256", key).update(`${context}\n${code}`).digest();
}

/** Six random digits, each as likely as the others. */
export function newCode(random: RandomBytes): string {
  const range = 10 ** CODE_DIGITS;
  const fair = Math.floor(2 ** 32 / range) * range;
  for (;;) {
    const value = random(4).readUInt32BE();
    if (value < fair) return String(value % range).padStart(CODE_DIGITS, "0");
  }
}

/** Codes such as `K7QF-2MZA-XW5D`. */
export function newBackupCodes(random: RandomBytes): readonly string[] {
  return Array.from({ length: BACKUP_CODES }, () => {
    const text = toBase32(random(BACKUP_BYTES));
    return Array.from({ length: GROUPS }, (_, index) => text.slice(index * GROUP, (index + 1) * GROUP)).join("-");
  });
}

/** A backup code as it was shown; undefined for a text that cannot be one. Case, spaces and dashes do not matter. */
export function readBackupCode(text: string): string | undefined {
  const plain = text.toUpperCase().replace(/[\s-]/g, "");
  return /^[A-Z2-7]{12}$/.test(plain) ? (plain.match(/.{4}/g) ?? []).join("-") : undefined;
}
