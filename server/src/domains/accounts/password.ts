import { scrypt } from "node:crypto";
import type { RandomBytes } from "./keys.ts";

/** OWASP's setting for scrypt with 32 MiB: about a tenth of a second of one core. */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** `scrypt$N$r$p$salt$hash`: whoever checks a password later needs nothing but the text. */
export async function hashPassword(password: string, random: RandomBytes): Promise<string> {
  const salt = random(SALT_BYTES);
  const hash = await derive(password.normalize("NFKC"), salt);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

function derive(password: string, salt: Buffer): Promise<Buffer> {
  const options = { ...COST, maxmem: 256 * COST.N * COST.r };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, hash) => (error === null ? resolve(hash) : reject(error)));
  });
}
