import type { Arrival, WorkerModel } from "../../../server/src/domains/serverless/simulation/types.ts";

const LATE_MS = 1_000;
const MS_PER_HOUR = 3_600_000;
/** The part of the requests that may be late. */
const LATE_PART = 0.0099;
/** The search ends after so many replays. */
const REPLAYS_MAX = 2_000;

export type Clairvoyant = {
  readonly gpuHours: number;
  readonly lateShare: number;
  readonly p99WaitMs: number;
  /** The GPU hours of the work itself on workers that are full all the time: no plan takes fewer. */
  readonly workGpuHours: number;
};

/** One time in which a worker is ready; requests of it may run over its end. */
type Stretch = { readonly worker: number; fromMs: number; toMs: number };

/**
 * A plan made with every request and every start known beforehand, by a greedy search: it is a plan that works, found to be
 * cheap, and not proved to be the cheapest. First all requests are packed on as few workers as serve each at once; a
 * worker stays up through gaps that are shorter than a start costs. Then stretches are cut, shortened from either end, or
 * left out, the costliest per request first, as long as fewer than one in a hundred is late. Every plan is judged by a
 * replay with one queue for all workers, which no router can better.
 */
export function planClairvoyantly(
  arrivals: readonly Arrival[],
  { model, countedFromMs }: { readonly model: WorkerModel; readonly countedFromMs: number },
): Clairvoyant {
  const counted = arrivals.filter(({ atMs }) => atMs >= countedFromMs);
  const [firstMs, lastMs] = [countedFromMs, counted.at(-1)?.atMs ?? countedFromMs];
  const startMs = model.warmStartsMs.reduce((sum, each) => sum + each, 0) / Math.max(1, model.warmStartsMs.length);
  const judge = (stretches: readonly Stretch[]) => replay(counted, stretches, { model, startMs, firstMs, lastMs });
  let left = REPLAYS_MAX;
  let plan = packed(counted, model, startMs);
  let best = judge(plan);
  for (const cut of [1, 0.5, 0.25, 0.1]) {
    const order = plan
      .map((stretch, index) => ({
        stretch,
        worth: (best.servedBy[index] ?? 0) / (stretch.toMs - stretch.fromMs + startMs),
      }))
      .toSorted((a, b) => a.worth - b.worth);
    for (const { stretch } of order) {
      for (const side of cut === 1 ? (["all"] as const) : (["head", "tail", "head", "tail"] as const)) {
        const index = plan.indexOf(stretch);
        if (index === -1 || left === 0) break;
        left -= 1;
        const shorter = shorten(stretch, side, cut);
        const candidate = shorter === undefined ? plan.toSpliced(index, 1) : plan.with(index, shorter);
        const judged = judge(candidate);
        if (judged.lateShare > LATE_PART || judged.costMs >= best.costMs) continue;
        [plan, best] = [candidate, judged];
        break;
      }
    }
  }
  const workMs = counted.reduce((sum, { load }) => sum + (load / model.perf) * 1_000, 0);
  return {
    gpuHours: best.costMs / MS_PER_HOUR,
    lateShare: best.lateShare,
    p99WaitMs: best.p99WaitMs,
    workGpuHours: workMs / MS_PER_HOUR,
  };
}

function shorten({ worker, fromMs, toMs }: Stretch, side: "all" | "head" | "tail", cut: number): Stretch | undefined {
  const byMs = (toMs - fromMs) * cut;
  if (side === "all" || byMs >= toMs - fromMs) return undefined;
  return side === "head" ? { worker, fromMs: fromMs + byMs, toMs } : { worker, fromMs, toMs: toMs - byMs };
}

/** Every request begins at once at the first worker that has room; a worker's times with work, gaps closed, are stretches. */
function packed(arrivals: readonly Arrival[], model: WorkerModel, startMs: number): readonly Stretch[] {
  const freeAtMs: number[] = [];
  const stretches: Stretch[] = [];
  const lastOf: Stretch[] = [];
  for (const { atMs, load } of arrivals) {
    let place = freeAtMs.findIndex((freeMs) => freeMs <= atMs);
    if (place === -1) place = freeAtMs.length;
    const worker = Math.floor(place / model.parallelCount);
    freeAtMs[place] = atMs + tookMs(load, model);
    const last = lastOf[worker];
    if (last === undefined || atMs - last.toMs > startMs) {
      const stretch = { worker, fromMs: atMs, toMs: freeAtMs[place] ?? atMs };
      lastOf[worker] = stretch;
      stretches.push(stretch);
    } else last.toMs = Math.max(last.toMs, freeAtMs[place] ?? atMs);
  }
  return stretches;
}

function tookMs(load: number, { perf, parallelCount }: WorkerModel): number {
  return (load / (perf / parallelCount)) * 1_000;
}

type Judged = {
  readonly costMs: number;
  readonly lateShare: number;
  readonly p99WaitMs: number;
  readonly servedBy: readonly number[];
};

/** First come, first served, each at the place that is free first; among several, at the one that is ready for longest. */
function replay(
  arrivals: readonly Arrival[],
  stretches: readonly Stretch[],
  {
    model,
    startMs,
    firstMs,
    lastMs,
  }: { readonly model: WorkerModel; readonly startMs: number; readonly firstMs: number; readonly lastMs: number },
): Judged {
  const order = stretches.map((_, index) => index).toSorted((a, b) => fromOf(stretches, a) - fromOf(stretches, b));
  const open: { index: number; freeAtMs: number; untilMs: number }[] = [];
  const endMs = stretches.map(({ toMs }) => toMs);
  const servedBy = stretches.map(() => 0);
  const waits = new Float64Array(arrivals.length);
  let next = 0;
  let late = 0;
  for (let request = 0; request < arrivals.length; request += 1) {
    const { atMs, load } = arrivals[request]!;
    let best = -1;
    let bestMs = Infinity;
    for (;;) {
      for (let place = open.length - 1; place >= 0; place -= 1) {
        const each = open[place]!;
        const beginMs = Math.max(each.freeAtMs, atMs);
        if (beginMs > each.untilMs) {
          open[place] = open[open.length - 1]!;
          open.pop();
          if (best === open.length) best = place;
        } else if (beginMs < bestMs || (beginMs === bestMs && each.untilMs > (open[best]?.untilMs ?? 0))) {
          [best, bestMs] = [place, beginMs];
        }
      }
      const upcoming = order[next];
      if (upcoming === undefined || fromOf(stretches, upcoming) >= bestMs) break;
      const { fromMs, toMs } = stretches[upcoming]!;
      for (let slot = 0; slot < model.parallelCount; slot += 1)
        open.push({ index: upcoming, freeAtMs: fromMs, untilMs: toMs });
      next += 1;
      [best, bestMs] = [-1, Infinity];
    }
    const place = open[best];
    waits[request] = bestMs - atMs;
    if (bestMs - atMs > LATE_MS) late += 1;
    if (place === undefined) continue;
    place.freeAtMs = bestMs + tookMs(load, model);
    endMs[place.index] = Math.max(endMs[place.index] ?? 0, place.freeAtMs);
    servedBy[place.index] = (servedBy[place.index] ?? 0) + 1;
  }
  const costMs = stretches.reduce((sum, { fromMs }, index) => {
    const paidFromMs = Math.max(firstMs, fromMs - startMs);
    return sum + Math.max(0, Math.min(lastMs, endMs[index] ?? 0) - paidFromMs);
  }, 0);
  const sorted = waits.toSorted();
  const p99WaitMs = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  return { costMs, lateShare: late / Math.max(1, arrivals.length), p99WaitMs, servedBy };
}

function fromOf(stretches: readonly Stretch[], index: number): number {
  return stretches[index]?.fromMs ?? Infinity;
}
