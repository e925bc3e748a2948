import { generateKeyPairSync } from "node:crypto";
import forge from "node-forge";

/** A certificate for a name, and further ones, signed by itself, with its key; both in PEM. */
export function aSelfSignedCertificate(
  hostname: string,
  ...further: readonly string[]
): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey);
  certificate.serialNumber = "01";
  certificate.validity.notBefore = new Date("2020-01-01T00:00:00Z");
  certificate.validity.notAfter = new Date("2049-01-01T00:00:00Z");
  const subject = [{ name: "commonName", value: hostname }];
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  // As tools write them: by the key OpenSSL tells roots with one name apart, and Debian's ssl-cert names its own "localhost".
  const keyIdentifier = certificate.generateSubjectKeyIdentifier().getBytes();
  certificate.setExtensions([
    { name: "basicConstraints", cA: true },
    { name: "subjectKeyIdentifier" },
    { name: "authorityKeyIdentifier", keyIdentifier },
    { name: "subjectAltName", altNames: [hostname, ...further].map((value) => ({ type: 2, value })) },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create());
  return { key: privateKey, cert: forge.pki.certificateToPem(certificate) };
}
