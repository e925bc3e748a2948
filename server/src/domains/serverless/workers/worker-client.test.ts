import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer as createPlainServer, type Server } from "node:http";
import { createServer } from "node:https";
import { test, type TestContext } from "node:test";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { recordingWorker, type Behaviour } from "../../../../../test/support/serverless/recording-worker.ts";
import { systemClock } from "../../../base/clock.ts";
import { updateTeller } from "./worker-call.ts";
import { asId, type InstanceId } from "../../../base/ids.ts";
import {
  createAuthority,
  issueCertificate,
  subjectOf,
  type Authority,
} from "../../rental/instances/access/certificates.ts";
import { WorkerClient } from "./worker-client.ts";

const never = new AbortController().signal;
const workerId = asId<InstanceId>(7);

function aClient(t: TestContext, rootCertificate: () => Promise<string>): WorkerClient {
  const client = new WorkerClient(rootCertificate);
  t.after(() => client.close());
  return client;
}

/** A worker with TLS, and a certificate of this authority for its address. */
async function anEncryptingWorker(
  t: TestContext,
  authority: Authority,
  onAsked: (line: string) => void = () => {},
  instanceId = 7,
): Promise<string> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const commonName = subjectOf(instanceId);
  const endAt = new Date(systemClock.now().getTime() + 86_400_000);
  const subject = { publicKeyPem: publicKey, commonName, ipAddresses: ["127.0.0.1"], endAt };
  const cert = issueCertificate(authority, systemClock.now(), subject);
  const server = createServer({ cert, key: privateKey }, (request, response) => {
    onAsked(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`);
    request.resume().on("end", () => response.end("served"));
  });
  return listening(t, server);
}

/** Starts the server and returns its address. */
async function listening(t: TestContext, server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

test("a worker with TLS is trusted by the server's own authority, and by no other", async (t) => {
  const [own, other] = [await createAuthority(systemClock.now()), await createAuthority(systemClock.now())];
  const [trusted, foreign] = [await anEncryptingWorker(t, own), await anEncryptingWorker(t, other)];
  const client = aClient(t, async () => own.certificatePem);
  const answer = await client.send({
    url: `https://${trusted}`,
    path: "/v1/completions",
    body: {},
    gone: never,
    workerId,
  });
  assert.ok(answer.kind === "answer");
  assert.equal((await answer.body.toArray()).join(""), "served");
  assert.equal(
    (await client.send({ url: `https://${foreign}`, path: "/v1/completions", body: {}, gone: never, workerId })).kind,
    "lost",
  );
});

test("a certificate that an earlier instance got for the same address is not trusted for its successor", async (t) => {
  const authority = await createAuthority(systemClock.now());
  const asked: string[] = [];
  const url = `https://${await anEncryptingWorker(t, authority, (line) => void asked.push(line), 6)}`;
  const client = aClient(t, async () => authority.certificatePem);
  const answer = await client.send({ url, path: "/v1/completions", body: {}, gone: never, workerId });
  assert.equal(answer.kind, "lost");
  const tellUpdate = updateTeller({ clock: new ManualClock(), rootCertificate: async () => authority.certificatePem });
  await tellUpdate({ url, token: "token", workerId });
  assert.deepEqual(asked, []);
});

test("the server tells a worker of its update with a proof of identity, over TLS too, and tells no impostor", async (t) => {
  const [own, other] = [await createAuthority(systemClock.now()), await createAuthority(systemClock.now())];
  const asked: string[] = [];
  const trusted = await anEncryptingWorker(t, own, (line) => void asked.push(`own ${line}`));
  const foreign = await anEncryptingWorker(t, other, (line) => void asked.push(`foreign ${line}`));
  const plain = await listening(
    t,
    createPlainServer((request, response) => {
      asked.push(`plain ${request.method} ${request.url} ${request.headers.authorization}`);
      response.end();
    }),
  );
  const tellUpdate = updateTeller({ clock: new ManualClock(), rootCertificate: async () => own.certificatePem });
  const urls = [`https://${trusted}`, `https://${foreign}`, `http://${plain}`, "https://127.0.0.1:1"];
  for (const url of urls) await tellUpdate({ url, token: "token", workerId });
  const told = "POST /pyworker/update Bearer token";
  assert.deepEqual(asked, [`own ${told}`, `plain ${told}`]);
});

test("a silent worker is not waited for longer than five seconds", async (t) => {
  const asked = Promise.withResolvers<void>();
  const url = `http://${await listening(
    t,
    createPlainServer(() => asked.resolve()),
  )}`;
  const clock = new ManualClock();
  const told = updateTeller({ clock, rootCertificate: async () => "" })({ url, token: "token", workerId });
  await asked.promise;
  clock.advance(5_000);
  await told;
});

test("an authority that cannot be read now is read again the next time", async (t) => {
  const own = await createAuthority(systemClock.now());
  const url = await anEncryptingWorker(t, own);
  let isBroken = true;
  const client = aClient(t, async () => {
    if (isBroken) throw new Error("not now");
    return own.certificatePem;
  });
  const request = { url: `https://${url}`, path: "/", body: {}, gone: never, workerId };
  assert.deepEqual(await client.send(request), { kind: "lost", reason: "not now" });
  isBroken = false;
  const answer = await client.send(request);
  assert.ok(answer.kind === "answer");
  await answer.body.toArray();
});

test("an answer that breaks off after its first byte is broken for the reader too, and redirects are not followed", async (t) => {
  const client = aClient(t, async () => "");
  const send = async (behave: Behaviour) => {
    const { url } = await recordingWorker(t, behave);
    return client.send({ url, path: "/v1/completions", body: { auth_data: {}, payload: {} }, gone: never, workerId });
  };
  const broken = await send((_recorded, response) => {
    response.writeHead(200, { "content-length": 1000 }).write("begun");
    setImmediate(() => response.socket?.destroy());
  });
  assert.ok(broken.kind === "answer");
  await assert.rejects(broken.body.toArray());
  const moved = await send((_recorded, response) => void response.writeHead(307, { location: "/other" }).end());
  assert.ok(moved.kind === "refusal" && moved.status === 307);
  const empty = await send((_recorded, response) => void response.writeHead(200).end());
  assert.ok(empty.kind === "answer");
  assert.deepEqual(await empty.body.toArray(), []);
  const away = await client.send({ url: "http://127.0.0.1:1", path: "/", body: {}, gone: never, workerId });
  assert.deepEqual(away, { kind: "lost", reason: "ECONNREFUSED" });
});
