/** Requests that are observed before the estimate counts. */
const SAMPLES_MIN = 8;
/**
 * The bound grows quickly and shrinks slowly: too small a bound leaves workers idle, too large a one only lets
 * requests wait there.
 */
const GROWTH = 1 / 8;
const DECAY = 1 / 16;
/**
 * A request that takes longer than its worker's performance explains, by this factor, was not in a queue: it simply
 * takes that long.
 */
const UNEXPLAINED = 1.5;
const SPARE_MS = 1_000;

/**
 * Estimates how much work a worker should have at hand. A worker that does one request after the other needs the next
 * one when it is done, and no more: further requests would wait there while another worker may become free. A worker
 * that does many at once needs as many as finish while one is under way. Both equal the work that it serves in the
 * time that a request takes without a queue. That time is learnt here; the bound is twice that time and a second, for
 * reports that arrive late.
 */
export class ServiceEstimate {
  #sampleCount = 0;
  #meanMs = 0;

  /**
   * Learns from a finished request: its duration, the expected duration with all requests before it, and if there
   * were any.
   */
  note({
    tookMs,
    expectedMs,
    isFirst,
  }: {
    readonly tookMs: number;
    readonly expectedMs: number;
    readonly isFirst: boolean;
  }): void {
    if (!isFirst && tookMs <= expectedMs * UNEXPLAINED) return;
    const share = tookMs > this.#meanMs ? GROWTH : DECAY;
    this.#meanMs = this.#sampleCount === 0 ? tookMs : this.#meanMs + (tookMs - this.#meanMs) * share;
    this.#sampleCount += 1;
  }

  /** The longest wait at a worker that still gets requests. */
  waitMsMax(limitMs: number): number {
    if (this.#sampleCount < SAMPLES_MIN) return limitMs;
    return Math.min(limitMs, 2 * this.#meanMs + SPARE_MS);
  }
}
