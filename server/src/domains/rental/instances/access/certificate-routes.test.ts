import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { Certificates } from "../../../../../../agent/src/certificates/certificate.ts";
import { renewCertificates } from "../../../../../../agent/src/certificates/certificate-keeper.ts";
import { silentLog } from "../../../../../../agent/src/base/log.ts";
import { aFolder, anOpensslRequest, sign } from "../../../../../../test/support/network/certificates.ts";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aSelfSignedCertificate } from "../../../../../../test/support/network/self-signed.ts";
import { rentAndRun } from "../../../../../../test/support/rentals.ts";

const run = promisify(execFile);
const DAY_MS = 86_400_000;

async function world(t: TestContext) {
  const app = await testApp(t);
  const [host, user] = [await app.host(), await app.caller()];
  const id = await rentAndRun(app, user, host);
  return { app, host, id };
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
  // Verified at the test's time, since the certificates are valid for a while from then on.
  const when = ["-attime", String(Math.floor(app.clock.now().getTime() / 1000))];
  const { stdout } = await run("openssl", ["verify", ...when, "-purpose", "sslserver", "-CAfile", root, certificate]);
  assert.match(stdout, /: OK/);
  const issued = new X509Certificate(answer.text);
  // Only the machine's own addresses are certified; others in the request are left out.
  assert.equal(issued.subjectAltName, "IP Address:192.0.2.1, IP Address:0.0.0.0");
  assert.equal(issued.ca, false);
  assert.ok(issued.checkPrivateKey(createPrivateKey(await readFile(path.join(folder, "instance.key")))));
});

test("the root certificate is created once, is public, and certifies addresses only", async (t) => {
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

test("a request of the agent is signed", async (t) => {
  const { app, id } = await world(t);
  const certificates = new Certificates({
    clock: app.clock,
    log: silentLog,
    serverUrl: `ws://${app.origin}/agent`,
    publicIpaddr: "192.0.2.1",
    fetch,
  });
  const [one, same] = await Promise.all([certificates.makeCertificate(id), certificates.makeCertificate(id)]);
  assert.equal(one.certificatePem, same.certificatePem);
  assert.deepEqual(await certificates.makeCertificate(id), one);
  const root = new X509Certificate(await rootOf(app));
  assert.ok(new X509Certificate(one.certificatePem).verify(root.publicKey));
});

test("a certificate ends a day after its rental, and never lasts longer than browsers accept", async (t) => {
  const { app, id } = await world(t);
  const request = await anOpensslRequest(await aFolder(t));
  const endOf = async () => new Date(new X509Certificate((await sign(app, id, request)).text).validTo);
  const nowMs = app.clock.now().getTime();
  for (const [days, expected] of [
    [3, 4],
    [2000, 397],
  ] as const) {
    const endAt = new Date(nowMs + days * DAY_MS);
    await app.env.pool.query("update instances set end_at = $1 where id = $2", [endAt, id]);
    assert.equal(
      (await endOf()).toISOString().slice(0, 10),
      new Date(nowMs + expected * DAY_MS).toISOString().slice(0, 10),
    );
  }
});

test("a prolonged rental gets its next certificate before the old one ends, while it runs, for the key that it has", async (t) => {
  const { app, id } = await world(t);
  const { pool } = app.env;
  const endsIn = (days: number) =>
    pool.query("update instances set end_at = $1 where id = $2", [
      new Date(app.clock.now().getTime() + days * DAY_MS),
      id,
    ]);
  await endsIn(3);
  const { clock } = app;
  const certificates = new Certificates({
    clock,
    log: silentLog,
    serverUrl: `ws://${app.origin}/agent`,
    publicIpaddr: "192.0.2.1",
    fetch,
  });
  const made = await certificates.makeCertificate(id);
  const files = new Map([
    ["instance.crt", made.certificatePem],
    ["instance.key", made.keyPem],
  ]);
  let writes = 0;
  let isRunning = true;
  const look = () =>
    renewCertificates({
      clock,
      log: silentLog,
      isRunning: () => isRunning,
      renewCertificate: (instanceId, keyPem) => certificates.renewCertificate(instanceId, keyPem),
      disks: {
        list: async () => [id],
        readPlatformFile: async (_id, name) => files.get(name),
        rewritePlatformFile: async (_id, name, content) => {
          writes += 1;
          files.set(name, content);
        },
      },
    });
  const present = () => new X509Certificate(files.get("instance.crt") ?? "");
  const lookAfter = async (days: number) => {
    clock.jump(days * DAY_MS);
    await look();
  };
  const daysLeft = () => (new Date(present().validTo).getTime() - clock.now().getTime()) / DAY_MS;

  await lookAfter(1);
  assert.equal(writes, 0, "less than half of its validity is over");
  // At its last moment: the certificate lasts for another day.
  clock.jump(1.9 * DAY_MS);
  await endsIn(30);
  isRunning = false;
  await look();
  assert.equal(writes, 0, "the certificate is not in use");
  isRunning = true;
  await look();
  assert.equal(writes, 1);
  assert.ok(Math.abs(daysLeft() - 31) < 0.01, String(daysLeft()));
  assert.ok(present().checkPrivateKey(createPrivateKey(made.keyPem)));
  assert.ok(present().verify(new X509Certificate(await rootOf(app)).publicKey));
  assert.deepEqual(await certificates.makeCertificate(id), { ...made, certificatePem: files.get("instance.crt") });

  // A key that the renter put there instead is neither changed nor used.
  const own = aSelfSignedCertificate("renter.example");
  for (const [certificate, key] of [
    [own.cert, own.key],
    ["", ""],
    ["-----BEGIN CERTIFICATE-----\n", own.key],
    [files.get("instance.crt") ?? "", "no key"],
    [
      files.get("instance.crt") ?? "",
      generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }),
    ],
  ] as const) {
    files.set("instance.crt", certificate).set("instance.key", String(key));
    await lookAfter(16);
    await endsIn(30);
    assert.equal(writes, 1);
  }
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
  assert.equal((await sign(app, id, request)).status, 404, "without its agent the instance has no proven address");
});

test("a malformed request, or one for a weak key, is refused with its mistake", async (t) => {
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
