import { createHash, createPublicKey, timingSafeEqual } from "node:crypto";
import ssh2 from "ssh2";

/** A public key that may log in. */
export type AuthorizedKey = {
  /** The key's digest, as `ssh-keygen -l` prints it: its name in logs. */
  readonly fingerprint: string;
  readonly digest: Buffer;
  verifies(blob: Buffer, signature: Buffer, hashAlgorithm: string | undefined): boolean;
};

const KEY_TYPES: ReadonlySet<string> = new Set([
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
]);
const MIN_RSA_BITS = 2048;
/** Keys of an instance that are read: each login attempt compares with all of them. */
const MAX_KEYS = 1000;

/**
 * Reads keys as they stand in an authorized_keys file. A line with options in front is left out: it asks for a
 * restriction that is not known here, and to let the key in without it would be worse than to refuse it.
 */
export function parseAuthorizedKeys(texts: readonly string[]): readonly AuthorizedKey[] {
  const keys = new Map<string, AuthorizedKey>();
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    if (keys.size >= MAX_KEYS) break;
    const key = parseLine(line.trim());
    if (key !== undefined) keys.set(key.fingerprint, key);
  }
  return [...keys.values()];
}

function parseLine(line: string): AuthorizedKey | undefined {
  const [type = "", encoded = ""] = line.split(/\s+/, 2);
  if (!KEY_TYPES.has(type)) return undefined;
  const parsed = ssh2.utils.parseKey(`${type} ${encoded}`);
  if (parsed instanceof Error || parsed.type !== type) return undefined;
  const isRsa = type === "ssh-rsa";
  if (isRsa && rsaBits(parsed.getPublicPEM()) < MIN_RSA_BITS) return undefined;
  const digest = createHash("sha256").update(parsed.getPublicSSH()).digest();
  return {
    fingerprint: `SHA256:${digest.toString("base64").replace(/=+$/, "")}`,
    digest,
    verifies: (blob, signature, hashAlgorithm) => {
      // Without a name of its own the hash of RSA is SHA-1.
      if (isRsa && hashAlgorithm === undefined) return false;
      return parsed.verify(blob, signature, hashAlgorithm) === true;
    },
  };
}

function rsaBits(pem: string): number {
  try {
    return createPublicKey(pem).asymmetricKeyDetails?.modulusLength ?? 0;
  } catch {
    // Not a key, in spite of its type.
    return 0;
  }
}

/** Compares with every key, so that the time does not tell which one matches. */
export function findAuthorizedKey(keys: readonly AuthorizedKey[], publicBlob: Buffer): AuthorizedKey | undefined {
  const digest = createHash("sha256").update(publicBlob).digest();
  let found: AuthorizedKey | undefined;
  for (const key of keys) if (timingSafeEqual(key.digest, digest)) found = key;
  return found;
}
