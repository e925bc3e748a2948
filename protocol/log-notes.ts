import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";

/** Characters of one piece of a log, and of the line that carries it: a character may become six of JSON. */
const PIECE_CHARACTERS_MAX = 262_144;
export const LOG_NOTE_CHARACTERS_MAX = 6 * PIECE_CHARACTERS_MAX + 1_024;

/**
 * A place in the log of a container, such as `1767225600000000001-0`: the latest time so far, in nanoseconds, and how many
 * pieces came since the one of that time. Pieces of two streams may be written a little out of order, and pieces of one long
 * line share a time, so a time alone would lose or repeat some.
 */
const LogPlace = Type.String({ pattern: "^\\d{1,19}-\\d{1,9}$" });

/** The part of a log that is asked for with a tunnel of the service `logs`. */
export const LogWish = Type.Object({
  tail_lines: Type.Integer({ minimum: 0, maximum: 100_000 }),
  /** Only what comes behind this place; `tail_lines` means nothing then. */
  after: Type.Optional(LogPlace),
  /** False for an end after what is there now. */
  follows: Type.Boolean(),
});
export type LogWish = Static<typeof LogWish>;

/**
 * Up a tunnel of the service `logs`, a line of JSON each. `text` is a piece as the engine has it, its line end included; a
 * long line comes in several. `gap`: pieces between the asked place and the next one are not in the log any more. `end`: the
 * container stopped, or everything was sent that was asked for; without it the stream broke.
 */
export const LogNote = Type.Union([
  Type.Object({
    kind: Type.Literal("text"),
    place: LogPlace,
    is_stderr: Type.Boolean(),
    text: Type.String({ maxLength: PIECE_CHARACTERS_MAX }),
  }),
  Type.Object({ kind: Type.Literal("gap") }),
  Type.Object({ kind: Type.Literal("end") }),
]);
export type LogNote = Static<typeof LogNote>;

const logNote = Compile(LogNote);

/** Reads one line of a followed log; undefined for any other text. */
export function decodeLogNote(line: string): LogNote | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return logNote.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
