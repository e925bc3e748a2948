import { Readable, Writable } from "node:stream";
import type { RawData, WebSocket } from "ws";

/** One end of a transfer of files: messages as texts, and the files as binary messages, of which an empty one is the end. */
export type TransferSocket<Message> = {
  /** The next message of the other end; undefined when the connection is closed. */
  hear(): Promise<Message | undefined>;
  say(message: Message): void;
  /** Bytes to the other end; what is not taken there yet holds the writer up. */
  readonly output: Writable;
  /** Bytes from the other end; they wait until they are read. It breaks when the connection closes before their end. */
  readonly input: Readable;
  close(): void;
  /** Closes it without waiting for the other end. */
  cut(): void;
};

/** How messages are spelt; a text that is no message breaks the connection. */
export type Spelling<Message> = {
  readonly read: (text: string) => Message | undefined;
  readonly write: (message: Message) => string;
};

const END = Buffer.alloc(0);

/** Begins to listen to a socket at once. */
export function transferSocket<Message>(socket: WebSocket, spelling: Spelling<Message>): TransferSocket<Message> {
  const heard: Message[] = [];
  const waiting: ((message: Message | undefined) => void)[] = [];
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
    const message = spelling.read(bytesOf(data).toString("utf8"));
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
      socket.send(spelling.write(message), () => undefined);
    },
    close() {
      // A socket that is paused would not see the other end's answer to the close.
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
