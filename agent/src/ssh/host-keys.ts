import { createHmac, createPrivateKey, createPublicKey, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The host key of one instance: the private half as PEM, the public half as it stands in known_hosts. */
export type HostKey = { readonly privatePem: string; readonly publicText: string };

const SECRET_BYTES = 32;
const KEY_TYPE = "ssh-ed25519";
/** The bytes of PKCS #8 before the 32 bytes of an Ed25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * The secret from which every host key of this agent follows, made at the first use. With it the keys are the same
 * after any restart, and nothing has to be stored per instance.
 */
export function loadSecret(stateDirectory: string): Buffer {
  const path = join(stateDirectory, "ssh-host-secret");
  mkdirSync(stateDirectory, { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  try {
    return readSecret(path);
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
  }
  writeFileSync(draft, randomBytes(SECRET_BYTES), { mode: 0o600 });
  try {
    // A link fails where a rename would replace: of two agents that begin at once, both go on with the same secret.
    linkSync(draft, path);
  } catch (cause) {
    if (!isTaken(cause)) throw cause;
  } finally {
    rmSync(draft, { force: true });
  }
  return readSecret(path);
}

function readSecret(path: string): Buffer {
  const secret = readFileSync(path);
  if (secret.length !== SECRET_BYTES) throw new Error(`${path} is not a secret of ${SECRET_BYTES} bytes`);
  return secret;
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "ENOENT";
}

function isTaken(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "EEXIST";
}

export function deriveHostKey(secret: Buffer, instanceId: number): HostKey {
  const seed = createHmac("sha256", secret).update(`ssh host key of instance ${instanceId}`).digest();
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const point = Buffer.from(x, "base64url");
  return {
    privatePem: opensshPem(seed, point),
    publicText: `${KEY_TYPE} ${publicBlob(point).toString("base64")}`,
  };
}

function publicBlob(point: Buffer): Buffer {
  return Buffer.concat([text(KEY_TYPE), text(point)]);
}

/** OpenSSH's own container of private keys, without encryption: the SSH library reads Ed25519 keys in no other. */
function opensshPem(seed: Buffer, point: Buffer): string {
  const check = Buffer.alloc(4);
  const body = Buffer.concat([
    ...[check, check, text(KEY_TYPE), text(point)],
    ...[text(Buffer.concat([seed, point])), text("")],
  ]);
  const padding = Buffer.from(Array.from({ length: (8 - (body.length % 8)) % 8 }, (_, index) => index + 1));
  const whole = Buffer.concat([
    ...[Buffer.from("openssh-key-v1\0"), text("none"), text("none"), text(""), number(1)],
    ...[text(publicBlob(point)), text(Buffer.concat([body, padding]))],
  ]);
  const lines = whole.toString("base64").replaceAll(/.{70}/g, "$&\n");
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.trimEnd()}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A string as SSH writes it: its length, then its bytes. */
function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.length), bytes]);
}
