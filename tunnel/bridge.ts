import type { Socket } from "node:net";
import type { RawData, WebSocket } from "ws";

/** The clock of the room that asks; a bridge needs its timer alone. */
type Timer = {
  /** Calls `run` each `ms` until the returned function is called. */
  every(ms: number, run: () => void): () => void;
};

/** Bytes that may wait for a slow reader before the writer is paused, and bytes left when the writer goes on. */
const BUFFERED_BYTES_MAX = 1_048_576;
const BUFFERED_BYTES_LOW = 262_144;
/** A connection with one direction closed and no byte in the other for this long does not end by itself. */
const HALF_OPEN_MS = 60_000;
const END_OF_DIRECTION = Buffer.alloc(0);

/**
 * Carries bytes both ways between a socket, which is paused and may be half open, and a tunnel, until both are closed.
 * WebSockets cannot be half closed: an empty message says that no more bytes come in its direction. `onSent` hears how
 * many bytes came out of the tunnel.
 */
export function bridge(socket: Socket, tunnel: WebSocket, timer: Timer, onSent?: (bytes: number) => void): void {
  let isUpOver = false;
  let isDownOver = false;
  let hasMoved = false;
  let stopWatching: (() => void) | undefined;

  const abandon = () => {
    socket.destroy();
    tunnel.terminate();
  };
  const endIfOver = () => {
    if (isUpOver && isDownOver) return tunnel.close(1000);
    stopWatching ??= timer.every(HALF_OPEN_MS, () => {
      if (!hasMoved) abandon();
      hasMoved = false;
    });
  };
  const resumeWhenDrained = () => {
    if (socket.isPaused() && tunnel.bufferedAmount <= BUFFERED_BYTES_LOW) socket.resume();
  };

  socket.on("data", (chunk) => {
    hasMoved = true;
    tunnel.send(chunk, resumeWhenDrained);
    if (tunnel.bufferedAmount > BUFFERED_BYTES_MAX) socket.pause();
  });
  socket.once("end", () => {
    isUpOver = true;
    if (tunnel.readyState === tunnel.OPEN) tunnel.send(END_OF_DIRECTION, () => {});
    endIfOver();
  });
  socket.on("drain", () => tunnel.resume());
  // An error is followed by a close, which ends the bridge.
  socket.on("error", () => {});
  socket.once("close", () => {
    stopWatching?.();
    tunnel.resume();
    tunnel.close(1000);
  });

  tunnel.on("message", (data, isBinary) => {
    hasMoved = true;
    if (!isBinary) return abandon();
    const chunk = bytesOf(data);
    if (chunk.length > 0) {
      onSent?.(chunk.length);
      if (!isDownOver && !socket.write(chunk)) tunnel.pause();
      return;
    }
    isDownOver = true;
    socket.end();
    endIfOver();
  });
  tunnel.on("error", () => {});
  tunnel.once("close", () => socket.destroySoon());
  tunnel.resume();
  socket.resume();
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
