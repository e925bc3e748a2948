import type { Socket } from "node:net";
import type { RawData, WebSocket } from "ws";
import type { Clock } from "../base/clock.ts";

/** What may wait for a slow reader before the writer is held up, and how little may be left when it goes on. */
const BUFFERED_BYTES_MAX = 1_048_576;
const BUFFERED_BYTES_LOW = 262_144;
/** A connection with one direction closed and nothing moving in the other for so long is not coming to an end by itself. */
const HALF_OPEN_MS = 60_000;
const END_OF_DIRECTION = Buffer.alloc(0);

/**
 * Carries bytes both ways between a socket, which may be half open, and a tunnel, until both are closed. WebSockets
 * cannot be half closed: an empty message says that nothing more comes in its direction. The server's end does the same
 * (`server/src/proxy/bridge.ts`); rooms share the protocol, not code.
 */
export function bridge(socket: Socket, tunnel: WebSocket, clock: Clock): void {
  let is_up_over = false;
  let is_down_over = false;
  let has_moved = false;
  let stopWatching: (() => void) | undefined;

  const abandon = () => {
    socket.destroy();
    tunnel.terminate();
  };
  const endIfOver = () => {
    if (is_up_over && is_down_over) return tunnel.close(1000);
    stopWatching ??= clock.every(HALF_OPEN_MS, () => {
      if (!has_moved) abandon();
      has_moved = false;
    });
  };
  const resumeWhenDrained = () => {
    if (socket.isPaused() && tunnel.bufferedAmount <= BUFFERED_BYTES_LOW) socket.resume();
  };

  socket.on("data", (chunk) => {
    has_moved = true;
    tunnel.send(chunk, resumeWhenDrained);
    if (tunnel.bufferedAmount > BUFFERED_BYTES_MAX) socket.pause();
  });
  socket.once("end", () => {
    is_up_over = true;
    if (tunnel.readyState === tunnel.OPEN) tunnel.send(END_OF_DIRECTION, () => {});
    endIfOver();
  });
  socket.on("drain", () => tunnel.resume());
  // The close that follows is what is acted upon.
  socket.on("error", () => {});
  socket.once("close", () => {
    stopWatching?.();
    tunnel.resume();
    tunnel.close(1000);
  });

  tunnel.on("message", (data, isBinary) => {
    has_moved = true;
    if (!isBinary) return abandon();
    const chunk = bytesOf(data);
    if (chunk.length > 0) {
      if (!is_down_over && !socket.write(chunk)) tunnel.pause();
      return;
    }
    is_down_over = true;
    socket.end();
    endIfOver();
  });
  tunnel.once("close", () => socket.destroySoon());
  tunnel.resume();
  socket.resume();
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
