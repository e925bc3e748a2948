import { scrypt, timingSafeEqual } from "node:crypto";
import { AppError } from "../../../../base/errors.ts";
import type { RandomBytes } from "../keys/rules/keys.ts";

/** OWASP's setting for scrypt with 32 MiB: about a tenth of a second of one core. */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes computed at once: strangers may cause them, and they share their threads with file and name lookups. */
const AT_ONCE_MAX = 2;
const WAITING_MAX = 16;
let underWayCount = 0;
const waiting: (() => void)[] = [];

/** `scrypt$N$r$p$salt$hash`: enough to check a password later. Throws `busy` when too many requests wait for theirs. */
export async function hashPassword(password: string, random: RandomBytes): Promise<string> {
  return inTurn(() => hashNow(password, random));
}

/**
 * True when the password is the one of the stored hash. Without a hash it takes as long and is false: the time tells
 * nobody whether there is an account.
 */
export async function isPasswordOf(password: string, stored: string | null | undefined): Promise<boolean> {
  const [salt = "", hash = ""] = /^scrypt\$32768\$8\$3\$([\w-]+)\$([\w-]+)$/.exec(stored ?? "")?.slice(1) ?? [];
  const known = Buffer.from(hash, "base64url");
  const found = await inTurn(() => derive(password.normalize("NFKC"), Buffer.from(salt, "base64url")));
  return known.length === found.length && timingSafeEqual(known, found);
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (underWayCount >= AT_ONCE_MAX) {
    if (waiting.length >= WAITING_MAX) throw tooManyPasswords();
    await new Promise<void>((resolve) => void waiting.push(resolve));
  } else underWayCount += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // The place goes to the request that has waited longest.
    if (next === undefined) underWayCount -= 1;
    else next();
  }
}

function tooManyPasswords(): AppError {
  return new AppError("unavailable", "busy", "Too many passwords are being checked. Repeat the request in a second.");
}

async function hashNow(password: string, random: RandomBytes): Promise<string> {
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
