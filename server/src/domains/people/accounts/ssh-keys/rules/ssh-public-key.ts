import { createHash, createPublicKey } from "node:crypto";
import { invalid, type AppError } from "../../../../../base/errors.ts";

/** One OpenSSH public key: the line of a `.pub` file, checked to be a key and nothing else. */
export type SshPublicKey = {
  /** Type, body and comment on one line with single blanks between them, as a line of `authorized_keys`. */
  readonly line: string;
  readonly comment: string;
  /** The fingerprint that `ssh-keygen -l` shows: `SHA256:…`. It does not depend on the comment. */
  readonly fingerprint: string;
};

/**
 * Longest line in characters: the longest RSA key that OpenSSH accepts fills less than a quarter, the rest is comment.
 */
const SSH_KEY_LENGTH_MAX = 16_384;

const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 16_384;
const RSA_EXPONENT_BYTES_MAX = 8;
const ED25519_BYTES = 32;
const APPLICATION_LENGTH_MAX = 255;

const PRIVATE_KEY = /PRIVATE KEY-----|PuTTY-User-Key-File|SSH PRIVATE KEY FILE/;
const OTHER_FORMAT = /-----? ?BEGIN (?:SSH2 |RSA |EC )?PUBLIC KEY/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Control characters, lone surrogates and the line breaks of Unicode. */
const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** The fault of the fields after the type; undefined when there is none. */
type Check = (fields: readonly Buffer[]) => string | undefined;

const CHECKS: Readonly<Record<string, Check>> = {
  "ssh-ed25519": checkEd25519,
  "ssh-rsa": checkRsa,
  "ecdsa-sha2-nistp256": (fields) => checkEcdsa(fields, "nistp256"),
  "ecdsa-sha2-nistp384": (fields) => checkEcdsa(fields, "nistp384"),
  "ecdsa-sha2-nistp521": (fields) => checkEcdsa(fields, "nistp521"),
  "sk-ssh-ed25519@openssh.com": ([key, application, ...rest]) =>
    checkEd25519(present(key, ...rest)) ?? checkApplication(application),
  "sk-ecdsa-sha2-nistp256@openssh.com": ([curve, point, application, ...rest]) =>
    checkEcdsa(present(curve, point, ...rest), "nistp256") ?? checkApplication(application),
};

const CURVES = {
  nistp256: { jwk: "P-256", bytes: 32 },
  nistp384: { jwk: "P-384", bytes: 48 },
  nistp521: { jwk: "P-521", bytes: 66 },
} as const;

/**
 * Reads one public key. NULs are removed, since some terminals add them. Throws `no_ssh_key` for an empty text,
 * `invalid_ssh_key` with a sentence that names the fault. No error repeats the text.
 */
export function parseSshPublicKey(given: string | undefined, field = "ssh_key"): SshPublicKey {
  const text = (given ?? "").replaceAll("\0", "").trim();
  if (text === "") throw invalid(field, `${field} is required: the line of a .pub file`, "no_ssh_key");
  if (PRIVATE_KEY.test(text)) {
    const advice = "send the line of the .pub file beside it, and make a new pair if this one matters: it has left you";
    throw invalidKey(field, `this is a private key; ${advice}`);
  }
  if (OTHER_FORMAT.test(text)) {
    throw invalidKey(field, "it is a public key in another format; `ssh-keygen -i` turns it into OpenSSH's");
  }
  if (text.length > SSH_KEY_LENGTH_MAX) throw invalidKey(field, `it has more than ${SSH_KEY_LENGTH_MAX} characters`);
  if (/[\r\n]/.test(text)) throw invalidKey(field, "it has several lines; send one key, which is one line");
  const [type = "", body = "", ...words] = text.split(/[ \t]+/);
  const check = Object.hasOwn(CHECKS, type) ? CHECKS[type] : undefined;
  if (check === undefined) throw invalidKey(field, describeUnknownType(type, [body, ...words]));
  const comment = words.join(" ");
  if (UNFIT.test(comment)) throw invalidKey(field, "its comment has control characters");
  if (body === "") throw invalidKey(field, `nothing follows ${type}; the key itself is missing`);
  if (!BASE64.test(body)) throw invalidKey(field, "its middle part is not base64; it may have been cut or wrapped");
  const blob = Buffer.from(body, "base64");
  const problem = checkBlob(blob, type, check);
  if (problem !== undefined) throw invalidKey(field, problem);
  // Unused bits at the end of base64 would let one key have several texts.
  const line = [type, blob.toString("base64"), comment].filter((part) => part !== "").join(" ");
  return { line, comment, fingerprint: fingerprintOf(blob) };
}

/** Fingerprint of the key's binary body, without type and comment. */
function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
}

function checkBlob(blob: Buffer, type: string, check: Check): string | undefined {
  const fields = splitFields(blob);
  if (fields === undefined) return "its middle part is not a whole key; it may have been cut";
  const [inner, ...rest] = fields;
  // Compared as text of one byte per character, so that no broken UTF-8 can pass for the type.
  if (inner?.toString("latin1") !== type) return `it says ${type}, but what follows is a key of another type`;
  return check(rest);
}

/** The length-prefixed strings of a key; undefined when they do not fill it exactly. */
function splitFields(blob: Buffer): readonly Buffer[] | undefined {
  const fields: Buffer[] = [];
  for (let at = 0; at < blob.length;) {
    if (blob.length - at < 4) return undefined;
    const length = blob.readUInt32BE(at);
    if (length > blob.length - at - 4) return undefined;
    fields.push(blob.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}

function checkEd25519([key, ...rest]: readonly Buffer[]): string | undefined {
  const isWhole = key?.length === ED25519_BYTES && rest.length === 0;
  return isWhole ? undefined : `an Ed25519 key has ${ED25519_BYTES} bytes, and this one has not`;
}

function checkRsa([exponent, modulus, ...rest]: readonly Buffer[]): string | undefined {
  if (exponent === undefined || modulus === undefined || rest.length > 0) return "it is not a whole RSA key";
  if (!isPositive(exponent) || !isPositive(modulus)) return "the numbers of this RSA key are malformed";
  const bits = bitsOf(modulus);
  if (bits < RSA_BITS_MIN) return `RSA keys need at least ${RSA_BITS_MIN} bits, and this one has ${bits}`;
  if (bits > RSA_BITS_MAX) return `RSA keys may have at most ${RSA_BITS_MAX} bits, and this one has ${bits}`;
  const isOdd = (number: Buffer) => ((number.at(-1) ?? 0) & 1) === 1;
  const isUsable = isOdd(exponent) && isOdd(modulus) && bitsOf(exponent) > 1;
  if (!isUsable || exponent.length > RSA_EXPONENT_BYTES_MAX) return "the numbers of this RSA key make no key";
  return undefined;
}

/** A number as SSH writes it: no needless leading zero, and the sign bit clear. */
function isPositive(number: Buffer): boolean {
  const [first, second = 0] = number;
  if (first === undefined || first >= 0x80) return false;
  return first > 0 || second >= 0x80;
}

function bitsOf(number: Buffer): number {
  const leading = number[0] === 0 ? 1 : 0;
  return (number.length - leading) * 8 - Math.clz32(number[leading] ?? 0) + 24;
}

function checkEcdsa([curve, point, ...rest]: readonly Buffer[], name: keyof typeof CURVES): string | undefined {
  const { jwk, bytes } = CURVES[name];
  if (curve === undefined || point === undefined || rest.length > 0) return "it is not a whole ECDSA key";
  if (curve.toString("latin1") !== name) return `an ECDSA key of this type is on ${name}, and this one is not`;
  if (point[0] !== 4 || point.length !== 1 + 2 * bytes) return "the point of this ECDSA key is malformed";
  const x = point.subarray(1, 1 + bytes).toString("base64url");
  const y = point.subarray(1 + bytes).toString("base64url");
  try {
    createPublicKey({ key: { kty: "EC", crv: jwk, x, y }, format: "jwk" });
    return undefined;
  } catch {
    return "the point of this ECDSA key is not on its curve";
  }
}

/** The application of a security key, such as `ssh:`. */
function checkApplication(application: Buffer | undefined): string | undefined {
  if (application === undefined) return "it is not a whole key of a security key";
  const isPlain = /^[\x20-\x7e]+$/.test(application.toString("latin1"));
  return isPlain && application.length <= APPLICATION_LENGTH_MAX ? undefined : "its application is malformed";
}

function present(...fields: readonly (Buffer | undefined)[]): readonly Buffer[] {
  return fields.flatMap((field) => field ?? []);
}

function describeUnknownType(type: string, others: readonly string[]): string {
  if (type === "ssh-dss") return "DSA keys are too weak; make one with `ssh-keygen -t ed25519`";
  if (type.includes("-cert-v01@openssh.com")) return "this is a certificate; send the public key that it is for";
  if (others.some((word) => Object.hasOwn(CHECKS, word))) {
    return "it begins with options, which are not allowed; begin with the type, such as ssh-ed25519";
  }
  return 'it must be a line such as "ssh-ed25519 AAAA… you@laptop", as in a .pub file';
}

function invalidKey(field: string, problem: string): AppError {
  return invalid(field, `${field} is not a public key that can be used: ${problem}.`, "invalid_ssh_key");
}
