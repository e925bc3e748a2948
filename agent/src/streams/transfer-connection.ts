import type { IncomingMessage } from "node:http";
import { Readable, Writable } from "node:stream";
import { WebSocket, type RawData } from "ws";
import type { TransferSide } from "../../../protocol/index.ts";
import { readTransferMessage, writeTransferMessage, type TransferMessage } from "../wire/messages.ts";

export type TransferDial = {
  /** The control plane's address, as for the session: `wss://…/agent`. */
  readonly serverUrl: string;
  readonly token: string;
  readonly transferId: string;
  readonly side: TransferSide;
};

/** A connection through the control plane to the other host of a copy. */
export type TransferConnection = {
  /** The next message of the other side, or of the server; undefined when the connection is closed. */
  hear(): Promise<TransferMessage | undefined>;
  say(message: TransferMessage): void;
  /** Bytes to the other side; what is not taken there yet holds the writer up. */
  readonly output: Writable;
  /** Bytes from the other side; they wait until they are read. It breaks when the connection closes before their end. */
  readonly input: Readable;
  close(): void;
  /** Closes it without waiting for anybody. */
  cut(): void;
};

/** `isFinal`: the server knows of no such transfer any more. Otherwise it is worth trying again. */
export type Dialled =
  | { readonly ok: true; readonly connection: TransferConnection }
  | { readonly ok: false; readonly isFinal: boolean };

const HANDSHAKE_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const FINAL: ReadonlySet<number> = new Set([401, 403, 404]);
const END = Buffer.alloc(0);

export function dialTransfer({ serverUrl, token, transferId, side }: TransferDial): Promise<Dialled> {
  const url = new URL(serverUrl);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/transfer/${encodeURIComponent(transferId)}/${side}`;
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  });
  socket.once("upgrade", (response) => {
    response.socket.setNoDelay(true);
    response.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  });
  // Made before it is open: what the server says at once is not to be missed.
  const connection = connectionOf(socket);
  return new Promise((resolve) => {
    socket.once("open", () => resolve({ ok: true, connection }));
    socket.once("unexpected-response", (_request, response: IncomingMessage) => {
      response.destroy();
      resolve({ ok: false, isFinal: FINAL.has(response.statusCode ?? 0) });
    });
    socket.once("close", () => resolve({ ok: false, isFinal: false }));
  });
}

function connectionOf(socket: WebSocket): TransferConnection {
  const heard: TransferMessage[] = [];
  const waiting: ((message: TransferMessage | undefined) => void)[] = [];
  let isClosed = false;

  const input = new Readable({ read: () => socket.resume() });
  const output = new Writable({
    // Called back when the message has left: nothing piles up behind a slow connection.
    write: (chunk: Buffer, _encoding, done) => socket.send(chunk, (problem) => done(problem ?? null)),
    final: (done) => socket.send(END, (problem) => done(problem ?? null)),
  });
  // Users of the streams learn of an error from their pipeline; a stream without a user may break as well.
  for (const stream of [input, output]) stream.on("error", () => undefined);

  socket.on("message", (data, isBinary) => {
    if (isBinary) {
      const bytes = bytesOf(data);
      // Bytes without a reader must not hold up the end of the connection.
      if (input.destroyed) return;
      if (!input.push(bytes.length === 0 ? null : bytes) && bytes.length > 0) socket.pause();
      return;
    }
    const message = readTransferMessage(bytesOf(data).toString("utf8"));
    if (message === undefined) return socket.terminate();
    const next = waiting.shift();
    if (next) next(message);
    else heard.push(message);
  });
  // The close that follows is what is acted upon.
  socket.on("error", () => undefined);
  socket.once("close", () => {
    isClosed = true;
    if (!input.readableEnded) input.destroy(new Error("the connection is closed"));
    output.destroy();
    for (const next of waiting.splice(0)) next(undefined);
  });

  return {
    input,
    output,
    hear() {
      const message = heard.shift();
      if (message !== undefined || isClosed) return Promise.resolve(message);
      return new Promise((resolve) => waiting.push(resolve));
    },
    say(message) {
      socket.send(writeTransferMessage(message), () => undefined);
    },
    close() {
      // A socket that is paused would not see the other side's answer to the close.
      socket.resume();
      socket.close(1000);
    },
    cut: () => socket.terminate(),
  };
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
