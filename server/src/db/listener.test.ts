import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, connect as connectSocket, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { listen } from "./listener.ts";

/** A road to PostgreSQL that can be closed. */
async function startRoad(target: { host: string; port: number }) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  let refusedCount = 0;
  const server = createServer((near) => {
    if (!isOpen) {
      refusedCount += 1;
      near.destroy();
      return;
    }
    const { host, port } = target;
    const far = connectSocket(host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    refusedCount: () => refusedCount,
    connectionCount: () => sockets.size / 2,
    setOpen(value: boolean) {
      isOpen = value;
      if (!value) for (const socket of sockets) socket.destroy();
    },
    close: () => server.close(),
  };
}

test("a database that goes away for a while is asked by one attempt at a time and followed by one connection", async (t) => {
  const { connection, pool } = await testDatabase(t);
  const { host = "", port = 5432 } = connection;
  const road = await startRoad({ host, port });
  t.after(() => road.close());
  // Two attempts are never under way together, so at most one of them waits.
  let waiting = 0;
  let mostWaiting = 0;
  const clock: Clock = {
    ...systemClock,
    async sleep() {
      waiting += 1;
      mostWaiting = Math.max(mostWaiting, waiting);
      if (road.refusedCount() >= 8) road.setOpen(true);
      await new Promise(setImmediate);
      waiting -= 1;
    },
  };
  const messages: string[] = [];
  const heard = Promise.withResolvers<void>();
  const reopened = Promise.withResolvers<void>();
  let gapCount = 0;
  const handler = {
    onMessage(payload: string) {
      messages.push(payload);
      heard.resolve();
    },
    onGap() {
      gapCount += 1;
      reopened.resolve();
    },
  };
  const listener = await listen({ ...connection, host: "127.0.0.1", port: road.port }, new Map([["news", handler]]), {
    clock,
    log: createLog("silent"),
  });
  road.setOpen(false);
  await reopened.promise;
  await pool.query("select pg_notify('news', 'hello')");
  await heard.promise;
  assert.deepEqual(messages, ["hello"]);
  assert.deepEqual([gapCount, mostWaiting, road.connectionCount()], [1, 1, 1]);
  await listener.close();
});
