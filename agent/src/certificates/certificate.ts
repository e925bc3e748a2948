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

export type Certificate = { readonly certificatePem: string; readonly keyPem: string };

export type CertificateDependencies = {
  readonly clock: Clock;
  readonly log: Log;
  /** The control plane's address, as for the session: `wss://…/agent`. */
  readonly serverUrl: string;
  /** The address that renters reach; it stands in the certificate. */
  readonly publicIpaddr: string;
  /** `fetch` outside of tests. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
};

const KEY_BITS = 2048;
/** Longest key that the server signs; a longer one would also hold up the agent. */
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
 * Certificates with which instances serve HTTPS, `/etc/instance.crt` and `.key` in the container: signed by the control
 * plane, or by themselves when it does not sign. Each instance keeps its own for as long as the agent runs.
 */
export class Certificates {
  readonly #deps: CertificateDependencies;
  readonly #signed = new Map<number, Certificate>();
  readonly #making = new Map<number, Promise<Certificate>>();

  constructor(deps: CertificateDependencies) {
    this.#deps = deps;
  }

  /** Makes a certificate for an instance; several calls at once get the same one. */
  async makeCertificate(instanceId: number): Promise<Certificate> {
    const known = this.#signed.get(instanceId);
    // Containers get a new one when less than half of its time is left: it is good for no longer than the rental.
    if (known && this.#deps.clock.now().getTime() < middleOf(new X509Certificate(known.certificatePem))) return known;
    const making = this.#making.get(instanceId) ?? this.#make(instanceId);
    this.#making.set(instanceId, making);
    return making.finally(() => this.#making.delete(instanceId));
  }

  /**
   * The next certificate of an instance for the key that it has, so that programs that serve with the key only need the
   * new certificate. Throws when the server signs none, and for a key that it would not sign. The key may be the
   * renter's own.
   */
  async renewCertificate(instanceId: number, keyPem: string): Promise<string> {
    const key = createPrivateKey(keyPem);
    const bits = key.asymmetricKeyType === "rsa" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0;
    if (bits < KEY_BITS || bits > KEY_BITS_MAX) throw new Error(`its key is no RSA key of ${KEY_BITS} bits or more`);
    const publicKey = createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
    const answer = await this.#askForSignature(instanceId, signingRequest({ publicKey, key }, this.#addresses()));
    const certificatePem = requireFor(answer, keyPem);
    if (this.#signed.get(instanceId)?.keyPem === keyPem) this.#signed.set(instanceId, { certificatePem, keyPem });
    return certificatePem;
  }

  #addresses(): readonly string[] {
    const { publicIpaddr } = this.#deps;
    return ["0.0.0.0", ...(isIP(publicIpaddr) === 0 ? [] : [publicIpaddr])];
  }

  async #make(instanceId: number): Promise<Certificate> {
    const { clock, log } = this.#deps;
    const keys = await promisify(generateKeyPair)("rsa", {
      modulusLength: KEY_BITS,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const addresses = this.#addresses();
    try {
      const request = signingRequest({ publicKey: keys.publicKey, key: createPrivateKey(keys.privateKey) }, addresses);
      const answer = await this.#askForSignature(instanceId, request);
      const signed = { certificatePem: requireFor(answer, keys.privateKey), keyPem: keys.privateKey };
      this.#signed.set(instanceId, signed);
      return signed;
    } catch (cause) {
      log.info(
        { instance_id: instanceId, problem: String(cause) },
        "the server signs no certificate, so the agent signs it itself",
      );
      // This one is not kept, since the next container of the instance may get a signed one.
      return { certificatePem: selfSigned(keys, addresses, clock.now()), keyPem: keys.privateKey };
    }
  }

  async #askForSignature(instanceId: number, request: string): Promise<string> {
    const deadline = new AbortController();
    const waited = new AbortController();
    void this.#deps.clock.sleep(SIGN_TIMEOUT_MS, waited.signal).then(() => deadline.abort());
    try {
      const response = await this.#deps.fetch(signUrl(this.#deps.serverUrl, instanceId), {
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

function signUrl(serverUrl: string, instanceId: number): string {
  const url = new URL(serverUrl);
  url.protocol = url.protocol === "wss:" ? "https:" : "http:";
  url.pathname = `${url.pathname.replace(/\/agent\/?$/, "")}/api/v0/sign_cert/`;
  url.search = `?instance_id=${instanceId}`;
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
function requireFor(certificatePem: string, keyPem: string): string {
  if (certificatePem.length > MAX_CERTIFICATE_LENGTH) throw new Error("the certificate is too long");
  const certificate = new X509Certificate(certificatePem);
  if (!certificate.checkPrivateKey(createPrivateKey(keyPem))) throw new Error("it is for another key");
  return certificate.toString();
}
