// Writes of data through the SSH library. Version 1.17.0 leaves four duties to its users, all of them kept here: it
// throws for any call between the end of a connection and the event of that end, it writes to a connection that is
// full,
// it gathers writes during a key exchange without limit, and after a write that had to wait for the client it keeps the
// piece and sends it once more when the other of stdout and stderr has to wait. The version is pinned, and the tests
// with a slow client and with key exchanges fail when it changes.
import { setMaxListeners, type EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type { Connection, ServerChannel } from "ssh2";

/** One SSH connection and what it travels on. */
export type Transport = {
  readonly client: Connection;
  readonly socket: Duplex;
  /** Aborts when the connection is gone. */
  readonly gone: AbortSignal;
};

export function createTransport(client: Connection, socket: Duplex, gone: AbortSignal): Transport {
  for (const target of [client, socket]) target.setMaxListeners(0);
  setMaxListeners(0, gone);
  return { client, socket, gone };
}

/**
 * Writes one piece and waits until the client has room for more. False when the channel has ended meanwhile. Only one
 * write at a time for each channel.
 */
export async function deliver(
  transport: Transport,
  channel: ServerChannel,
  piece: { readonly data: Buffer; readonly isStderr: boolean },
  over: AbortSignal,
): Promise<boolean> {
  await untilRoom(transport, over);
  const stream = piece.isStderr ? channel.stderr : channel;
  if (over.aborted || !stream.writable) return false;
  gather(transport.socket);
  return new Promise((resolve) => {
    const giveUp = () => resolve(false);
    over.addEventListener("abort", giveUp, { once: true });
    const isTaken = attempt(() => {
      stream.write(piece.data, () => {
        over.removeEventListener("abort", giveUp);
        forgetWritten(channel);
        resolve(true);
      });
    });
    if (!isTaken) giveUp();
  });
}

/**
 * Does something to a connection that may have ended without our knowing yet, which the library answers by throwing;
 * false when it did.
 */
export function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

const gathering = new WeakSet<Duplex>();

/** The library writes each packet in three parts: what comes before the next turn of the loop goes out as one. */
function gather(socket: Duplex): void {
  if (gathering.has(socket)) return;
  gathering.add(socket);
  socket.cork();
  setImmediate(() => {
    gathering.delete(socket);
    socket.uncork();
  });
}

function forgetWritten(channel: ServerChannel): void {
  Object.assign(channel, {
    ...{ _chunk: undefined, _chunkcb: undefined },
    ...{ _chunkErr: undefined, _chunkcbErr: undefined },
  });
}

async function untilRoom({ client, socket }: Transport, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    if (isExchangingKeys(client)) await happens(client, "rekey", over);
    else if (socket.writableNeedDrain) await happens(socket, "drain", over);
    else return;
  }
}

function isExchangingKeys(client: Connection): boolean {
  const protocol: unknown = Reflect.get(client, "_protocol");
  return typeof protocol === "object" && protocol !== null && Reflect.get(protocol, "_kexinit") !== undefined;
}

function happens(emitter: EventEmitter, event: string, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      emitter.removeListener(event, done);
      over.removeEventListener("abort", done);
      resolve();
    };
    emitter.once(event, done);
    over.addEventListener("abort", done, { once: true });
  });
}

/** The stream that a connection travels on, which the library gives to nobody. */
export function socketOf(client: Connection & { readonly _sock?: Duplex }): Duplex {
  const { _sock: socket } = client;
  if (socket === undefined) throw new Error("the SSH library keeps its stream elsewhere");
  return socket;
}

/** Lets the server serve a stream; it asks of a socket no more than of any stream, except in its types. */
export function injectSocket(server: { injectSocket(socket: never): void }, stream: Duplex): void {
  const inject: unknown = Reflect.get(server, "injectSocket");
  if (typeof inject === "function") Reflect.apply(inject, server, [stream]);
}

/** A controller that also aborts with the signal, until it is released. */
export function follow(signal: AbortSignal): AbortController & { release(): void } {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const abort = () => own.abort();
  if (signal.aborted) own.abort();
  else signal.addEventListener("abort", abort, { once: true });
  return Object.assign(own, { release: () => signal.removeEventListener("abort", abort) });
}
