import { isIP, type Socket } from "node:net";
import type { Connection, ServerChannel } from "ssh2";
import { connectArgv } from "./login-script.ts";
import type { Accepted, Listening, Namespace } from "./namespace.ts";
import { runProgram, type ProgramPlace } from "./program.ts";
import { attempt, deliver, follow, type Transport } from "./transport.ts";

/**
 * Forwards of one connection. Everything starts in the container's own network, so an address means what it means
 * inside: `localhost` is the container, and nothing of the host can be reached that the container cannot reach itself.
 */
export type Forwards = {
  /** Answers a request for a connection from the container to somewhere (`ssh -L` and `-D`). */
  connectOut(accept: () => ServerChannel, reject: () => void, host: string, port: number): void;
  /** Answers a request to listen in the container (`ssh -R`); the port that was bound, undefined when refused. */
  listen(address: string, port: number): Promise<number | undefined>;
  /** Ends a listener; false when there was none. */
  unlisten(address: string, port: number): boolean;
  close(): void;
};

export type ForwardsPlace = ProgramPlace & { readonly namespace: Namespace };

/** Channels of one connection, open or being made, in both directions; a browser behind `-D` has about a hundred. */
const MAX_CHANNELS = 256;
const MAX_LISTENERS = 16;
const LOOPBACK = ["127.0.0.1", "::1"] as const;
const NAME = /^(?!-)[A-Za-z0-9._-]{1,253}$/;

export function createForwards(place: ForwardsPlace): Forwards {
  const { transport, namespace } = place;
  const listeners = new Map<string, readonly Listening[]>();
  let listenersBegun = 0;
  let channels = 0;

  const connectOut = async (accept: () => ServerChannel, reject: () => void, host: string, port: number) => {
    if (isIP(host) === 0 && host !== "localhost") {
      if (!NAME.test(host)) return reject();
      return connectByName(place, accept(), host, port);
    }
    const socket = await connectFirst(namespace, host === "localhost" ? LOOPBACK : [host], port);
    if (socket === undefined) return reject();
    try {
      await join(transport, accept(), socket);
    } finally {
      // The client may have left before there was a channel to it.
      socket.destroySoon();
    }
  };
  const forwardIn = (address: string, port: number) => (accepted: Accepted) => {
    if (channels >= MAX_CHANNELS || transport.gone.aborted) return void accepted.socket.destroy();
    channels += 1;
    void openBack(transport.client, { address, port }, accepted)
      .then((channel) => join(transport, channel, accepted.socket))
      .catch(() => accepted.socket.destroy())
      .finally(() => (channels -= 1));
  };

  return {
    connectOut: (accept, reject, host, port) => {
      if (channels >= MAX_CHANNELS || port < 1) return reject();
      channels += 1;
      void connectOut(accept, reject, host, port)
        .catch(() => attempt(reject))
        .finally(() => (channels -= 1));
    },
    listen: async (address, port) => {
      const hosts = listenAddresses(address);
      if (hosts === undefined || listeners.size + listenersBegun >= MAX_LISTENERS) return undefined;
      listenersBegun += 1;
      const bound = await listenOnAll(namespace, hosts, port, (chosen) => forwardIn(address, chosen));
      listenersBegun -= 1;
      const [first] = bound;
      if (first === undefined) return undefined;
      if (transport.gone.aborted) {
        for (const one of bound) one.close();
        return undefined;
      }
      listeners.set(`${address} ${first.port}`, bound);
      return first.port;
    },
    unlisten: (address, port) => {
      const bound = listeners.get(`${address} ${port}`);
      for (const one of bound ?? []) one.close();
      return listeners.delete(`${address} ${port}`);
    },
    close: () => {
      for (const bound of listeners.values()) for (const one of bound) one.close();
      listeners.clear();
    },
  };
}

async function connectFirst(namespace: Namespace, hosts: readonly string[], port: number): Promise<Socket | undefined> {
  for (const host of hosts) {
    const socket = await namespace.connect(host, port).catch(() => undefined);
    if (socket !== undefined) return socket;
  }
  return undefined;
}

/** Only the container itself knows what its names mean, so the connection is made by a program in it. */
async function connectByName(place: ProgramPlace, channel: ServerChannel, host: string, port: number): Promise<void> {
  channel.on("error", () => undefined);
  channel.stderr.on("error", () => undefined);
  const over = follow(place.transport.gone);
  channel.once("close", () => over.abort());
  try {
    const spec = { argv: connectArgv(host, port), env: [], hasTty: false };
    await runProgram(place, channel, spec, { over: over.signal });
    channel.close();
  } finally {
    over.release();
  }
}

/** The addresses to listen on: every one for an empty address or `*`; undefined for a name other than `localhost`. */
function listenAddresses(address: string): readonly string[] | undefined {
  if (address === "localhost") return LOOPBACK;
  if (address === "" || address === "*") return ["0.0.0.0"];
  return isIP(address) === 0 ? undefined : [address];
}

/** The first address must work; a container without IPv6 is no reason to refuse `localhost`. */
async function listenOnAll(
  namespace: Namespace,
  hosts: readonly string[],
  port: number,
  handler: (port: number) => (accepted: Accepted) => void,
): Promise<readonly Listening[]> {
  const bound: Listening[] = [];
  for (const host of hosts) {
    const wanted = bound[0]?.port ?? port;
    let chosen = wanted;
    const one = await namespace.listen(host, wanted, (accepted) => handler(chosen)(accepted)).catch(() => undefined);
    if (one === undefined) break;
    chosen = one.port;
    bound.push(one);
  }
  return bound;
}

function openBack(
  client: Connection,
  bound: { readonly address: string; readonly port: number },
  from: Accepted,
): Promise<ServerChannel> {
  return new Promise((resolve, reject) => {
    client.forwardOut(bound.address, bound.port, from.address, from.port, (cause, channel) => {
      if (cause) reject(cause);
      else resolve(channel);
    });
  });
}

/** Carries bytes in both directions, each to its own end, and returns when both directions are over. */
async function join(transport: Transport, channel: ServerChannel, socket: Socket): Promise<void> {
  socket.allowHalfOpen = true;
  socket.setNoDelay(true);
  channel.on("error", () => undefined);
  socket.on("error", () => attempt(() => channel.close()));
  const over = follow(transport.gone);
  over.signal.addEventListener("abort", () => socket.destroy(), { once: true });
  const hasEnded = new Promise<void>((resolve) => {
    channel.once("end", resolve);
    channel.once("close", resolve);
    socket.once("close", resolve);
  });
  // The client has closed its end for good: what it sent still goes out, nothing comes back.
  channel.once("close", () => socket.destroySoon());
  channel.pipe(socket);
  try {
    for await (const data of socket.iterator({ destroyOnReturn: false })) {
      if (!(await deliver(transport, channel, { data, isStderr: false }, over.signal))) break;
    }
    channel.eof();
    await hasEnded;
  } catch {
    // A connection that breaks ends the channel, whichever direction was open.
  } finally {
    over.release();
    attempt(() => channel.close());
    socket.destroySoon();
    // Input that nobody takes any more must not hold up the end of the channel.
    channel.resume();
  }
}
