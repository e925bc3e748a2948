import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { invalid } from "../base/errors.ts";
import type { Repeatable } from "../db/idempotency.ts";

const KEY_LENGTH_MAX = 255;

/** The request's `Idempotency-Key`, bound to its caller and content; undefined when it carries none. */
export function repeatableOf(request: FastifyRequest, secret: string): Repeatable | undefined {
  const key = request.headers["idempotency-key"];
  const identity = request.identity;
  if (key === undefined || identity === undefined) return undefined;
  if (typeof key !== "string" || key === "" || key.length > KEY_LENGTH_MAX) {
    throw invalid("Idempotency-Key", `Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters`);
  }
  const path = (request.url.split("?")[0] ?? "").replace(/\/+/g, "/").replace(/\/$/, "");
  const requestSha256 = createHash("sha256")
    .update(`${request.method} ${path}\n`)
    .update(canonicalJson([request.query, request.body ?? {}]))
    .digest();
  const encryptionKey = () => Buffer.from(hkdfSync("sha256", secret, requestSha256, `berth idempotency ${key}`, 32));
  return {
    apiKeyId: identity.apiKeyId,
    key,
    requestSha256,
    // A fixed nonce is safe: the encryption key depends on the request and its Idempotency-Key, which have one answer.
    encrypt(response) {
      const cipher = createCipheriv("aes-256-gcm", encryptionKey(), Buffer.alloc(12));
      const encrypted = Buffer.concat([cipher.update(JSON.stringify(response), "utf8"), cipher.final()]);
      return Buffer.concat([cipher.getAuthTag(), encrypted]);
    },
    decrypt(encrypted) {
      const decipher = createDecipheriv("aes-256-gcm", encryptionKey(), Buffer.alloc(12));
      decipher.setAuthTag(encrypted.subarray(0, 16));
      const text = Buffer.concat([decipher.update(encrypted.subarray(16)), decipher.final()]).toString("utf8");
      return JSON.parse(text);
    },
  };
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
