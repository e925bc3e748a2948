// Keys of OpenSSH: the file of a private key, the line of a public one, and the fingerprint that programs show.

export type SshPair = {
  /** The 32 bytes from which an Ed25519 key comes. */
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
};

const TYPE = "ssh-ed25519";
const LINE_LENGTH = 70;
const BLOCK_LENGTH = 8;

/** The line for `authorized_keys`. A comment is one line. */
export function publicLine(publicKey: Uint8Array, comment: string): string {
  return `${TYPE} ${base64(publicBlob(publicKey))} ${oneLine(comment)}`.trim();
}

/** The file of a private key without a passphrase; `check` are four random bytes, by which programs see damage. */
export function privateFile({ seed, publicKey }: SshPair, comment: string, check: Uint8Array): string {
  const blob = publicBlob(publicKey);
  const secret = joined([
    check,
    check,
    field(utf8(TYPE)),
    field(publicKey),
    field(joined([seed, publicKey])),
    field(utf8(oneLine(comment))),
  ]);
  const padding = Array.from(
    { length: (BLOCK_LENGTH - (secret.length % BLOCK_LENGTH)) % BLOCK_LENGTH },
    (_, index) => index + 1,
  );
  const none = field(utf8("none"));
  const file = joined([
    utf8("openssh-key-v1\0"),
    none,
    none,
    field(utf8("")),
    uint32(1),
    field(blob),
    field(joined([secret, Uint8Array.from(padding)])),
  ]);
  const lines = base64(file).match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  return ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join("\n");
}

/** The parts of a public key's line: its type, the key itself in base64, and the comment. */
export function partsOfLine(line: string): {
  readonly type: string;
  readonly base64: string;
  readonly comment: string;
} {
  const [type = "", key = "", ...comment] = line.trim().split(/\s+/);
  return { type, base64: key, comment: comment.join(" ") };
}

/** `SHA256:…` of a public key in base64, as `ssh-keygen -l` prints it; undefined for text that is no key. */
export async function fingerprint(keyBase64: string): Promise<string | undefined> {
  try {
    const bytes = Uint8Array.from(atob(keyBase64), (letter) => letter.codePointAt(0) ?? 0);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return `SHA256:${base64(new Uint8Array(digest)).replace(/=+$/, "")}`;
  } catch {
    return undefined;
  }
}

function publicBlob(publicKey: Uint8Array): Uint8Array {
  return joined([field(utf8(TYPE)), field(publicKey)]);
}

function field(bytes: Uint8Array): Uint8Array {
  return joined([uint32(bytes.length), bytes]);
}

function uint32(number: number): Uint8Array {
  return Uint8Array.of(number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function base64(bytes: Uint8Array): string {
  return btoa([...bytes].map((byte) => String.fromCodePoint(byte)).join(""));
}
