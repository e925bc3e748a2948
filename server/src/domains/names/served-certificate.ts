import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Lifetime } from "./rules/renewal.ts";

/** A certificate with its key, ready to be served. */
export class ServedCertificate implements Lifetime {
  readonly context: SecureContext;
  readonly #leaf: X509Certificate;

  /** Throws when the texts are no certificate and key, or do not belong to each other. */
  constructor({ chainPem, keyPem }: { readonly chainPem: string; readonly keyPem: string }) {
    this.#leaf = new X509Certificate(chainPem);
    if (!this.#leaf.checkPrivateKey(createPrivateKey(keyPem))) {
      throw new Error("the key does not belong to the certificate");
    }
    this.context = createSecureContext({ cert: chainPem, key: keyPem, minVersion: "TLSv1.2" });
  }

  get issuedAt(): Date {
    return new Date(this.#leaf.validFrom);
  }

  get expiresAt(): Date {
    return new Date(this.#leaf.validTo);
  }

  /** The names in the certificate, for people. */
  get names(): string {
    return this.#leaf.subjectAltName?.replaceAll("DNS:", "") ?? this.#leaf.subject;
  }

  /** True when clients that ask for this name, which may begin with `*.`, take the certificate. */
  isFor(name: string): boolean {
    // A certificate for all names of a domain takes any of them; no host has the name that stands for them here.
    const host = name.startsWith("*.") ? `berth-any-name${name.slice(1)}` : name;
    return this.#leaf.checkHost(host, { subject: "never" }) !== undefined;
  }
}
