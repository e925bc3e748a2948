import type { Server, Socket } from "node:net";
import { networkOf } from "../base/public-address.ts";

/** Open connections per address: more than a browser, a busy client and a few hosts behind it have together. */
export const CONNECTIONS_PER_ADDRESS = 512;

/** Addresses of this machine: of its own agents, thousands when they are simulated, and of a proxy beside the server. */
const LOOPBACK = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"]);

/**
 * Closes each connection beyond `perAddress` of one remote address, or of one IPv6 network, at once. Connections from this machine and from trusted
 * proxies are not counted: many clients come through those. Returns how many addresses have connections, for tests.
 */
export function limitConnections(
  server: Server,
  { perAddress, isProxy }: { readonly perAddress: number; readonly isProxy: (address: string) => boolean },
): () => number {
  const counts = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || LOOPBACK.has(remoteAddress) || isProxy(remoteAddress)) return;
    const address = networkOf(remoteAddress);
    const count = (counts.get(address) ?? 0) + 1;
    if (count > perAddress) {
      socket.destroy();
      return;
    }
    counts.set(address, count);
    socket.once("close", () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
  });
  return () => counts.size;
}
