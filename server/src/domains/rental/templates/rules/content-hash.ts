import { createHash, createHmac } from "node:crypto";
import type { TemplateContent } from "./content.ts";

/*
 * `hash_id` of a template: the first 32 hexadecimal digits of
 *   SHA-256( "berth template 1" LF canonical-json )
 * where canonical-json is one object without blanks, keys sorted by code unit at every level, and these members:
 * all 23 fields of `TemplateContent` with their defaults filled in, `traffic_limit` where it is given, and `docker_login_pass_mac`, which is "" without a
 * password and else the hexadecimal HMAC-SHA-256 of the password under a random key that never leaves the database.
 * (A plain digest of the password would let everyone who can see the template guess it offline.) What a caller left out
 * and what it gave as the default are therefore the same content; id, owner, times and counts are no content.
 */
const DOMAIN = "berth template 1\n";
const DIGITS = 32;

export const HASH_ID = /^[0-9a-f]{32}$/;

export function computeHashId(content: TemplateContent, passwordMac: string): string {
  const canonical = canonicalJson({ ...content, docker_login_pass_mac: passwordMac });
  return createHash("sha256").update(DOMAIN).update(canonical).digest("hex").slice(0, DIGITS);
}

/** The part of the hash that stands for a password. `key` is this installation's, at least 32 random bytes. */
export function computePasswordMac(password: string, key: Buffer): string {
  return password === "" ? "" : createHmac("sha256", key).update(password).digest("hex");
}

/** JSON without blanks whose keys are sorted by code unit; `JSON.stringify` would put keys that look like numbers first. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
