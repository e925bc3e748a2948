import { randomBytes } from "node:crypto";
import type { RawData, WebSocket } from "ws";
import { CPU_PUZZLE_BYTES, UPLINK_MARK_BYTES } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import { solveCpuPuzzle } from "./cpu-puzzle.ts";

/** Limits of one tunnel that hold against a faulty server, too. A measurement takes a few seconds and several tunnels. */
const SENT_BYTES_MAX = 67_108_864;
const RECEIVED_BYTES_MAX = 134_217_728;
const TIME_MAX_MS = 30_000;
/** Random bytes, which no compression on the way makes shorter. */
const CHUNK = randomBytes(65_536);
const CHUNKS_UNDER_WAY = 16;

/**
 * Lets the server measure the uplink: drops bytes until the mark, repeats the mark, and sends until the tunnel is closed. A
 * tunnel that begins with a puzzle measures the processor instead.
 */
export function answerUplinkProbe(tunnel: WebSocket, clock: Clock): void {
  const ended = new AbortController();
  let receivedBytes = 0;
  let sentBytes = 0;
  let isPuzzled = false;
  const sendMore = () => {
    if (tunnel.readyState !== tunnel.OPEN || sentBytes >= SENT_BYTES_MAX) return;
    sentBytes += CHUNK.length;
    tunnel.send(CHUNK, (error) => error ?? sendMore());
  };
  tunnel.on("message", (data, isBinary) => {
    const length = lengthOf(data);
    const isFirst = receivedBytes === 0;
    receivedBytes += length;
    if (!isBinary || receivedBytes > RECEIVED_BYTES_MAX || sentBytes > 0 || isPuzzled) return tunnel.terminate();
    if (isFirst && length === CPU_PUZZLE_BYTES && Buffer.isBuffer(data)) {
      isPuzzled = true;
      void solveCpuPuzzle(data).then(
        (solution) => tunnel.send(solution, () => {}),
        // There was not enough memory; the server takes a broken tunnel for no answer.
        () => tunnel.terminate(),
      );
      return;
    }
    if (length !== UPLINK_MARK_BYTES) return;
    tunnel.send(data);
    for (let chunk = 0; chunk < CHUNKS_UNDER_WAY; chunk += 1) sendMore();
  });
  tunnel.once("close", () => ended.abort());
  void clock.sleep(TIME_MAX_MS, ended.signal).then(() => tunnel.terminate());
}

function lengthOf(data: RawData): number {
  if (Array.isArray(data)) return data.reduce((sum, part) => sum + part.length, 0);
  return data.byteLength;
}
