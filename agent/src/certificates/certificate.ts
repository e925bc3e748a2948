import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  privateEncrypt,
  randomBytes,
  X509Certificate,
  type KeyObject,
} from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import forge from "node-forge";
import { middleOf } from "./certificate-keeper.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

export type Certificate = { readonly certificate_pem: string; readonly key_pem: string };

export type CertificateDependencies = {
  readonly clock: Clock;
  readonly log: Log;
  /** The control plane's address, as for the session: `wss://…/agent`. */
  readonly server_url: string;
  /** The address that renters reach; it stands in the certificate. */
  readonly public_ipaddr: string;
  /** `fetch` outside of tests. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
};

const KEY_BITS = 2048;
/** What the server signs; a longer one would hold up the agent. */
const KEY_BITS_MAX = 4096;
const DAY_MS = 86_400_000;
const SELF_SIGNED_DAYS = 397;
const SIGN_TIMEOUT_MS = 5_000;
const MAX_CERTIFICATE_LENGTH = 16_384;
const SAN_IP = 7;
const SERIAL_BYTES = 16;
/** `DigestInfo` of PKCS #1 before a SHA-256 digest. */
const SHA256_PREFIX = Buffer.from("3031300d060960864801650304020105000420", "hex");

/**
 * Certificates for what instances serve over HTTPS, `/etc/instance.crt` and `.key` in the container: signed by the control
 * plane, or by themselves when it does not sign. Each instance keeps its own for as long as the agent runs.
 */
export class Certificates {
  readonly #deps: CertificateDependencies;
  readonly #signed = new Map<number, Certificate>();
  readonly #making = new Map<number, Promise<Certificate>>();

  constructor(deps: CertificateDependencies) {
    this.#deps = deps;
  }

  /** Several calls for one instance at once get the same. */
  async makeCertificate(instance_id: number): Promise<Certificate> {
    const known = this.#signed.get(instance_id);
    // Containers get a new one when less than half of its time is left: it is good for no longer than the rental.
    if (known && this.#deps.clock.now().getTime() < middleOf(new X509Certificate(known.certificate_pem))) return known;
    const making = this.#making.get(instance_id) ?? this.#make(instance_id);
    this.#making.set(instance_id, making);
    return making.finally(() => this.#making.delete(instance_id));
  }

  /**
   * The next certificate of an instance for the key that it has: what serves with the key needs the new certificate alone.
   * Throws when the server signs none, and for a key that it would not sign. The key may be the renter's own.
   */
  async renewCertificate(instance_id: number, key_pem: string): Promise<string> {
    const key = createPrivateKey(key_pem);
    const bits = key.asymmetricKeyType === "rsa" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0;
    if (bits < KEY_BITS || bits > KEY_BITS_MAX) throw new Error(`its key is no RSA key of ${KEY_BITS} bits or more`);
    const publicKey = createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
    const answer = await this.#askForSignature(instance_id, signingRequest({ publicKey, key }, this.#addresses()));
    const certificate_pem = requireFor(answer, key_pem);
    if (this.#signed.get(instance_id)?.key_pem === key_pem) this.#signed.set(instance_id, { certificate_pem, key_pem });
    return certificate_pem;
  }

  #addresses(): readonly string[] {
    const { public_ipaddr } = this.#deps;
    return ["0.0.0.0", ...(isIP(public_ipaddr) === 0 ? [] : [public_ipaddr])];
  }

  async #make(instance_id: number): Promise<Certificate> {
    const { clock, log } = this.#deps;
    const keys = await promisify(generateKeyPair)("rsa", {
      modulusLength: KEY_BITS,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const addresses = this.#addresses();
    try {
      const request = signingRequest({ publicKey: keys.publicKey, key: createPrivateKey(keys.privateKey) }, addresses);
      const answer = await this.#askForSignature(instance_id, request);
      const signed = { certificate_pem: requireFor(answer, keys.privateKey), key_pem: keys.privateKey };
      this.#signed.set(instance_id, signed);
      return signed;
    } catch (cause) {
      log.info({ instance_id, problem: String(cause) }, "the server signs no certificate, so it signs itself");
      // Not kept: the next container of the instance may get a signed one.
      return { certificate_pem: selfSigned(keys, addresses, clock.now()), key_pem: keys.privateKey };
    }
  }

  async #askForSignature(instance_id: number, request: string): Promise<string> {
    const deadline = new AbortController();
    const waited = new AbortController();
    void this.#deps.clock.sleep(SIGN_TIMEOUT_MS, waited.signal).then(() => deadline.abort());
    try {
      const response = await this.#deps.fetch(signUrl(this.#deps.server_url, instance_id), {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: request,
        signal: deadline.signal,
        redirect: "error",
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`answered ${response.status}: ${text.slice(0, 200)}`);
      return text;
    } finally {
      waited.abort();
    }
  }
}

type Keys = { readonly publicKey: string; readonly privateKey: string };

function signUrl(server_url: string, instance_id: number): string {
  const url = new URL(server_url);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  url.pathname = `${url.pathname.replace(/\/agent\/?$/, "")}/api/v0/sign_cert/`;
  url.search = `?instance_id=${instance_id}`;
  return url.toString();
}

function subjectAltName(addresses: readonly string[]) {
  return { name: "subjectAltName", altNames: addresses.map((ip) => ({ type: SAN_IP, ip })) };
}

const SUBJECT = [{ name: "commonName", value: "Berth instance" }];

function signingRequest(
  { publicKey, key }: { readonly publicKey: string; readonly key: KeyObject },
  addresses: readonly string[],
): string {
  const request = forge.pki.createCertificationRequest();
  request.publicKey = forge.pki.publicKeyFromPem(publicKey);
  request.setSubject(SUBJECT);
  // The library's types know no attribute with extensions, although it writes them.
  const extensions = { name: "extensionRequest", extensions: [subjectAltName(addresses)] };
  request.setAttributes([extensions]);
  // Signed by OpenSSL: the library's own arithmetic would hold up the agent.
  const signer = {
    sign(md: forge.md.MessageDigest): string {
      const digestInfo = Buffer.concat([SHA256_PREFIX, Buffer.from(md.digest().getBytes(), "latin1")]);
      return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, digestInfo).toString("latin1");
    },
  };
  request.sign(signer as forge.pki.rsa.PrivateKey, forge.md.sha256.create());
  return forge.pki.certificationRequestToPem(request);
}

function selfSigned(keys: Keys, addresses: readonly string[], now: Date): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(keys.publicKey);
  certificate.serialNumber = `01${randomBytes(SERIAL_BYTES - 1).toString("hex")}`;
  certificate.validity.notBefore = new Date(now.getTime() - DAY_MS);
  certificate.validity.notAfter = new Date(now.getTime() + SELF_SIGNED_DAYS * DAY_MS);
  certificate.setSubject(SUBJECT);
  certificate.setIssuer(SUBJECT);
  certificate.setExtensions([{ name: "basicConstraints", cA: false }, subjectAltName(addresses)]);
  certificate.sign(forge.pki.privateKeyFromPem(keys.privateKey), forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}

/** Throws unless the text is one certificate for exactly this key. */
function requireFor(certificate_pem: string, key_pem: string): string {
  if (certificate_pem.length > MAX_CERTIFICATE_LENGTH) throw new Error("the certificate is too long");
  const certificate = new X509Certificate(certificate_pem);
  if (!certificate.checkPrivateKey(createPrivateKey(key_pem))) throw new Error("it is for another key");
  return certificate.toString();
}
