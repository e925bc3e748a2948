// Runs inside a container's network and makes sockets there for the SSH process, which gets them as they are: a socket
// belongs to the network that it was made in, in any process. So bytes pass through no second process, and no
// connection that a client asks for can start outside the container's network.
import { flushCompileCache } from "node:module";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { NamespaceAnswer, NamespaceOrder } from "./namespace-messages.ts";

const CONNECT_TIMEOUT_MS = 15_000;
const MAX_WAITING_CONNECTIONS = 128;

const listeners = new Map<number, Server>();

function answer(message: NamespaceAnswer, socket?: Socket): void {
  // The other end may be gone; then so is this process, by the event below.
  process.send?.(message, socket, { keepOpen: false }, () => undefined);
}

function fail(id: number, cause: Error): void {
  answer({ kind: "failed", id, problem: cause.message });
}

function makeConnection({ id, host, port }: NamespaceOrder & { readonly kind: "connect" }): void {
  const socket = connect({ host, port });
  // The first bytes of the other side are for the SSH process to read.
  socket.pause();
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error("timed out")));
  const onError = (cause: Error) => fail(id, cause);
  socket.once("error", onError);
  socket.once("connect", () => {
    socket.setTimeout(0);
    socket.removeListener("error", onError).on("error", () => undefined);
    answer({ kind: "connected", id }, socket);
  });
}

function makeListener({ id, host, port }: NamespaceOrder & { readonly kind: "listen" }): void {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on("error", () => undefined);
    const [address, remotePort] = [socket.remoteAddress ?? "", socket.remotePort ?? 0];
    answer({ kind: "accepted", id, address, port: remotePort }, socket);
  });
  server.once("error", (cause) => {
    listeners.delete(id);
    fail(id, cause);
  });
  server.listen({ host, port, backlog: MAX_WAITING_CONNECTIONS }, () => {
    const bound = server.address();
    answer({ kind: "listening", id, port: typeof bound === "object" && bound !== null ? bound.port : port });
  });
  listeners.set(id, server);
}

flushCompileCache();
process.on("message", (order: NamespaceOrder) => {
  switch (order.kind) {
    case "connect":
      return makeConnection(order);
    case "listen":
      return makeListener(order);
    case "close":
      listeners.get(order.id)?.close();
      listeners.delete(order.id);
  }
});
process.on("disconnect", () => process.exit(0));
