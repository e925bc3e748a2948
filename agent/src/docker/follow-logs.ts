import type { IncomingMessage } from "node:http";
import { fail, succeed, type FollowRequest, type LogNotes, type Result } from "../engine/engine.ts";
import { LogPlaces } from "../engine/log-places.ts";
import type { LogNote } from "../wire/messages.ts";
import type { DockerConnection } from "./connection.ts";

const HEADER_BYTES = 8;
const LENGTH_AT = 4;
const STDERR = 2;
/** The engine cuts lines into pieces far smaller than this. */
const FRAME_BYTES_MAX = 262_144;
const NANOSECONDS = 1_000_000_000n;
const NANOSECONDS_PER_MILLISECOND = 1_000_000n;
/** The time before each piece: `2026-01-31T10:15:00.000000001Z `. */
const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z $/;
const STAMP_BYTES = 31;

/** Reads the output of a container's main process as it comes, with the engine's times, which make its places. */
export async function followLogs(
  connection: DockerConnection,
  id: string,
  request: FollowRequest,
): Promise<Result<LogNotes>> {
  const { after, tailLines, follows, signal } = request;
  const part =
    after === undefined
      ? { tail: String(tailLines) }
      : { since: `${after.latestNs / NANOSECONDS}.${String(after.latestNs % NANOSECONDS).padStart(9, "0")}` };
  const query = { stdout: "true", stderr: "true", timestamps: "true", follow: String(follows), ...part };
  const opened = await connection.stream({ method: "GET", path: `/containers/${id}/logs`, query, signal });
  if (!opened.ok) return opened;
  if (signal.aborted) {
    opened.value.destroy();
    return fail("cancelled", "called off");
  }
  return succeed(notesOf(opened.value, new LogPlaces(after)));
}

async function* notesOf(response: IncomingMessage, places: LogPlaces): LogNotes {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const read = createWholeFrameReader();
  try {
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) continue;
      const notes: LogNote[] = [];
      for (const { isStderr, data } of read(chunk)) {
        const { place, isKnown, isBehindGap } = places.take(timeOf(data));
        const decoder = isStderr ? decoders.stderr : decoders.stdout;
        const text = decoder.decode(data.subarray(STAMP_BYTES), { stream: true });
        if (isBehindGap) notes.push({ kind: "gap" });
        if (!isKnown) notes.push({ kind: "text", place, isStderr, text });
      }
      if (notes.length > 0) yield notes;
    }
    yield [{ kind: "end" }];
  } finally {
    response.destroy();
  }
}

type WholeFrame = { readonly isStderr: boolean; readonly data: Buffer };

/** As `createFrameReader` does, but a frame comes whole: each begins with its time. */
function createWholeFrameReader(): (chunk: Buffer) => Generator<WholeFrame> {
  let rest: Buffer = Buffer.alloc(0);
  return function* read(chunk) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + rest.readUInt32BE(LENGTH_AT);
      if (end > FRAME_BYTES_MAX) throw new Error("the engine sent a piece of a log that is too large");
      if (rest.length < end) return;
      yield { isStderr: rest[0] === STDERR, data: rest.subarray(HEADER_BYTES, end) };
      rest = rest.subarray(end);
    }
  };
}

function timeOf(data: Buffer): bigint {
  const [, seconds = "", fraction = ""] = STAMP.exec(data.subarray(0, STAMP_BYTES).toString("latin1")) ?? [];
  if (seconds === "") throw new Error("the engine sent a piece of a log without its time");
  return BigInt(Date.parse(`${seconds}Z`)) * NANOSECONDS_PER_MILLISECOND + BigInt(fraction);
}
