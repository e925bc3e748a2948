import type { Clock } from "../../../../base/clock.ts";

/** Bytes that a reader gets at once, and from then on in each second. */
const BURST_BYTES = 4_194_304;
const BYTES_PER_SECOND = 1_048_576;

/** Slows a stream down to so many bytes a second, once a first part of it is through. */
export class ByteBudget {
  readonly #clock: Clock;
  #left = BURST_BYTES;
  #countedMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#countedMs = clock.monotonicMs();
  }

  /** Waits until these bytes may go on, or the signal aborts. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const earned = ((nowMs - this.#countedMs) / 1_000) * BYTES_PER_SECOND;
    this.#countedMs = nowMs;
    this.#left = Math.min(BURST_BYTES, this.#left + earned) - bytes;
    if (this.#left < 0) await this.#clock.sleep((-this.#left / BYTES_PER_SECOND) * 1_000, signal);
  }
}
