import assert from "node:assert/strict";
import { createHash, randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createWebSocketStream, WebSocket } from "ws";
import { silentLog } from "../../../agent/src/base/log.ts";
import { fail } from "../../../agent/src/engine/engine.ts";
import { createTunnels } from "../../../agent/src/streams/tunnel.ts";
import { camelFields } from "../../../agent/src/wire/fields.ts";
import { OpenTunnel } from "../../../protocol/index.ts";
import { soon, testApp, type TestApp } from "../../../test/support/app.ts";
import type { FakeHost } from "../../../test/support/hosts/fake-host.ts";
import { freePorts } from "../../../test/support/network/free-port.ts";
import { aUser, inTransaction } from "../../../test/support/fixtures.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { rent, rentAndRun, show } from "../../../test/support/rentals.ts";
import { issueAgentToken } from "../domains/supply/hosts/for-assembly.ts";
import { prepareProxyPorts } from "../domains/rental/instances/for-assembly.ts";

const DOCKER = { engine: { kind: "docker", version: "20.10" } } as const;
const JUPYTER_PORT = 8080;
const CHUNK = randomBytes(65_536);

/** A free address of the loopback for each test, since the port is always the same. */
const anAddress = () => `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;

/** A program in a container; `serve` gets each connection. */
async function aService(t: TestContext, serve: (socket: Socket) => void, address = anAddress()) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    serve(socket);
  });
  const connections = new Set<Socket>();
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.listen(JUPYTER_PORT, address);
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
  return { address, connections, server };
}

type Ports = { readonly first: number; readonly last: number };

/** A server with free pairs of ports, and a host with a real engine that opens the tunnels it is asked for. */
async function world(t: TestContext, { pairs = 8, on }: { readonly pairs?: number; readonly on?: TestApp } = {}) {
  const app = on ?? (await testApp(t));
  const first = await freePorts(2 * pairs);
  const ports: Ports = { first, last: first + 2 * pairs - 1 };
  await inTransaction(app.env.database, (tx) => prepareProxyPorts(tx, ports));
  const token = await inTransaction(app.env.database, async (tx) => {
    const owner = await aUser(tx);
    return issueAgentToken(tx, { userId: owner.id, name: "real", isTrusted: true });
  });
  const host = await app.host({ token });
  await host.disconnect();
  await host.connect(DOCKER);
  await app.settled();
  return { app, host, token, ports, user: await app.caller() };
}

/** The agent's part: answers each request for a tunnel as the real agent does. */
function answerTunnels(t: TestContext, host: FakeHost, input: { app: TestApp; token: string; address: string }) {
  const { app, token, address } = input;
  const tunnels = createTunnels({
    // This clock stands still, so that no connection times out on a slow machine.
    clock: app.clock,
    log: silentLog,
    serverUrl: () => `ws://${app.origin}/agent`,
    token: () => token,
    ssh: {
      connectTunnel(_instanceId, url, credential) {
        const tunnel = new WebSocket(url, { headers: { authorization: `Bearer ${credential}` } });
        const stream = createWebSocketStream(tunnel);
        stream.on("error", () => {});
        stream.end("SSH-2.0-test\r\n");
        stream.resume();
      },
    },
    followLog: async () => fail("not_found", "no log"),
    addressOf: () => address,
  });
  let answered = 0;
  const timer = setInterval(() => {
    const asked = host.received.filter((message) => message.kind === "open_tunnel");
    for (const request of asked.slice(answered)) tunnels.open(camelFields(OpenTunnel, request));
    answered = asked.length;
  }, 1);
  t.after(() => {
    clearInterval(timer);
    tunnels.close();
  });
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const listening = (app: TestApp, count: number) => soon(`${count} ports`, () => app.app.proxy.portCount === count);

async function aNotebook(t: TestContext, serve: (socket: Socket) => void) {
  const made = await world(t);
  const service = await aService(t, serve);
  answerTunnels(t, made.host, { app: made.app, token: made.token, address: service.address });
  const id = await rentAndRun(made.app, made.user, made.host, { runtype: "jupyter" });
  await listening(made.app, 2);
  const record = await show(made.app, made.user, id);
  return { ...made, service, id, port: Number(record.ssh_port) };
}

test("each shell on a real host gets a pair of its own, and others none", async (t) => {
  const { app, host, user, ports } = await world(t);
  const simulated = await app.host();
  const [ssh, jupyter] = [await rent(app, user, host), await rent(app, user, host, { runtype: "jupyter" })];
  const [args, invented] = [
    await rent(app, user, simulated, { runtype: "args" }),
    await rent(app, user, simulated, { runtype: "ssh" }),
  ];
  await listening(app, 3);
  const records = await Promise.all([ssh, jupyter, args, invented].map((id) => show(app, user, id)));
  const seen = records.map((record) => [record.ssh_host, record.ssh_port]);
  assert.deepEqual(seen.slice(2), [["192.0.2.1", 0], ["192.0.2.1", 0]]); // prettier-ignore
  const given = seen.slice(0, 2).map(([name, port]) => {
    assert.equal(name, "proxy.example");
    return Number(port);
  });
  assert.notEqual(given[0], given[1]);
  for (const port of given) assert.ok(port >= ports.first && port < ports.last && (port - ports.first) % 2 === 0);
  // Only the second port of a pair with Jupyter leads to SSH.
  await assert.rejects(dial(Number(given[0]) + 1), /ECONNREFUSED/);
  for (const port of [given[0], given[1], Number(given[1]) + 1]) (await dial(Number(port))).destroy();
});

test("bytes come through unchanged both ways, and each direction can end by itself", async (t) => {
  const digestOf = async (socket: Socket) => {
    const hash = createHash("sha256");
    for await (const chunk of socket) hash.update(chunk as Buffer);
    socket.end(hash.digest("hex"));
  };
  const { port } = await aNotebook(t, (socket) => void digestOf(socket));
  const sent = randomBytes(3_000_000);
  const client = await dial(port);
  client.end(sent);
  assert.equal(String(await readAll(client)), createHash("sha256").update(sent).digest("hex"));
  const ssh = await dial(port + 1);
  ssh.end();
  assert.equal(String(await readAll(ssh)), "SSH-2.0-test\r\n");
});

test("a shell and a notebook are reached through a server to which the agent of their host is not connected", async (t) => {
  // The database outlives the servers: hooks run in the order in which they were added.
  const env = await testDatabase();
  const shared = { env, clock: new ManualClock(), secret: randomBytes(32) };
  const one = await testApp(t, { ...shared, dataDirKey: "one" });
  const two = await testApp(t, { ...shared, dataDirKey: "two" });
  // Two servers on one machine cannot both have the ports.
  two.app.proxy.close();
  const { host, token, user } = await world(t, { on: two });
  const service = await aService(t, (socket) => socket.pipe(socket));
  answerTunnels(t, host, { app: two, token, address: service.address });
  const id = await rentAndRun(one, user, host, { runtype: "jupyter" });
  await listening(one, 2);
  const port = Number((await show(two, user, id)).ssh_port);
  const notebook = await dial(port);
  notebook.end("through both");
  assert.equal(String(await readAll(notebook)), "through both");
  const ssh = await dial(port + 1);
  ssh.end();
  assert.equal(String(await readAll(ssh)), "SSH-2.0-test\r\n");
});

/** The most connections of one port that wait until the host has come with their tunnels; more are refused. */
const AT_ONCE = 64;

test("connections up to the limit of a port get their own answers when they come at once", async (t) => {
  const { port, service, app } = await aNotebook(t, (socket) => socket.pipe(socket));
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => {
      const client = await dial(port);
      client.end(`number ${index}`);
      return String(await readAll(client));
    }),
  );
  assert.deepEqual(answers, answers.map((_, index) => `number ${index}`)); // prettier-ignore
  await soon("the end of all connections", () => service.connections.size === 0);
  assert.deepEqual(app.complaints, []);
});

/** The most that the system holds in both directions of one connection: its third number is the largest buffer. */
const SYSTEM_BUFFER_BYTES = ["tcp_rmem", "tcp_wmem"]
  .map((name) => Number(readFileSync(`/proc/sys/net/ipv4/${name}`, "utf8").trim().split(/\s+/)[2]))
  .reduce((sum, bytes) => sum + bytes, 0);
/** Connections of one stream: the reader's, the tunnel, and the program's. */
const CONNECTIONS = 3;
const OWN_BUFFER_BYTES_MAX = 16_777_216;

test("a reader that is slow holds up the writer at the other end instead of filling memory", async (t) => {
  const total = CONNECTIONS * SYSTEM_BUFFER_BYTES + OWN_BUFFER_BYTES_MAX;
  let written = 0;
  const flood = (socket: Socket) => {
    const more = () => {
      while (written < total) {
        const chunk = CHUNK.subarray(0, Math.min(CHUNK.length, total - written));
        written += chunk.length;
        if (!socket.write(chunk)) return;
      }
      socket.end();
    };
    socket.on("drain", more);
    more();
  };
  const { port } = await aNotebook(t, flood);
  const client = await dial(port);
  client.pause();
  let before = -1;
  // Everything between the two ends is full when nothing moves any more.
  await soon("the writer to stand still", async () => {
    const stands = written === before && written > 0;
    before = written;
    if (!stands) await new Promise((resolve) => setTimeout(resolve, 150));
    return stands;
  });
  assert.ok(written < total, `${written} bytes are under way`);
  const hash = createHash("sha256");
  let read = 0;
  for await (const chunk of client) {
    hash.update(chunk as Buffer);
    read += (chunk as Buffer).length;
  }
  const expected = createHash("sha256");
  for (let at = 0; at < total; at += CHUNK.length)
    expected.update(CHUNK.subarray(0, Math.min(CHUNK.length, total - at)));
  assert.deepEqual([read, hash.digest("hex")], [total, expected.digest("hex")]);
});

test("a client that goes away takes its connection inside along, and a program that ends takes the client's", async (t) => {
  const { port, service } = await aNotebook(t, (socket) => {
    socket.write("hello");
    socket.resume().once("end", () => socket.end());
  });
  const client = await dial(port);
  await once(client, "data");
  client.resetAndDestroy();
  await soon("the end inside", () => service.connections.size === 0);
  const other = await dial(port);
  await once(other, "data");
  for (const socket of service.connections) socket.destroy();
  other.end();
  await once(other, "close");
});

test("a client is disconnected without a word while no program answers inside, or the host is away", async (t) => {
  const made = await aNotebook(t, () => {});
  made.service.server.close();
  const refused = await dial(made.port);
  assert.equal((await readAll(refused)).length, 0);
  refused.destroy();
  await made.host.disconnect();
  const away = await dial(made.port);
  assert.equal((await readAll(away)).length, 0);
  away.destroy();
  await made.host.connect(DOCKER);
});

test("a host that does not come with its tunnel is waited for ten seconds", async (t) => {
  const { app, host, user } = await world(t);
  const id = await rentAndRun(app, user, host);
  await listening(app, 1);
  const client = await dial(Number((await show(app, user, id)).ssh_port));
  await soon("the request", () => host.received.some((message) => message.kind === "open_tunnel"));
  app.clock.advance(9_900);
  assert.equal(client.readyState, "open");
  app.clock.advance(200);
  assert.equal((await readAll(client)).length, 0);
});

test("a tunnel is good for the agent that was asked for it, and once", async (t) => {
  const { app, host, token, user } = await world(t);
  const id = await rentAndRun(app, user, host);
  await listening(app, 1);
  const client = await dial(Number((await show(app, user, id)).ssh_port));
  const request = await new Promise<OpenTunnel>((resolve) => {
    const timer = setInterval(() => {
      const found = host.received.find((message) => message.kind === "open_tunnel");
      if (found === undefined) return;
      clearInterval(timer);
      resolve(found);
    }, 2);
  });
  assert.deepEqual([request.instance_id, request.service], [id, "ssh"]);
  const other = await inTransaction(app.env.database, async (tx) =>
    issueAgentToken(tx, { userId: (await aUser(tx)).id, name: "other", isTrusted: true }),
  );
  const come = (tunnelId: string, credential: string) =>
    new Promise<number | WebSocket>((resolve) => {
      const headers = { authorization: `Bearer ${credential}` };
      const tunnel = new WebSocket(`ws://${app.origin}/agent/tunnel/${tunnelId}`, { headers });
      tunnel.on("error", () => {});
      tunnel.once("open", () => resolve(tunnel));
      tunnel.once("unexpected-response", (_request, response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
    });
  assert.equal(await come(request.tunnel_id, "wrong"), 401);
  assert.equal(await come(request.tunnel_id, other), 404);
  assert.equal(await come("AAAA", token), 404);
  const tunnel = await come(request.tunnel_id, token);
  assert.ok(tunnel instanceof WebSocket);
  assert.equal(await come(request.tunnel_id, token), 404);
  tunnel.send(Buffer.from("here"));
  assert.equal(String((await once(client, "data"))[0]), "here");
  // A message that is no part of a byte stream ends the tunnel.
  tunnel.send("text");
  await once(tunnel, "close");
  client.end();
  await once(client, "close");
});

test("when an instance has ended its ports are closed, and the pair that rested longest is given next", async (t) => {
  const { app, host, user, ports } = await world(t, { pairs: 2 });
  const id = await rentAndRun(app, user, host);
  await listening(app, 1);
  const port = Number((await show(app, user, id)).ssh_port);
  await app.call({ method: "DELETE", url: `/api/v0/instances/${id}/`, secret: user.secret, body: {} });
  await host.obey();
  await app.runLoop("free-proxy-ports");
  app.app.loops.wake("listen-on-proxy-ports");
  await listening(app, 0);
  await assert.rejects(dial(port), /ECONNREFUSED/);
  const next = await rent(app, user, host);
  const [first, second] = [ports.first, ports.first + 2];
  assert.equal((await show(app, user, next)).ssh_port, port === first ? second : first);
});

test("an instance is made without a pair of ports when all pairs are taken", async (t) => {
  const { app, host, user } = await world(t, { pairs: 1 });
  const [first, second] = [await rent(app, user, host), await rent(app, user, host)];
  assert.notEqual((await show(app, user, first)).ssh_port, 0);
  assert.equal((await show(app, user, second)).ssh_port, 0);
});

test("a port that somebody else has is tried again until it is free", async (t) => {
  const { app, host, user, ports } = await world(t, { pairs: 1 });
  const squatter: Server = createServer();
  squatter.listen(ports.first, "127.0.0.1");
  await once(squatter, "listening");
  const id = await rent(app, user, host);
  assert.equal((await show(app, user, id)).ssh_port, ports.first);
  await soon("a complaint", () => app.complaints.some((line) => line.includes("cannot be listened on")));
  assert.equal((squatter.address() as AddressInfo).port, ports.first);
  squatter.close();
  await once(squatter, "close");
  app.app.loops.wake("listen-on-proxy-ports");
  await soon("the port", async () => {
    const client = connect({ port: ports.first, host: "127.0.0.1" });
    return new Promise<boolean>((resolve) => {
      client.once("connect", () => resolve(true));
      client.once("error", () => resolve(false));
      client.once("close", () => client.destroy());
    }).finally(() => client.destroy());
  });
});
