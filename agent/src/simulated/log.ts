import { LineTail } from "../base/line-tail.ts";
import type { FollowRequest, LogNotes, LogRequest } from "../engine/engine.ts";
import { LogPlaces } from "../engine/log-places.ts";
import type { LogNote } from "../wire/messages.ts";

/** Log lines kept of each container. */
const LINES = 100;
const NANOSECONDS_PER_MILLISECOND = 1_000_000n;

type Line = { readonly atNs: bigint; readonly text: string };

/** The invented output of a simulated container, of all its runs. */
export class SimulatedLog {
  /** True while the container runs, so that more may come. */
  isOpen = false;
  readonly #now: () => Date;
  #lines: readonly Line[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  write(text: string): void {
    // Two lines never share a time, also with a coarse clock.
    const nowNs = BigInt(this.#now().getTime()) * NANOSECONDS_PER_MILLISECOND;
    const lastNs = this.#lines.at(-1)?.atNs ?? 0n;
    this.#lines = [...this.#lines, { atNs: nowNs > lastNs ? nowNs : lastNs + 1n, text: `${text}\n` }].slice(-LINES);
    this.#wake();
  }

  /** Ends the run, with a last line where it is given. */
  end(text?: string): void {
    this.isOpen = false;
    if (text === undefined) this.#wake();
    else this.write(text);
  }

  tail(request: LogRequest): string {
    const lines = new LineTail(request);
    for (const { text } of this.#lines) lines.push("stdout", Buffer.from(text));
    return lines.text();
  }

  async *follow({ after, tailLines, follows, signal }: FollowRequest): LogNotes {
    const places = new LogPlaces(after);
    const first = after === undefined ? Math.max(0, this.#lines.length - tailLines) : 0;
    let readNs = this.#lines[first - 1]?.atNs ?? -1n;
    for (;;) {
      const lines = this.#lines.filter(({ atNs }) => atNs > readNs);
      readNs = lines.at(-1)?.atNs ?? readNs;
      const notes = lines.flatMap((line) => notesOf(line, places));
      if (notes.length > 0) yield notes;
      signal.throwIfAborted();
      if (lines.length > 0) continue;
      if (!follows || !this.isOpen) break;
      await this.#change(signal);
    }
    yield [{ kind: "end" }];
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        this.#waiting.delete(settle);
        signal.removeEventListener("abort", settle);
        resolve();
      };
      this.#waiting.add(settle);
      signal.addEventListener("abort", settle);
    });
  }

  #wake(): void {
    for (const settle of this.#waiting) settle();
  }
}

function notesOf({ atNs, text }: Line, places: LogPlaces): readonly LogNote[] {
  const { place, isKnown, isBehindGap } = places.take(atNs);
  const gap = isBehindGap ? [{ kind: "gap" } as const] : [];
  return isKnown ? [] : [...gap, { kind: "text", place, isStderr: false, text }];
}
