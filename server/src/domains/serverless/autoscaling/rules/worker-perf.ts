import type { OfferView, WorkerView } from "./types.ts";

/** A claim that differs from the measurement by more than this factor is not believed. */
const CONTRADICTION = 1.5;

/** The performance of a worker in units a second: its claim, unless the measurement contradicts it. */
export function measuredPerf({
  claimedPerf,
  observedPerf,
}: Pick<WorkerView, "claimedPerf" | "observedPerf">): number | undefined {
  const claimed = positive(claimedPerf);
  const observed = positive(observedPerf);
  if (claimed === undefined || observed === undefined) return claimed ?? observed;
  const contradicts = claimed > observed * CONTRADICTION || observed > claimed * CONTRADICTION;
  return contradicts ? observed : claimed;
}

/** The expected performance of workers and offers; undefined until any worker was measured. */
export type PerfBook = {
  readonly ofWorker: (worker: WorkerView) => number | undefined;
  readonly ofOffer: (offer: OfferView) => number | undefined;
};

/**
 * Estimates unmeasured workers and offers by their `dlperf`, in the ratio of the measured workers of the group, or of
 * all.
 */
export function readPerfs(workers: readonly WorkerView[]): PerfBook {
  const ratios = new Map<number, number[]>();
  const all: number[] = [];
  for (const worker of workers) {
    const measured = measuredPerf(worker);
    if (measured === undefined || worker.dlperf <= 0) continue;
    const ratio = measured / worker.dlperf;
    all.push(ratio);
    ratios.set(worker.groupId, [...(ratios.get(worker.groupId) ?? []), ratio]);
  }
  const ofAny = median(all);
  const ofGroup = new Map([...ratios].map(([groupId, values]) => [groupId, median(values)]));
  const expect = (groupId: number, dlperf: number): number | undefined => {
    const ratio = ofGroup.get(groupId) ?? ofAny;
    return ratio === undefined ? undefined : positive(ratio * dlperf);
  };
  return {
    ofWorker: (worker) => measuredPerf(worker) ?? expect(worker.groupId, worker.dlperf),
    ofOffer: (offer) => expect(offer.groupId, offer.dlperf),
  };
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}
