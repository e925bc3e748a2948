/** So many requests are looked at before what was learnt counts. */
const SAMPLES_MIN = 8;
/** Grows quickly, shrinks slowly: a bound that is too small leaves workers idle, one too large only lets requests wait there. */
const GROWTH = 1 / 8;
const DECAY = 1 / 16;
/** A request that takes longer than its worker's speed explains was not in a queue: it simply takes so long. */
const UNEXPLAINED = 1.5;
const SPARE_MS = 1_000;

/**
 * How much work a worker should have at hand. A worker that does one thing after the other needs the next request when
 * it is done, and no more: what else it is given would wait there, while another worker may become free. One that does many
 * at once needs as many as finish while one is under way. Both is what it serves in the time that a request takes without
 * a queue, which is learnt here; twice that and a second, for what is known late.
 */
export class ServiceEstimate {
  private sampleCount = 0;
  private meanMs = 0;

  /** A request is done: it took so long, was expected to take so long with all before it, or there was nothing before it. */
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
    const share = tookMs > this.meanMs ? GROWTH : DECAY;
    this.meanMs = this.sampleCount === 0 ? tookMs : this.meanMs + (tookMs - this.meanMs) * share;
    this.sampleCount += 1;
  }

  /** The longest wait at a worker that still gets requests. */
  waitMsMax(limitMs: number): number {
    if (this.sampleCount < SAMPLES_MIN) return limitMs;
    return Math.min(limitMs, 2 * this.meanMs + SPARE_MS);
  }
}
