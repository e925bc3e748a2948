// The pieces of a log put together to lines, with their colours.
import { PLAIN, readAnsi, type Look, type Piece } from "../../text/ansi.ts";

export type LogLine = {
  readonly key: number;
  /** The line as its program printed it, for the download. */
  readonly raw: string;
  /** The same without escape sequences, for the search. */
  readonly text: string;
  readonly pieces: readonly Piece[];
  /** True for a sentence of the console between the lines. */
  readonly isNote?: true;
};

/** Lines that are kept: more would make the page slow. */
export const LINES_MAX = 5_000;

type Open = { readonly text: string; readonly look: Look };

/** Puts pieces of two streams together, each stream with its own unfinished line and colours. */
export class LogLines {
  #lines: readonly LogLine[] = [];
  readonly #open = new Map<string, Open>();
  #lastKey = 0;

  add(stream: string, text: string): void {
    const open = this.#open.get(stream) ?? { text: "", look: PLAIN };
    const parts = `${open.text}${text}`.split("\n");
    const rest = parts.pop() ?? "";
    let { look } = open;
    const fresh: LogLine[] = [];
    for (const raw of parts) {
      const read = this.#read(raw, look);
      ({ look } = read);
      fresh.push(read.line);
    }
    this.#open.set(stream, { text: rest, look });
    this.#lines = [...this.#lines, ...fresh].slice(-LINES_MAX);
  }

  addNote(text: string): void {
    const line = { key: this.#nextKey(), raw: text, text, pieces: [{ ...PLAIN, text }], isNote: true } as const;
    this.#lines = [...this.#lines, line].slice(-LINES_MAX);
  }

  /** All lines so far, unfinished ones last. */
  all(): readonly LogLine[] {
    const open = [...this.#open.values()].filter(({ text }) => text !== "");
    return [...this.#lines, ...open.map(({ text, look }) => this.#read(text, look).line)];
  }

  #read(raw: string, start: Look): { readonly line: LogLine; readonly look: Look } {
    // A progress bar prints over itself: what it showed last stands there.
    const shown = raw.replace(/\r+$/, "").split("\r").at(-1) ?? "";
    const { pieces, look } = readAnsi(shown, start);
    const text = pieces.map((piece) => piece.text).join("");
    return { line: { key: this.#nextKey(), raw, text, pieces }, look };
  }

  #nextKey(): number {
    this.#lastKey += 1;
    return this.#lastKey;
  }
}
