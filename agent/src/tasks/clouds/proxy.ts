import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Decides about addresses that a copying program may reach. */
export type CloudGate = {
  /** All addresses of a name, by this host's resolver. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** True for an address that renters' programs may reach. */
  readonly isAllowed: (address: string) => boolean;
};

/** Bytes that passed, for the traffic of the instance. */
export type CloudTraffic = { receivedBytes: number; sentBytes: number };

export type CloudProxy = {
  readonly traffic: Readonly<CloudTraffic>;
  /** Why the latest connection was refused, for the result of a copy that could not connect. */
  readonly refusal: string | undefined;
  /** Serves a connection of the program. */
  take(socket: Socket): void;
  close(): void;
};

const CONNECTIONS_MAX = 64;
const HEADER_BYTES = 8_192;
const IDLE_MS = 300_000;

/**
 * The one way out of a sandbox: a proxy that carries encrypted connections only (`CONNECT`). Each name is looked up here, for
 * each connection, and exactly the address that was looked at is connected to: so neither an endpoint, a redirection nor a
 * name that changes its address leads a renter's program to the host or into its network.
 */
export function createCloudProxy(gate: CloudGate, onForbidden: () => void): CloudProxy {
  const traffic: CloudTraffic = { receivedBytes: 0, sentBytes: 0 };
  const open = new Set<Duplex>();
  const state: { refusal: string | undefined } = { refusal: undefined };
  const server: Server = createServer({ maxHeaderSize: HEADER_BYTES }, (_request, response) => {
    state.refusal = "the storage leads to a connection without encryption, and this host carries none";
    onForbidden();
    response.writeHead(403, { connection: "close" }).end();
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.unshift(head);
    socket.on("error", () => undefined);
    const refuse = (reason: string) => {
      state.refusal = reason;
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    };
    void findAddress(gate, request.url ?? "").then((found) => {
      if ("refusal" in found) {
        refuse(found.refusal);
        if (found.isForbidden) onForbidden();
        return;
      }
      return carry(socket, found, { traffic, open, refuse });
    });
  });
  return {
    traffic,
    get refusal() {
      return state.refusal;
    },
    take(socket) {
      if (open.size >= CONNECTIONS_MAX) return void socket.destroy();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      server.emit("connection", socket);
      // A socket that another process made comes paused.
      socket.resume();
    },
    close() {
      for (const one of open) one.destroy();
    },
  };
}

type Found =
  | { readonly address: string; readonly port: number }
  /** `isForbidden`: to try again would be in vain. */
  | { readonly refusal: string; readonly isForbidden: boolean };

/** The address for a target such as `s3.example.com:443`. */
async function findAddress({ resolve, isAllowed }: CloudGate, target: string): Promise<Found> {
  const [, name = "", digits = ""] = /^([A-Za-z0-9._-]{1,253}):(\d{1,5})$/.exec(target) ?? [];
  const port = Number(digits);
  if (name === "" || port < 1 || port > 65_535)
    return { refusal: "the storage has no address that this host reads", isForbidden: true };
  const addresses = isIP(name) === 0 ? await resolve(name).catch(() => []) : [name];
  // Containers reach IPv4 addresses only, and so does their copying program.
  const address = addresses.find((one) => isIP(one) === 4 && isAllowed(one));
  if (address !== undefined) return { address, port };
  if (addresses.length === 0) return { refusal: `${name} has no address that this host can find`, isForbidden: false };
  return { refusal: `${name} leads into a private network, or to this host itself`, isForbidden: true };
}

type Carrying = {
  readonly traffic: CloudTraffic;
  readonly open: Set<Duplex>;
  readonly refuse: (reason: string) => void;
};

function carry(
  socket: Duplex,
  { address, port }: { readonly address: string; readonly port: number },
  { traffic, open, refuse }: Carrying,
): void {
  if (socket.destroyed) return;
  const out = connect({ host: address, port });
  open.add(out);
  let isConnected = false;
  out.setTimeout(IDLE_MS, () => out.destroy());
  out.on("error", (cause) =>
    isConnected ? socket.destroy() : refuse(`the storage cannot be reached: ${cause.message}`),
  );
  out.once("close", () => {
    open.delete(out);
    if (isConnected) socket.destroy();
  });
  socket.once("close", () => out.destroy());
  out.once("connect", () => {
    isConnected = true;
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    out.on("data", (data: Buffer) => (traffic.receivedBytes += data.length));
    socket.on("data", (data: Buffer) => (traffic.sentBytes += data.length));
    out.pipe(socket).pipe(out);
  });
}
