import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { Certificates } from "../../../../agent/src/certificate.ts";
import { silentLog } from "../../../../agent/src/log.ts";
import { testApp, type TestApp } from "../../../../test/support/app.ts";
import { rentAndRun } from "../../../../test/support/rentals.ts";

const run = promisify(execFile);

async function aFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-certificate-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** What images do, with the program that they use. */
async function anOpensslRequest(folder: string, { key = "rsa:2048", san = "IP:0.0.0.0", digest = "-sha256" } = {}) {
  const file = path.join(folder, "instance.csr");
  const keyFile = path.join(folder, "instance.key");
  const subject = ["-subj", "/C=US/O=Somebody/CN=example.com", "-addext", `subjectAltName=${san}`];
  await run("openssl", ["req", "-new", "-newkey", key, "-nodes", digest, "-keyout", keyFile, "-out", file, ...subject]);
  return readFile(file, "utf8");
}

async function world(t: TestContext) {
  const app = await testApp(t);
  const [host, user] = [await app.host(), await app.caller()];
  const id = await rentAndRun(app, user, host);
  return { app, host, id };
}

async function sign({ origin }: TestApp, id: number | string, body: string, type = "application/octet-stream") {
  const url = `http://${origin}/api/v0/sign_cert/?instance_id=${id}`;
  const answer = await fetch(url, { method: "POST", headers: { "content-type": type }, body });
  return { status: answer.status, text: await answer.text(), type: answer.headers.get("content-type") };
}

const rootOf = async ({ origin }: TestApp) => (await fetch(`http://${origin}/static/jvastai_root.cer`)).text();

test("a request from the machine's address is signed for its key, and OpenSSL follows it to the root", async (t) => {
  const { app, id } = await world(t);
  const folder = await aFolder(t);
  const request = await anOpensslRequest(folder, { san: "IP:0.0.0.0,IP:203.0.113.9,DNS:bank.example" });
  const answer = await sign(app, id, request);
  assert.equal(answer.status, 200, answer.text);
  const [root, certificate] = [path.join(folder, "root.cer"), path.join(folder, "instance.crt")];
  await writeFile(root, await rootOf(app));
  await writeFile(certificate, answer.text);
  // By the clock of those who signed: the certificates are good for a while from then on.
  const when = ["-attime", String(Math.floor(app.clock.now().getTime() / 1000))];
  const { stdout } = await run("openssl", ["verify", ...when, "-purpose", "sslserver", "-CAfile", root, certificate]);
  assert.match(stdout, /: OK/);
  const issued = new X509Certificate(answer.text);
  // Only what is the machine's own: what else was asked for is left out.
  assert.equal(issued.subjectAltName, "IP Address:192.0.2.1, IP Address:0.0.0.0");
  assert.equal(issued.ca, false);
  assert.ok(issued.checkPrivateKey(createPrivateKey(await readFile(path.join(folder, "instance.key")))));
});

test("the root is made once, is no secret, and vouches for addresses only", async (t) => {
  const { app } = await world(t);
  const [first, ...others] = await Promise.all([rootOf(app), rootOf(app), rootOf(app)]);
  assert.deepEqual(others, [first, first]);
  const root = new X509Certificate(first ?? "");
  assert.equal(root.ca, true);
  const { rows } = await app.env.pool.query("select sealed_key from certificate_authorities");
  assert.equal(rows.length, 1);
  assert.match(rows[0].sealed_key, /^sealed1:/);
  const folder = await aFolder(t);
  await writeFile(path.join(folder, "root.cer"), first ?? "");
  const { stdout } = await run("openssl", ["x509", "-in", path.join(folder, "root.cer"), "-noout", "-text"]);
  assert.match(stdout, /Name Constraints: critical[^]*Permitted:[^]*IP:0.0.0.0\/0.0.0.0[^]*Excluded:[^]*DNS:/);
});

test("what the agent asks for is signed", async (t) => {
  const { app, id } = await world(t);
  const certificates = new Certificates({
    clock: app.clock,
    log: silentLog,
    server_url: `ws://${app.origin}/agent`,
    public_ipaddr: "192.0.2.1",
    fetch,
  });
  const [one, same] = await Promise.all([certificates.makeCertificate(id), certificates.makeCertificate(id)]);
  assert.equal(one.certificate_pem, same.certificate_pem);
  assert.deepEqual(await certificates.makeCertificate(id), one);
  const root = new X509Certificate(await rootOf(app));
  assert.ok(new X509Certificate(one.certificate_pem).verify(root.publicKey));
});

test("from another address, for an unknown instance or for one that has ended nothing is signed", async (t) => {
  const { app, host, id } = await world(t);
  const request = await anOpensslRequest(await aFolder(t));
  for (const unknown of [id + 1_000_000, 0, -1, 2_147_483_648]) {
    assert.equal((await sign(app, unknown, request)).status, 404);
  }
  assert.equal((await sign(app, "x", request)).status, 400);
  const elsewhere = await app.app.http.app.inject({
    method: "POST",
    url: `/api/v0/sign_cert?instance_id=${id}`,
    headers: { "content-type": "application/octet-stream" },
    remoteAddress: "198.51.100.4",
    payload: request,
  });
  assert.equal(elsewhere.statusCode, 404);
  assert.equal(elsewhere.json().error, "no_such_instance");
  await host.disconnect();
  assert.equal((await sign(app, id, request)).status, 404, "the loopback is nobody's address when its agent is away");
});

test("a request that is none, or for a key that is too weak, is refused by the name of what is wrong", async (t) => {
  const { app, id } = await world(t);
  const folder = await aFolder(t);
  const good = await anOpensslRequest(folder);
  const lines = good.trim().split("\n");
  const forged = [...lines.slice(0, -3), (lines.at(-3) ?? "").toLowerCase(), ...lines.slice(-2)].join("\n");
  const wrong: readonly (readonly [string, RegExp])[] = [
    ["", /certificate signing request/],
    ["hello", /certificate signing request/],
    ["-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n", /certificate signing request/],
    [forged, /not signed with the key|certificate signing request/],
    [await anOpensslRequest(folder, { key: "rsa:1024" }), /2048/],
    [await anOpensslRequest(folder, { digest: "-sha1" }), /SHA-256/],
  ];
  for (const [body, reason] of wrong) {
    const answer = await sign(app, id, body);
    assert.equal(answer.status, 400, answer.text);
    assert.equal(JSON.parse(answer.text).field, "body");
    assert.match(answer.text, reason);
  }
  assert.equal((await sign(app, id, "x".repeat(20_000))).status, 413);
  assert.equal((await sign(app, id, good, "application/x-www-form-urlencoded")).status, 200, "as curl sends it");
  assert.equal((await sign(app, id, JSON.stringify(good), "application/json")).status, 200);
  assert.equal((await sign(app, id, "{}", "application/json")).status, 400);
});
