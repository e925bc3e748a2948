import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";

/**
 * Passwords and secrets that must be read back, so that no hash will do, lie encrypted in the database: a copy of it
 * is worth nothing without the server's secret. The encryption is bound to its context, the place of the text such as
 * `secret 7 HF_TOKEN`: a text that is moved to another row does not open.
 */
export type Encryption = {
  /** Encrypts a text; each time the result differs, for equal texts too. */
  readonly encrypt: (text: string, context: string) => string;
  /**
   * The text that was encrypted; undefined when it was encrypted under another secret or for another context, or was changed.
   * A text that was stored in clear, before texts were encrypted, comes back as it is.
   */
  readonly decrypt: (stored: string, context: string) => string | undefined;
};

/** The name of the cipher before each text: AES-256-GCM, with a random nonce, its tag and the ciphertext in base64url. */
const PREFIX = "sealed1:";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createEncryption(secret: Buffer, random: (byteCount: number) => Buffer): Encryption {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "berth sealed texts 1", 32));
  return {
    encrypt(text, context) {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(Buffer.from(context, "utf8"));
      const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return `${PREFIX}${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString("base64url")}`;
    },
    decrypt(stored, context) {
      if (!stored.startsWith(PREFIX)) return stored;
      const text = stored.slice(PREFIX.length);
      const encrypted = Buffer.from(text, "base64url");
      // Base64url ignores some bits of the last character, and characters outside its alphabet: changes of those are found
      // here.
      if (encrypted.length < NONCE_BYTES + TAG_BYTES || encrypted.toString("base64url") !== text) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, encrypted.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(context, "utf8"));
      decipher.setAuthTag(encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        const opened = decipher.update(encrypted.subarray(NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([opened, decipher.final()]).toString("utf8");
      } catch {
        // Only the tag can fail here, and the return value tells callers so.
        return undefined;
      }
    },
  };
}
