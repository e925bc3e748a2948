import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A port of the loopback that leads to a Unix socket, for programs that may not enter the socket's folder. */
export type TcpRelay = { readonly port: number; close(): Promise<void> };

export async function tcpRelay(socketPath: string): Promise<TcpRelay> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const inner = connect(socketPath);
    for (const [socket, other] of [
      [client, inner],
      [inner, client],
    ] as const) {
      open.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
