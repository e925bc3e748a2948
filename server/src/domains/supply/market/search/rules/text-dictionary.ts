import { compareScalars } from "../../../../../base/filters/compile-filter.ts";

/** The code of an absent text. */
export const NO_TEXT = 0;

/** Texts as small integers. Each text is stored once for all its rows, and removed with the last of them. */
export class TextDictionary {
  readonly #codes = new Map<string, number>();
  readonly #texts: (string | null)[] = [null];
  readonly #counts: number[] = [0];
  readonly #unused: number[] = [];
  #ranksByCode: Float64Array | undefined;

  /** One more than the highest code. */
  get end(): number {
    return this.#texts.length;
  }

  /** Counts one more row with this text; null is `NO_TEXT`. */
  take(text: string | null): number {
    if (text === null) return NO_TEXT;
    const known = this.#codes.get(text);
    if (known !== undefined) {
      this.#counts[known] = (this.#counts[known] ?? 0) + 1;
      return known;
    }
    const code = this.#unused.pop() ?? this.#texts.length;
    this.#texts[code] = text;
    this.#counts[code] = 1;
    this.#codes.set(text, code);
    this.#ranksByCode = undefined;
    return code;
  }

  /** Counts one row less. */
  release(code: number): void {
    const text = this.#texts[code] ?? null;
    if (text === null) return;
    const left = (this.#counts[code] ?? 1) - 1;
    this.#counts[code] = left;
    if (left > 0) return;
    this.#codes.delete(text);
    this.#texts[code] = null;
    this.#unused.push(code);
    this.#ranksByCode = undefined;
  }

  find(text: string): number | undefined {
    return this.#codes.get(text);
  }

  textOf(code: number): string | null {
    return this.#texts[code] ?? null;
  }

  /** All texts that some row has. */
  values(): Iterable<string> {
    return this.#codes.keys();
  }

  /** The sort position of each code's text; infinite for a code without text. */
  ranks(): Float64Array {
    if (this.#ranksByCode !== undefined) return this.#ranksByCode;
    const ranks = new Float64Array(this.end).fill(Infinity);
    const sorted = [...this.#codes].toSorted(([a], [b]) => compareScalars(a, b));
    for (const [rank, [, code]] of sorted.entries()) ranks[code] = rank;
    this.#ranksByCode = ranks;
    return ranks;
  }
}
