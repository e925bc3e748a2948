import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { soon } from "../../../test/support/app.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { asId, type InstanceId, type MachineId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { PortProxy, type ProxyTarget } from "./port-proxy.ts";

const target = { instanceId: asId<InstanceId>(7), machineId: asId<MachineId>(3) };

async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
}

/** A proxy whose tunnels lead to containers that answer each connection with these bytes, and end. */
async function aProxy(t: TestContext, answer: Buffer, service: ProxyTarget["service"]) {
  const containers = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  t.after(() => containers.close());
  await once(containers, "listening");
  const { port: tunnelPort } = containers.address() as AddressInfo;
  containers.on("connection", (container) => {
    container.send(answer);
    container.send(Buffer.alloc(0));
  });
  const clock = new ManualClock();
  const proxy = new PortProxy({
    bindHost: "127.0.0.1",
    openTunnel: async () => {
      const tunnel = new WebSocket(`ws://127.0.0.1:${tunnelPort}`);
      await once(tunnel, "upgrade");
      tunnel.pause();
      await soon("the tunnel", () => tunnel.readyState === tunnel.OPEN);
      return tunnel;
    },
    clock,
    log: createLog("silent"),
  });
  t.after(() => proxy.close());
  const port = await aFreePort();
  proxy.sync(new Map([[port, { ...target, service }]]));
  const dial = async (): Promise<Socket> => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  return { clock, proxy, dial };
}

async function readToEnd(socket: Socket): Promise<number> {
  let length = 0;
  for await (const chunk of socket) length += (chunk as Buffer).length;
  return length;
}

test("the bytes that come out of a container are counted to the byte, and those that a client sends into it are not", async (t) => {
  const { clock, proxy, dial } = await aProxy(t, randomBytes(300_000), "jupyter");
  const openedAt = new Date(clock.now().getTime() - (clock.now().getTime() % 10_000));
  for (const _ of [1, 2]) {
    const client = await dial();
    client.end(randomBytes(1_000_000));
    assert.equal(await readToEnd(client), 300_000);
  }
  assert.deepEqual(proxy.takeSentBytes(), [{ instanceId: target.instanceId, openedAt, bytes: 600_000n }]);
  assert.deepEqual(proxy.takeSentBytes(), [], "they are taken once");
});

test("the bytes of a shell are not counted, since they do not pass its container's network", async (t) => {
  const { proxy, dial } = await aProxy(t, randomBytes(300_000), "ssh");
  const client = await dial();
  client.end();
  assert.equal(await readToEnd(client), 300_000);
  assert.deepEqual(proxy.takeSentBytes(), []);
});
