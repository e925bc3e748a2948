import { decodeLogNote, LOG_NOTE_CHARACTERS_MAX, type LogNote } from "../../../../../../protocol/index.ts";

/** How long a client waits before it comes again, when a connection breaks. */
const RETRY_MS = 2_000;
const NANOSECONDS_PER_MILLISECOND = 1_000_000n;
/** The last moment that a time in JavaScript can name. */
const LAST_MS = 8_640_000_000_000_000n;

export const RETRY_FRAME = `retry: ${RETRY_MS}\n\n`;
export const ALIVE_FRAME = ": alive\n\n";
const GAP_REASON =
  "Lines between are not in the log any more: it was cut at its beginning, or the instance has a new container.";

/** Frames of what a host sent, in which nothing is taken for granted but that it is text. */
export class LogFrames {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** True once the host has said that this is all. */
  hasEnded = false;

  /** The frames of the whole lines so far; undefined when the host sends something else. */
  read(chunk: Buffer): string | undefined {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > LOG_NOTE_CHARACTERS_MAX) return undefined;
    const frames: string[] = [];
    for (const line of lines) {
      const note = decodeLogNote(line);
      if (note === undefined) return undefined;
      if (note.kind === "end") this.hasEnded = true;
      frames.push(frameOf(note));
    }
    return frames.join("");
  }
}

function frameOf(note: LogNote): string {
  if (note.kind === "gap") return `event: gap\ndata: ${JSON.stringify({ reason: GAP_REASON })}\n\n`;
  if (note.kind === "end") return "event: end\ndata: {}\n\n";
  const data = { stream: note.is_stderr ? "stderr" : "stdout", at: timeOf(note.place), text: note.text };
  return `id: ${note.place}\nevent: log\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Seconds since 1970, of the latest piece so far. */
function timeOf(place: string): number {
  const ms = BigInt(place.split("-")[0] ?? "0") / NANOSECONDS_PER_MILLISECOND;
  return Number(ms < LAST_MS ? ms : LAST_MS) / 1_000;
}
