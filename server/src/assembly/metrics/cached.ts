import type { Clock } from "../../base/clock.ts";

/**
 * Reads a value at most once in a while, however many ask: two Prometheus servers and a person cost the database as much as
 * one. Those who ask while a reading is under way get its result. A reading that fails is not kept.
 */
export class Cached<T> {
  readonly #read: () => Promise<T>;
  readonly #keptMs: number;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #last: { readonly value: Promise<T>; readonly atMs: number } | undefined;

  constructor(read: () => Promise<T>, { keptMs, clock }: { keptMs: number; clock: Pick<Clock, "monotonicMs"> }) {
    this.#read = read;
    this.#keptMs = keptMs;
    this.#clock = clock;
  }

  get(): Promise<T> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last !== undefined && nowMs - this.#last.atMs < this.#keptMs) return this.#last.value;
    const value = this.#read();
    const reading = { value, atMs: nowMs };
    this.#last = reading;
    value.catch(() => {
      if (this.#last === reading) this.#last = undefined;
    });
    return value;
  }
}
