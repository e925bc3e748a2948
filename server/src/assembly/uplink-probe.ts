import { randomBytes } from "node:crypto";
import type { RawData, WebSocket } from "ws";
import { UPLINK_MARK_BYTES } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";

/** Tunnels of one measurement: several at once fill an uplink with a long delay better than one does. */
export const STREAMS = 4;
export type ProbeBounds = { readonly sendMs: number; readonly bytesPerStream: number; readonly answerMs: number };
/** Each direction takes this long, or this many bytes in each tunnel: a fast uplink is measured sooner. */
export const BOUNDS: ProbeBounds = { sendMs: 3_000, bytesPerStream: 67_108_864, answerMs: 20_000 };
const CHUNK = randomBytes(65_536);
const CHUNKS_UNDER_WAY = 4;
const BITS_PER_BYTE = 8;
const BITS_PER_MS_AND_MBPS = 1_000;

/** The measured speed of an uplink between server and machine; `down` is towards the machine. */
export type MeasuredSpeed = { readonly upMbps: number; readonly downMbps: number };

/**
 * Measures the uplink, first towards the machine and then from it, and ends the tunnels. Random marks end the first
 * direction: an agent that repeats them has received all bytes before, so it cannot claim more than it got. Undefined when
 * a tunnel breaks or an agent does not answer in time.
 */
export async function measureUplink(
  tunnels: readonly WebSocket[],
  clock: Clock,
  bounds: ProbeBounds = BOUNDS,
): Promise<MeasuredSpeed | undefined> {
  const over = new AbortController();
  const tooLate = clock.sleep(2 * bounds.sendMs + bounds.answerMs, over.signal).then(() => undefined);
  const measured = measure(tunnels, clock, { ...bounds, signal: over.signal }).catch(() => undefined);
  return Promise.race([measured, tooLate]).finally(() => {
    over.abort();
    for (const tunnel of tunnels) tunnel.terminate();
  });
}

async function measure(
  tunnels: readonly WebSocket[],
  clock: Clock,
  bounds: ProbeBounds & { readonly signal: AbortSignal },
): Promise<MeasuredSpeed> {
  const sides = tunnels.map((tunnel) => listen(tunnel));
  const beganMs = clock.monotonicMs();
  const sent = await Promise.all(
    sides.map(async (side) => {
      const bytes = await sendUntil(side, clock, { ...bounds, untilMs: beganMs + bounds.sendMs });
      const answeredMs = await side.answered.then(() => clock.monotonicMs());
      return { bytes, answeredMs };
    }),
  );
  const turnedMs = clock.monotonicMs();
  await Promise.race([
    clock.sleep(bounds.sendMs, bounds.signal),
    Promise.all(sides.map((side) => side.received(bounds.bytesPerStream))),
  ]);
  const received = sides.reduce((sum, side) => sum + side.receivedBytes, 0);
  const endedMs = clock.monotonicMs();
  return {
    downMbps: speed(
      sent.reduce((sum, { bytes }) => sum + bytes, 0),
      turnedMs - beganMs,
    ),
    // Agents send in each tunnel as soon as they answered in it.
    upMbps: speed(received, endedMs - Math.min(...sent.map(({ answeredMs }) => answeredMs))),
  };
}

type Side = {
  readonly tunnel: WebSocket;
  readonly mark: Buffer;
  /** Resolves when the agent has repeated the mark, and rejects when it says anything else or goes away before. */
  readonly answered: Promise<void>;
  /** Resolves when so many bytes came, or nothing more can come. */
  readonly received: (bytes: number) => Promise<void>;
  receivedBytes: number;
};

function listen(tunnel: WebSocket): Side {
  const mark = randomBytes(UPLINK_MARK_BYTES);
  const heard = Promise.withResolvers<void>();
  let enough: { readonly bytes: number; readonly done: () => void } | undefined;
  let isAnswered = false;
  const side: Side = {
    tunnel,
    mark,
    answered: heard.promise,
    received: (bytes) =>
      new Promise((done) => {
        enough = { bytes, done };
        if (tunnel.readyState !== tunnel.OPEN) done();
      }),
    receivedBytes: 0,
  };
  tunnel.on("message", (data) => {
    const chunk = bytesOf(data);
    if (!isAnswered) {
      isAnswered = chunk.equals(mark);
      return isAnswered ? heard.resolve() : heard.reject(new Error("the agent answered something else"));
    }
    side.receivedBytes += chunk.length;
    if (enough !== undefined && side.receivedBytes >= enough.bytes) enough.done();
  });
  tunnel.on("error", () => {});
  tunnel.once("close", () => {
    heard.reject(new Error("the tunnel ended"));
    enough?.done();
  });
  heard.promise.catch(() => {});
  tunnel.resume();
  return side;
}

/** Sends as much as the uplink takes, and the mark; returns the number of bytes sent. */
async function sendUntil(
  { tunnel, mark }: Side,
  clock: Clock,
  { untilMs, bytesPerStream }: ProbeBounds & { readonly untilMs: number },
): Promise<number> {
  let sentBytes = 0;
  const sendInTurn = async () => {
    while (sentBytes < bytesPerStream && clock.monotonicMs() < untilMs) {
      sentBytes += CHUNK.length;
      await new Promise<void>((resolve, reject) =>
        tunnel.send(CHUNK, (error) => (error === undefined || error === null ? resolve() : reject(error))),
      );
    }
  };
  await Promise.all(Array.from({ length: CHUNKS_UNDER_WAY }, sendInTurn));
  tunnel.send(mark, () => {});
  return sentBytes + mark.length;
}

function speed(bytes: number, ms: number): number {
  return (bytes * BITS_PER_BYTE) / BITS_PER_MS_AND_MBPS / Math.max(1, ms);
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
