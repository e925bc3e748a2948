import {
  constants,
  createPublicKey,
  generateKeyPair,
  privateEncrypt,
  randomBytes,
  verify as verifySignature,
} from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import forge from "node-forge";
import { invalid } from "../../../../base/errors.ts";

export type Authority = { readonly certificatePem: string; readonly keyPem: string };

/** The contents of a signing request whose signature was checked. */
export type SigningRequest = { readonly publicKeyPem: string; readonly ipAddresses: readonly string[] };

const DAY_MS = 86_400_000;
const AUTHORITY_BITS = 3072;
const AUTHORITY_DAYS = 20 * 365;
/** Below the 825 days that browsers accept from an authority that a person installed. */
const CERTIFICATE_DAYS_MAX = 397;
const KEY_BITS_MIN = 2048;
const KEY_BITS_MAX = 4096;
const SERIAL_BYTES = 16;
const SAN_DNS = 2;
const SAN_IP = 7;
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const NAME_CONSTRAINTS = "2.5.29.30";
/** The digest of each signature that a request may have. */
const DIGESTS: Readonly<Record<string, string>> = {
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
};
/** `DigestInfo` of PKCS #1 before a SHA-256 digest. */
const SHA256_PREFIX = Buffer.from("3031300d060960864801650304020105000420", "hex");
/** Creates a root certificate and its key. */
export async function createAuthority(now: Date): Promise<Authority> {
  const keys = await promisify(generateKeyPair)("rsa", {
    modulusLength: AUTHORITY_BITS,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const certificate = begin(keys.publicKey, now, new Date(now.getTime() + AUTHORITY_DAYS * DAY_MS));
  const name = [{ name: "commonName", value: `Berth root ${certificate.serialNumber.slice(2, 10)}` }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
    { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    { id: NAME_CONSTRAINTS, critical: true, value: addressesOnly() },
    { name: "subjectKeyIdentifier" },
  ]);
  return { certificatePem: sign(certificate, keys.privateKey), keyPem: keys.privateKey };
}

/** Reads a request in PEM and checks that its sender has the private key. */
export function readSigningRequest(pem: string): SigningRequest {
  const request = parseRequest(pem);
  const { n, e } = request.publicKey as forge.pki.rsa.PublicKey;
  const bits = n.bitLength();
  if (bits < KEY_BITS_MIN || bits > KEY_BITS_MAX || e.toString(10) !== "65537") {
    throw invalid("body", `The key must be RSA with ${KEY_BITS_MIN} to ${KEY_BITS_MAX} bits and the exponent 65537.`);
  }
  const digest = DIGESTS[request.signatureOid ?? ""];
  if (digest === undefined) throw invalid("body", "The request must be signed with SHA-256, SHA-384 or SHA-512.");
  const publicKeyPem = forge.pki.publicKeyToPem(request.publicKey as forge.pki.PublicKey);
  if (request.certificationRequestInfo === null || typeof request.signature !== "string") throw unreadable();
  const signed = bytesOf(forge.asn1.toDer(request.certificationRequestInfo).getBytes());
  const isOwner = verifySignature(digest, signed, createPublicKey(publicKeyPem), bytesOf(request.signature));
  if (!isOwner) throw invalid("body", "The request is not signed with the key that it is for.");
  return { publicKeyPem, ipAddresses: addressesOf(request) };
}

/** The name in an instance's certificates, which tells instances at one address apart. */
export function subjectOf(instanceId: number): string {
  return `Berth instance ${instanceId}`;
}

/** A certificate for exactly this key, valid for these addresses until a day after `endAt`. */
export function issueCertificate(
  authority: Authority,
  now: Date,
  input: {
    readonly publicKeyPem: string;
    readonly commonName: string;
    readonly ipAddresses: readonly string[];
    readonly endAt: Date;
  },
): string {
  const issuer = forge.pki.certificateFromPem(authority.certificatePem);
  // A day longer than the rental, for wrong clocks and instances that take time to end.
  const lastMs = Math.min(input.endAt.getTime() + DAY_MS, now.getTime() + CERTIFICATE_DAYS_MAX * DAY_MS);
  const certificate = begin(input.publicKeyPem, now, new Date(lastMs));
  certificate.setSubject([{ name: "commonName", value: input.commonName }]);
  certificate.setIssuer(issuer.subject.attributes);
  certificate.setExtensions([
    { name: "basicConstraints", cA: false, critical: true },
    { name: "keyUsage", digitalSignature: true, keyEncipherment: true, critical: true },
    { name: "extKeyUsage", serverAuth: true },
    { name: "subjectAltName", altNames: input.ipAddresses.map((ip) => ({ type: SAN_IP, ip })) },
    { name: "authorityKeyIdentifier", keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
  ]);
  return sign(certificate, authority.keyPem);
}

function begin(publicKeyPem: string, now: Date, lastAt: Date): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKeyPem);
  // Positive, and never shortened by leading zeros.
  certificate.serialNumber = `01${randomBytes(SERIAL_BYTES - 1).toString("hex")}`;
  certificate.validity.notBefore = new Date(now.getTime() - DAY_MS);
  certificate.validity.notAfter = lastAt;
  return certificate;
}

/**
 * Name constraints that allow any IPv4 and IPv6 address and no host name: trust in this authority is trust for
 * instances, not for the rest of the web.
 */
function addressesOnly(): string {
  const { asn1 } = forge;
  const subtree = (type: number, bytes: string) =>
    asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, [
      asn1.create(asn1.Class.CONTEXT_SPECIFIC, type as forge.asn1.Type, false, bytes),
    ]);
  const subtrees = (tag: number, members: forge.asn1.Asn1[]) =>
    asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag as forge.asn1.Type, true, members);
  const permitted = [IPV4_BYTES, IPV6_BYTES].map((bytes) => subtree(SAN_IP, "\0".repeat(2 * bytes)));
  const constraints = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, [
    subtrees(0, permitted),
    subtrees(1, [subtree(SAN_DNS, "")]),
  ]);
  return asn1.toDer(constraints).getBytes();
}

/** Signs with OpenSSL, because the library's own arithmetic blocks the process for tens of milliseconds. */
function sign(certificate: forge.pki.Certificate, keyPem: string): string {
  const key = {
    sign(md: forge.md.MessageDigest): string {
      const digestInfo = Buffer.concat([SHA256_PREFIX, bytesOf(md.digest().getBytes())]);
      return privateEncrypt({ key: keyPem, padding: constants.RSA_PKCS1_PADDING }, digestInfo).toString("latin1");
    },
  };
  certificate.sign(key as forge.pki.rsa.PrivateKey, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate).replaceAll("\r\n", "\n");
}

function parseRequest(pem: string) {
  try {
    return forge.pki.certificationRequestFromPem(pem);
  } catch {
    throw unreadable();
  }
}

function unreadable() {
  return invalid("body", "The body must be a certificate signing request for an RSA key, in PEM.");
}

/** The IP addresses among the names of a request. */
function addressesOf(request: ReturnType<typeof parseRequest>): readonly string[] {
  const attribute = request.getAttribute({ name: "extensionRequest" }) as
    | { readonly extensions?: readonly { readonly altNames?: readonly { readonly ip?: unknown }[] }[] }
    | undefined;
  const names = attribute?.extensions?.flatMap((extension) => extension.altNames ?? []) ?? [];
  return names.flatMap(({ ip }) => (typeof ip === "string" && isIP(ip) !== 0 ? [ip] : []));
}

function bytesOf(binary: string): Buffer {
  return Buffer.from(binary, "latin1");
}
