import { generateKeyPairSync } from "node:crypto";
import forge from "node-forge";

/** A request for a certificate in PEM, for a key that nobody keeps. */
export function aSigningRequest(): string {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const request = forge.pki.createCertificationRequest();
  request.publicKey = forge.pki.publicKeyFromPem(publicKey);
  request.setSubject([{ name: "commonName", value: "test" }]);
  request.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create());
  return forge.pki.certificationRequestToPem(request);
}
