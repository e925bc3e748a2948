// Programs in containers that answer anything at all, behind the host names of their ports. The tunnels are real WebSockets.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { systemClock } from "../base/clock.ts";
import { asId, type InstanceId, type MachineId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { PortNames } from "./port-names.ts";

const HOST = "7-80.ports.example.com";
const FINE = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine";
const PLAIN = `GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
const UPGRADE = `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;

/** Names of ports that all lead to one program; `says` is its answer to each piece that it hears, and undefined ends it. */
async function aProgram(t: TestContext) {
  const program: { says: string | undefined } = { says: FINE };
  const tunnels = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(tunnels, "listening");
  tunnels.on("connection", (tunnel) => {
    tunnel.on("message", () => {
      if (program.says === undefined) tunnel.terminate();
      else tunnel.send(Buffer.from(program.says, "latin1"), () => program.says?.endsWith("…") && tunnel.terminate());
    });
  });
  const names = new PortNames({
    domain: "ports.example.com",
    findPlace: async () => ({ kind: "open", instanceId: asId<InstanceId>(7), machineId: asId<MachineId>(1) }),
    openTunnel: async () => {
      const tunnel = new WebSocket(`ws://127.0.0.1:${(tunnels.address() as AddressInfo).port}`);
      await once(tunnel, "open");
      return tunnel;
    },
    countSent: () => () => undefined,
    isTrustedProxy: () => false,
    clock: systemClock,
    log: createLog("silent"),
  });
  names.server.listen(0, "127.0.0.1");
  await once(names.server, "listening");
  const { port } = names.server.address() as AddressInfo;
  t.after(() => {
    names.close();
    for (const tunnel of tunnels.clients) tunnel.terminate();
    tunnels.close();
  });
  /** The whole answer to a request, up to the end of its connection. */
  const ask = async (request: string) => {
    const socket = net.connect(port, "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
      // A connection that stays open has one whole answer.
      if (/^HTTP\/1\.1 \d+ .*\r\n(?:.*\r\n)*?Connection: keep-alive\r\n/.test(text)) socket.end();
    });
    socket.on("error", () => undefined);
    socket.write(request, "latin1");
    await once(socket, "close");
    return text;
  };
  return { program, ask, port };
}

test("a program that answers what is no answer gets its visitors a 502, and harms nobody else", async (t) => {
  const { program, ask } = await aProgram(t);
  const answers = [
    "HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 101 x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\x7fb\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "rubbish\r\n\r\n",
    undefined,
  ];
  for (const says of answers) {
    for (const request of [PLAIN, UPGRADE]) {
      program.says = says;
      const answer = await ask(request);
      assert.match(answer, /^HTTP\/1\.1 502 [\s\S]*broke the connection off/, `${says} to ${request}`);
      assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1, answer);
    }
  }
  program.says = "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";
  assert.match(await ask(PLAIN), /^HTTP\/1\.1 502 /, "nobody asked for another protocol");
  program.says = FINE;
  assert.match(await ask(PLAIN), /^HTTP\/1\.1 200 [\s\S]*fine$/);
});

test("the program's words for its status are not passed on, and an answer that is cut ends the connection", async (t) => {
  const { program, ask } = await aProgram(t);
  for (const request of [PLAIN, UPGRADE]) {
    program.says = "HTTP/1.1 200 a\x7f\xff\x01\r\nContent-Length: 0\r\n\r\n";
    assert.match(await ask(request), /^HTTP\/1\.1 200 OK\r\n/);
    program.says = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf…";
    const cut = await ask(request);
    assert.match(cut, /^HTTP\/1\.1 200 OK\r\n/);
    assert.doesNotMatch(cut, /502/, "a second answer would be taken for a part of the first");
  }
});

test("many requests one after the other use one connection, and leave nothing behind on it", async (t) => {
  const { port } = await aProgram(t);
  const warnings: string[] = [];
  const note = ({ name, message }: Error) => {
    if (name === "MaxListenersExceededWarning") warnings.push(message);
  };
  process.on("warning", note);
  t.after(() => process.off("warning", note));
  for (let count = 0; count < 30; count += 1) {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      http.get({ host: "127.0.0.1", port, headers: { host: HOST }, agent: false }, resolve).on("error", reject);
    });
    for await (const part of response) assert.equal(String(part), "fine");
  }
  assert.deepEqual(warnings, []);
});
