import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { until } from "../../../test/support/until.ts";
import { ManualClock } from "../../test/manual-clock.ts";
import { silentLog } from "../base/log.ts";
import { createRelayServer, RELAY_LIMITS, type RelayLimits } from "./relay.ts";

const HERE = { gateway: "127.0.0.1", subnet: "127.0.0.0/8" };

type Seen = { readonly line: string; readonly headers: IncomingMessage["headers"]; readonly body: string };

/** A server that writes down what comes, and a relay that leads to it. */
async function aRelay(
  t: TestContext,
  given: { readonly limits?: Partial<RelayLimits>; readonly answer?: RequestListener; readonly subnet?: string } = {},
) {
  const seen: Seen[] = [];
  const clock = new ManualClock();
  const answer: RequestListener = given.answer ?? ((_request, response) => response.end('{"success":true}'));
  // It never hangs up by itself: a process that stood still for a while would lose the request that comes just then.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void text(request).then((body) => {
      seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      answer(request, response);
    });
  });
  const address = `http://127.0.0.1:${await listen(server)}/base`;
  const relay = createRelayServer({
    apiUrl: () => address,
    place: { ...HERE, subnet: given.subnet ?? HERE.subnet },
    limits: { ...RELAY_LIMITS, ...given.limits },
    isForRenters: () => false,
    clock,
    log: silentLog,
  });
  const port = await listen(relay.server);
  t.after(() => {
    relay.close();
    server.close();
    server.closeAllConnections();
  });
  return { clock, seen, port, url: `http://127.0.0.1:${port}`, server };
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Sends bytes as they are; the answer is all that comes until the connection ends. */
async function raw(port: number, sent: string): Promise<string> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(sent);
  let answer = "";
  socket.on("data", (data) => (answer += data.toString("latin1")));
  await new Promise((resolve) => socket.once("close", resolve));
  return answer;
}

test("a report reaches the server with its body and key, under the server's own path, and the answer comes back", async (t) => {
  const { seen, url, port } = await aRelay(t);
  const answer = await fetch(`${url}/worker_status/?a=b`, {
    method: "POST",
    headers: {
      authorization: "Bearer key",
      "content-type": "application/json",
      cookie: "c",
      "x-forwarded-for": "9.9.9.9",
    },
    body: '{"id":7}',
  });
  assert.deepEqual([answer.status, await answer.json()], [200, { success: true }]);
  const [first] = seen;
  assert.equal(first?.line, "POST /base/worker_status/?a=b");
  assert.equal(first.body, '{"id":7}');
  const { authorization, cookie, host, "x-forwarded-for": forwarded } = first.headers;
  assert.deepEqual([authorization, cookie, forwarded], ["Bearer key", undefined, undefined]);
  assert.equal(host, `127.0.0.1:${port}`, "links in answers lead back through the relay");
});

test("a client that says at once that it sends no more gets its answer all the same", async (t) => {
  const { port } = await aRelay(t);
  const socket = connect(port, "127.0.0.1");
  socket.end("GET /pubkey/ HTTP/1.0\r\n\r\n");
  assert.match(await text(socket), /^HTTP\/1\.1 200 [^]*\{"success":true\}$/);
});

test("a request that is not meant for containers gets not found, and the server does not hear of it", async (t) => {
  const { seen, url } = await aRelay(t);
  for (const target of ["/", "/api/v0/users/current/", "/agent", "/route/", "/api/v0/instances/"]) {
    assert.equal((await fetch(`${url}${target}`)).status, 404, target);
  }
  assert.equal((await fetch(`${url}/route/`, { method: "POST", body: "x".repeat(100_000) })).status, 404);
  assert.deepEqual(seen, []);
});

test("a body of more than the limit is refused, announced or not", async (t) => {
  const { seen, url } = await aRelay(t, { limits: { bodyBytes: 1_000 } });
  const send = (body: string | ReadableStream) =>
    fetch(`${url}/worker_status/`, { method: "POST", body, duplex: "half" } as RequestInit);
  assert.equal((await send("x".repeat(1_001))).status, 413);
  const unannounced = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.alloc(2_000));
      controller.close();
    },
  });
  assert.equal((await send(unannounced)).status, 413);
  assert.equal((await send("x".repeat(1_000))).status, 200);
  assert.equal(seen.length, 1);
});

test("a request of two lengths, of broken parts or of endless headers carries no second one", async (t) => {
  const { seen, port } = await aRelay(t);
  const hidden = "GET /api/v0/users/current/ HTTP/1.1\r\nhost: x\r\n\r\n";
  for (const head of [
    "POST /worker_status/ HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /worker_status/ HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\ncontent-length: 60\r\n\r\n",
    "POST /worker_status/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    `GET /pubkey/ HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(20_000)}\r\n\r\n`,
  ]) {
    const answer = await raw(port, `${head}${hidden}`);
    assert.match(answer, /^(HTTP\/1\.1 4\d\d |$)/, head.slice(0, 100));
  }
  assert.deepEqual(seen, []);
});

test("the body of a request that should have none stays its body, and never becomes a request of the host", async (t) => {
  const { seen, url } = await aRelay(t);
  const hidden = "GET /api/v0/users/current/ HTTP/1.1\r\nhost: x\r\n\r\n";
  const send = (method: string, target: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { "content-length": hidden.length };
      const asked = request(`${url}${target}`, { method, headers }, (answer) => {
        answer.resume().once("end", () => resolve(answer.statusCode));
      });
      asked.once("error", reject).end(hidden);
    });
  assert.equal(await send("DELETE", "/api/v0/instances/7/"), 200);
  assert.equal(await send("GET", "/pubkey/"), 200);
  const lines = seen.map(({ line, body }) => `${line} ${body}`);
  assert.deepEqual(lines, [`DELETE /base/api/v0/instances/7/ ${hidden}`, `GET /base/pubkey/ ${hidden}`]);
});

test("requests that come before the answer to the one before end the connection", async (t) => {
  const { seen, port } = await aRelay(t);
  const one = "GET /pubkey/ HTTP/1.1\r\nhost: x\r\n\r\n";
  await raw(port, one.repeat(50));
  assert.ok(seen.length <= 1, `${seen.length} reached the server`);
});

test("a request that never comes whole is ended", async (t) => {
  const { seen, port } = await aRelay(t, { limits: { requestMs: 100 } });
  const slow = await raw(port, "POST /worker_status/ HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nabc");
  assert.match(slow, /^HTTP\/1\.1 408 /);
  assert.match(await raw(port, "POST /worker_st"), /^(HTTP\/1\.1 408 |$)/);
  assert.deepEqual(seen, []);
});

test("one container holds no more than its share of connections, and gets it back", async (t) => {
  const { port, url } = await aRelay(t, { limits: { connectionsPerContainer: 3 } });
  const held = Array.from({ length: 3 }, () => connect(port, "127.0.0.1"));
  await Promise.all(held.map((socket) => once(socket, "connect")));
  assert.equal(await raw(port, "GET /pubkey/ HTTP/1.1\r\nhost: x\r\n\r\n"), "", "a fourth gets nothing");
  const other = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  other.write("GET /pubkey/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  assert.match(await text(other), /^HTTP\/1\.1 200 /, "another container is served");
  for (const socket of held) socket.destroy();
  await until("its share again", async () => (await fetch(`${url}/pubkey/`)).status === 200);
});

test("a container that asks without end is slowed, and goes on later", async (t) => {
  const { url, clock, seen } = await aRelay(t, { limits: { requestsPerSecond: 2 } });
  const statuses: number[] = [];
  for (let asked = 0; asked < 8; asked += 1) statuses.push((await fetch(`${url}/pubkey/`)).status);
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429, 429]);
  assert.equal(seen.length, 6);
  await clock.advance(500);
  assert.equal((await fetch(`${url}/pubkey/`)).status, 200);
});

test("a client outside the containers' network is not served", async (t) => {
  const { port, seen } = await aRelay(t, { subnet: "172.30.0.0/16" });
  assert.equal(await raw(port, "GET /pubkey/ HTTP/1.1\r\nhost: x\r\n\r\n"), "");
  assert.deepEqual(seen, []);
});

test("a server that is away, or silent, is said to be", async (t) => {
  const silent = await aRelay(t, { limits: { idleMs: 100 }, answer: () => undefined });
  const unanswered = await fetch(`${silent.url}/pubkey/`).then(
    (response) => response.status,
    () => "ended",
  );
  assert.ok(unanswered === 502 || unanswered === "ended");
  const away = await aRelay(t);
  away.server.close();
  away.server.closeAllConnections();
  const answer = await fetch(`${away.url}/pubkey/`);
  assert.equal(answer.status, 502);
  assert.equal(((await answer.json()) as { error: string }).error, "server_unreachable");
});

test("a large answer comes through whole, and a container that leaves ends the server's work", async (t) => {
  const size = 3_000_000;
  const ended = Promise.withResolvers<void>();
  const { url } = await aRelay(t, {
    answer: (request, response) => {
      if (request.url?.includes("endless") !== true) return response.end(Buffer.alloc(size, "a"));
      response.once("close", () => ended.resolve());
      const more = () => !response.destroyed && response.write(Buffer.alloc(10_000), more);
      return more();
    },
  });
  const whole = await (await fetch(`${url}/api/v0/deployment/blobs/1`)).arrayBuffer();
  assert.equal(whole.byteLength, size);
  const leaving = new AbortController();
  const answer = await fetch(`${url}/api/v0/deployment/endless`, { signal: leaving.signal });
  assert.equal(answer.status, 200);
  leaving.abort();
  await ended.promise;
});
