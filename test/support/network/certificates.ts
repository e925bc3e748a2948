import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import forge from "node-forge";
import type { TestApp } from "../app.ts";

const run = promisify(execFile);

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

/** A directory that goes with its test. */
export async function aFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-certificate-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** A request for a certificate, made with the program that images use. */
export async function anOpensslRequest(
  folder: string,
  { key = "rsa:2048", san = "IP:0.0.0.0", digest = "-sha256" } = {},
) {
  const file = path.join(folder, "instance.csr");
  const keyFile = path.join(folder, "instance.key");
  const subject = ["-subj", "/C=US/O=Somebody/CN=example.com", "-addext", `subjectAltName=${san}`];
  await run("openssl", ["req", "-new", "-newkey", key, "-nodes", digest, "-keyout", keyFile, "-out", file, ...subject]);
  return readFile(file, "utf8");
}

/** Asks a server, as an instance does, to sign a request for a certificate. */
export async function sign({ origin }: TestApp, id: number | string, body: string, type = "application/octet-stream") {
  const url = `http://${origin}/api/v0/sign_cert/?instance_id=${id}`;
  const answer = await fetch(url, { method: "POST", headers: { "content-type": type }, body });
  return { status: answer.status, text: await answer.text(), type: answer.headers.get("content-type") };
}
