import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { createServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { ManualClock } from "../../test/manual-clock.ts";
import { Certificates } from "./certificate.ts";
import { keepCertificates } from "./certificate-keeper.ts";
import { silentLog } from "../base/log.ts";

type Asked = { readonly url: string; readonly body: string };

function certificates(answer: () => Promise<Response>) {
  const asked: Asked[] = [];
  const clock = new ManualClock();
  const made = new Certificates({
    clock,
    log: silentLog,
    serverUrl: "wss://berth.example/agent",
    publicIpaddr: "192.0.2.7",
    fetch: (url, init) => {
      asked.push({ url, body: String(init.body) });
      return answer();
    },
  });
  return { made, asked, clock };
}

test("when the server does not sign, a certificate signs itself, for the machine's address, and serves", async (t) => {
  const answers = [
    () => Promise.reject(new Error("nobody there")),
    () => Promise.resolve(new Response("no", { status: 404 })),
  ];
  for (const answer of answers) {
    const { made, asked } = certificates(answer);
    const { certificatePem, keyPem } = await made.makeCertificate(12);
    assert.equal(asked[0]?.url, "https://berth.example/api/v0/sign_cert/?instance_id=12");
    assert.match(asked[0]?.body ?? "", /^-----BEGIN CERTIFICATE REQUEST-----/);
    const certificate = new X509Certificate(certificatePem);
    assert.equal(certificate.checkIP("192.0.2.7"), "192.0.2.7");
    assert.equal(certificate.verify(certificate.publicKey), true);
    const server = createServer({ cert: certificatePem, key: keyPem }, (_request, response) => response.end("hello"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    assert.ok((server.address() as AddressInfo).port > 0);
  }
});

test("a certificate for another key is not used", async () => {
  const other = await certificates(() => Promise.reject(new Error("no"))).made.makeCertificate(1);
  for (const text of ["", "hello", "x".repeat(100_000), other.certificatePem]) {
    const { made } = certificates(() => Promise.resolve(new Response(text)));
    const { certificatePem, keyPem } = await made.makeCertificate(1);
    assert.notEqual(certificatePem, text);
    assert.notEqual(keyPem, other.keyPem);
  }
});

test("a server that does not answer is waited for for five seconds", async () => {
  const { clock, asked } = certificates(() => Promise.reject(new Error("unused")));
  const slow = new Certificates({
    clock,
    log: silentLog,
    serverUrl: "ws://berth.example/agent",
    publicIpaddr: "not an address",
    fetch: (url, init) => {
      asked.push({ url, body: "" });
      return new Promise((_resolve, reject) => init.signal?.addEventListener("abort", () => reject(new Error("late"))));
    },
  });
  const making = slow.makeCertificate(1);
  await clock.until("the question", () => asked.some(({ url }) => url.startsWith("http://")));
  await clock.advance(5_001);
  assert.match((await making).certificatePem, /BEGIN CERTIFICATE/);
});

test("the agent looks every 15 minutes which certificates are due, one look at a time, until it ends", async () => {
  const clock = new ManualClock();
  let looks = 0;
  let go = () => {};
  const stop = keepCertificates({
    clock,
    log: silentLog,
    isRunning: () => true,
    renewCertificate: async () => "",
    disks: {
      list: async () => {
        looks += 1;
        await new Promise<void>((resolve) => (go = resolve));
        return [];
      },
      readPlatformFile: async () => undefined,
      rewritePlatformFile: async () => undefined,
    },
  });
  await clock.advance(2_700_001);
  assert.equal(looks, 1);
  go();
  await clock.advance(900_000);
  assert.equal(looks, 2);
  go();
  stop();
  await clock.advance(2_700_000);
  assert.equal(looks, 2);
});
