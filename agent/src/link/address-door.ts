import { createServer, isIP, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { PortRange } from "../instances/ports.ts";

/** A port at which the server can see that this host's public address is its own. */
export type AddressDoor = {
  readonly port: number;
  /** Answers each connection with the nonce, for a short while. */
  answer(nonce: string): void;
  close(): void;
};

export type AddressDoorInput = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly publicIpaddr: string;
  readonly bindAddress: string;
  readonly portRange: PortRange;
};

const OPEN_MS = 20_000;
const ATTEMPTS = 20;
const CONNECTIONS_MAX = 16;

/**
 * Opens a free port of the range for renters. Undefined when the address is no IP address or none of these ports is free:
 * certificates then name the address that the connection comes from.
 */
export async function openAddressDoor(input: AddressDoorInput): Promise<AddressDoor | undefined> {
  const { clock, random, publicIpaddr, bindAddress, portRange } = input;
  if (isIP(publicIpaddr) === 0) return undefined;
  const waiting = new Set<Socket>();
  let said: string | undefined;
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("close", () => waiting.delete(socket));
    // Connections that come before the nonce get it with the others.
    if (said === undefined) waiting.add(socket);
    else socket.end(said);
  });
  server.maxConnections = CONNECTIONS_MAX;
  const count = portRange.last - portRange.first + 1;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = portRange.first + Math.min(Math.floor(random() * count), count - 1);
    const isOpen = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen({ host: bindAddress, port, exclusive: true }, () => resolve(true));
    });
    server.removeAllListeners("error").removeAllListeners("listening");
    if (!isOpen) continue;
    const closed = new AbortController();
    const close = () => {
      closed.abort();
      for (const socket of waiting) socket.destroy();
      server.close();
    };
    server.on("error", close);
    void clock.sleep(OPEN_MS, closed.signal).then(close);
    return {
      port,
      answer(nonce) {
        said = nonce;
        for (const socket of waiting) socket.end(nonce);
        waiting.clear();
      },
      close,
    };
  }
  return undefined;
}
