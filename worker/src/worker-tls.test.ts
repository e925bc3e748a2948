import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { connect } from "node:tls";
import { aSelfSignedCertificate } from "../../test/support/network/self-signed.ts";
import { aReadyWorker, authFor, echo } from "../test/place.ts";

test("a worker with a certificate, and the setting for it, answers over TLS", async (t) => {
  const certificate = aSelfSignedCertificate("worker.test");
  const { url } = await aReadyWorker(t, echo, { certificate, variables: { USE_SSL: "true" } });
  assert.equal(new URL(url).protocol, "https:");
  const asked = request(`${url}/work`, {
    method: "POST",
    ca: certificate.cert,
    servername: "worker.test",
    agent: false,
  });
  asked.end(JSON.stringify({ auth_data: authFor(url), payload: {} }));
  const [answer]: IncomingMessage[] = await once(asked, "response");
  assert.ok(answer);
  assert.deepEqual([answer.statusCode, await text(answer)], [200, "/work {}"]);
});

test("a renewed certificate is used while the worker runs, and a broken one is not", async (t) => {
  const [first, next] = [aSelfSignedCertificate("first.test"), aSelfSignedCertificate("next.test")];
  let present = first;
  const { url, pass, log } = await aReadyWorker(t, echo, {
    certificate: first,
    readCertificate: () => present,
    variables: { USE_SSL: "true" },
  });
  const shown = async () => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  assert.equal(await shown(), "first.test");
  present = { ...next, key: first.key };
  await pass("the complaint", () => log.some((line) => line.includes("cannot be used")));
  assert.equal(await shown(), "first.test");
  present = next;
  await pass("the next one", () => log.some((line) => line.includes("next certificate from now on")));
  assert.equal(await shown(), "next.test");
});
