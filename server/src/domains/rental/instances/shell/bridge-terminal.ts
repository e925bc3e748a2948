import type { ClientChannel } from "ssh2";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { RawData, WebSocket } from "ws";
import { SIDE_MAX } from "./shell-schema.ts";
import type { Ending } from "./open-terminals.ts";

/** Bytes that may wait for a client before the shell is paused, and bytes left when it goes on. */
const BUFFERED_BYTES_MAX = 1_048_576;
const BUFFERED_BYTES_LOW = 262_144;
const BAD_MESSAGE: Ending = {
  code: 4400,
  reason: 'A text message must be {"type": "resize", "cols": 80, "rows": 24} with sides from 1 to 1000.',
};

const side = Type.Integer({ minimum: 1, maximum: SIDE_MAX });
const resizeMessage = Compile(Type.Object({ type: Type.Literal("resize"), cols: side, rows: side }));

type Bridge = {
  /** Hears of each byte that passes. */
  readonly onMove: () => void;
  readonly onBadMessage: (ending: Ending) => void;
};

/**
 * Carries bytes between a client's WebSocket and a shell, no faster than each is read. Text messages change the size of the
 * terminal.
 */
export function bridgeTerminal(socket: WebSocket, channel: ClientChannel, { onMove, onBadMessage }: Bridge): void {
  const resumeWhenDrained = () => {
    if (channel.isPaused() && socket.bufferedAmount <= BUFFERED_BYTES_LOW) channel.resume();
  };
  const print = (data: Buffer) => {
    onMove();
    if (socket.readyState !== socket.OPEN) return;
    socket.send(data, { binary: true }, resumeWhenDrained);
    if (socket.bufferedAmount > BUFFERED_BYTES_MAX) channel.pause();
  };
  channel.on("data", print);
  channel.stderr.on("data", print);
  channel.on("drain", () => socket.resume());
  socket.on("message", (data, isBinary) => {
    onMove();
    const bytes = bytesOf(data);
    if (isBinary) {
      if (channel.writable && !channel.write(bytes)) socket.pause();
      return;
    }
    const size = readSize(bytes);
    if (size === undefined) onBadMessage(BAD_MESSAGE);
    else channel.setWindow(size.rows, size.cols, 0, 0);
  });
  // A paused socket would not notice that the other side is gone.
  channel.once("close", () => socket.resume());
  socket.once("close", () => channel.resume());
  socket.resume();
}

function readSize(bytes: Buffer) {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return resizeMessage.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
