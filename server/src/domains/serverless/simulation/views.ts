import { formatDollars, mulDivFloor, roundHalfUp, toDollars, type Nanos } from "../../../base/money.ts";
import type { GatheredTrial } from "./service.ts";
import type { SimulatedFigures, SimulateResponse } from "./schema.ts";
import type { TrialFigures, TrialResult } from "./trial.ts";
import type { WorkerModel } from "./types.ts";

const MS_PER_S = 1_000;
/** Amounts are shown to the cent from a dollar on, and below to a hundredth of a cent. */
const CENT = 10_000_000n;
const SMALL = CENT / 100n;
const DOLLAR = 100n * CENT;

export function simulationRecord({ trial, span }: GatheredTrial, result: TrialResult): SimulateResponse {
  return {
    success: true,
    sentence: sentenceOf(result.present, result.proposed),
    ...(span === undefined ? {} : { from: span.fromMs / MS_PER_S, to: span.untilMs / MS_PER_S }),
    decided_every: trial.intervalMs / MS_PER_S,
    worker: workerRecord(trial.model),
    present: figuresRecord(result.present),
    proposed: figuresRecord(result.proposed),
  };
}

/** One sentence that compares the two sets of parameters. */
function sentenceOf(present: TrialFigures, proposed: TrialFigures): string {
  const cost = `The proposed parameters would have cost ${money(proposed.costNanos)} instead of ${money(present.costNanos)}`;
  if (present.requestCount === 0) return `${cost}; no request came.`;
  const late = `${percent(proposed)} of requests instead of ${percent(present)} would have waited longer than a second`;
  return `${cost}, and ${late}.`;
}

function percent({ lateShare }: TrialFigures): string {
  if (lateShare > 0 && lateShare < 0.0001) return "less than 0.01 %";
  return `${Number((100 * lateShare).toFixed(2))} %`;
}

function money(amount: Nanos): string {
  return `$${formatDollars(roundHalfUp(amount, amount < DOLLAR ? SMALL : CENT))}`;
}

function workerRecord(model: WorkerModel): SimulateResponse["worker"] {
  return {
    perf: model.perf,
    price_per_hour: toDollars(model.priceNanosPerHour),
    storage_per_hour: toDollars(model.coldPriceNanosPerHour),
    first_start_s: (model.firstStartsMs[0] ?? 0) / MS_PER_S,
    warm_start_s: (model.warmStartsMs[0] ?? 0) / MS_PER_S,
    parallel_requests: model.parallelCount,
  };
}

function figuresRecord(figures: TrialFigures): SimulatedFigures {
  const { requestCount, waitMs, costNanos } = figures;
  return {
    requests: requestCount,
    unserved: figures.unservedCount,
    late_share: figures.lateShare,
    wait_p50: seconds(waitMs.p50),
    wait_p95: seconds(waitMs.p95),
    wait_p99: seconds(waitMs.p99),
    hot_hours: rounded(figures.hotHours),
    cold_hours: rounded(figures.coldHours),
    cost: toDollars(costNanos),
    cost_per_1000_requests: requestCount === 0 ? null : toDollars(mulDivFloor(costNanos, 1_000n, BigInt(requestCount))),
    workers_max: figures.workerCountMax,
    starts: figures.startCount,
    stops: figures.stopCount,
    flaps: figures.flapCount,
  };
}

function seconds(ms: number): number | null {
  return Number.isFinite(ms) ? Math.round(ms) / MS_PER_S : null;
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}
