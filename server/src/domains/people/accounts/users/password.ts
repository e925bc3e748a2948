import { argon2, scrypt, timingSafeEqual } from "node:crypto";
import { AppError } from "../../../../base/errors.ts";
import type { RandomBytes } from "../keys/rules/keys.ts";

/** OWASP's first setting for Argon2id: 46 MiB and about 55 ms of one core, measured. */
const COST = { memory: 47_104, passes: 1, parallelism: 1 } as const;
/** The setting of hashes from before Argon2id. */
const OLD_COST = { N: 2 ** 15, r: 8, p: 3 } as const;
const OLD_HASH = /^scrypt\$32768\$8\$3\$([\w-]+)\$([\w-]+)$/;
const HASH = /^argon2id\$47104\$1\$1\$([\w-]+)\$([\w-]+)$/;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes computed at once: strangers may cause them, and they share their threads with file and name lookups. */
const AT_ONCE_MAX = 2;
const WAITING_MAX = 16;
let underWayCount = 0;
const waiting: (() => void)[] = [];

/** `argon2id$KiB$passes$lanes$salt$hash`: enough to check a password later. Throws `busy` when too many requests wait for theirs. */
export async function hashPassword(password: string, random: RandomBytes): Promise<string> {
  return inTurn(() => hashNow(password, random));
}

/** Functions that derive a hash from a password and a salt, of this version and of the one before. */
type Derive = (message: string, salt: Buffer) => Promise<Buffer>;
export type Derivations = { readonly present: Derive; readonly before: Derive };
const DERIVATIONS: Derivations = { present: derive, before: deriveAsBefore };

/**
 * True when the password is the one of the stored hash. A refusal without a hash takes as long as one with it. While some
 * account has a hash of the version before (`isOldAround`), each refusal computes both, whose times differ: the time tells
 * nobody whether there is an account.
 */
export async function isPasswordOf(
  password: string,
  stored: string | null | undefined,
  {
    isOldAround = false,
    derivations: { present, before } = DERIVATIONS,
  }: {
    readonly isOldAround?: boolean;
    readonly derivations?: Derivations;
  } = {},
): Promise<boolean> {
  const old = OLD_HASH.exec(stored ?? "");
  const [salt = "", hash = ""] = (old ?? HASH.exec(stored ?? ""))?.slice(1) ?? [];
  const known = Buffer.from(hash, "base64url");
  const [deriveAs, deriveOther] = old === null ? [present, before] : [before, present];
  // Argon2 takes no salt that is shorter than eight bytes.
  const nonce = salt === "" ? Buffer.alloc(SALT_BYTES) : Buffer.from(salt, "base64url");
  const message = password.normalize("NFKC");
  return inTurn(async () => {
    const found = await deriveAs(message, nonce);
    if (known.length === found.length && timingSafeEqual(known, found)) return true;
    if (isOldAround) await deriveOther(message, nonce);
    return false;
  });
}

/** True for the hash of an earlier version, to be replaced when the password is known. */
export function isOutdatedHash(stored: string): boolean {
  return !HASH.test(stored);
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
  const { memory, passes, parallelism } = COST;
  return ["argon2id", memory, passes, parallelism, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

function derive(message: string, nonce: Buffer): Promise<Buffer> {
  const parameters = { ...COST, message, nonce, tagLength: HASH_BYTES };
  return new Promise((resolve, reject) => {
    argon2("argon2id", parameters, (error, hash) => (error === null ? resolve(hash) : reject(error)));
  });
}

function deriveAsBefore(password: string, salt: Buffer): Promise<Buffer> {
  const options = { ...OLD_COST, maxmem: 256 * OLD_COST.N * OLD_COST.r };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, hash) => (error === null ? resolve(hash) : reject(error)));
  });
}
