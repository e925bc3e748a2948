// How well the autoscaler follows real traffic: compared with Knative, a queue-delay rule and a clairvoyant plan.
import { parseArgs } from "node:util";
import { invariant } from "../server/src/base/invariant.ts";
import { nanos, NANOS_PER_DOLLAR } from "../server/src/base/money.ts";
import { decide } from "../server/src/domains/serverless/autoscaling/rules/decide.ts";
import { DEFAULT_PARAMETERS } from "../server/src/domains/serverless/endpoints/rules/parameters.ts";
import { simulateTraffic } from "../server/src/domains/serverless/simulation/simulate-traffic.ts";
import type { Policy, TrafficResult, WorkerModel } from "../server/src/domains/serverless/simulation/types.ts";
import { planClairvoyantly, type Clairvoyant } from "./support/autoscale/clairvoyant.ts";
import { cheapestAt, knownRules, promptestAt, type Point } from "./support/autoscale/frontier.ts";
import { scaleTo } from "./support/autoscale/knative.ts";
import {
  madeStartTimes,
  madeTrace,
  readStartTimes,
  readTraces,
  type TrafficTrace,
} from "./support/autoscale/traces.ts";
import { rounded, table } from "./support/figures.ts";

const MADE_SECONDS = 3_600;
const MS_PER_S = 1_000;
/** Requests that take long by themselves are not to be taken for a queue. */
const QUEUE_TIME_S = 600;
const LATE_AIM = 0.01;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string" },
      perf: { type: "string", default: "400" },
      parallel: { type: "string", default: "1" },
      workers: { type: "string", default: "40" },
      "warm-up-s": { type: "string", default: "600" },
      "made-s": { type: "string", default: String(MADE_SECONDS) },
    },
  });
  const [perf, parallel, workers, warmUpS, madeS] = [
    Number(values.perf),
    Number(values.parallel),
    Number(values.workers),
    Number(values["warm-up-s"]),
    Number(values["made-s"]),
  ];
  const made = [madeTrace(madeS), madeTrace(madeS, "unseen")];
  const traces = values.data === undefined ? made : readTraces(values.data);
  const starts = values.data === undefined ? madeStartTimes() : readStartTimes(values.data);
  invariant(traces.length > 0, `no trace lies in ${values.data}`);
  const model: WorkerModel = {
    ...{ perf, parallelCount: parallel, firstStartsMs: starts, warmStartsMs: starts },
    ...{ priceNanosPerHour: nanos(NANOS_PER_DOLLAR), coldPriceNanosPerHour: nanos(0n) },
  };
  console.log(
    `A worker serves ${perf} units/s, ${parallel} requests at a time; ${workers} of them at most, all stopped at first but ` +
      `one. The first ${warmUpS} s are not counted. A request is late that waits for more than a second. The rules were ` +
      "chosen with the parts in view, and without those held out.",
  );
  const summary: (readonly string[])[] = [];
  for (const part of traces.flatMap((trace) => partsOf(trace, warmUpS * MS_PER_S))) {
    const measured = measureAutoscaling(part.trace, { model, workers, warmUpMs: part.countedFromMs });
    console.log(`\n${part.name}: ${rounded(measured.results[0]?.result.requestCount ?? 0)} requests counted`);
    report(measured);
    summary.push([part.name, ...summaryOf(measured)]);
  }
  console.log("\nLate, and GPU-hours as a multiple of the clairvoyant plan's:\n");
  console.log(table([["trace", "Berth", "KPA", "KPA as prompt", "queue delay", "as prompt", "constant"], ...summary]));
}

type Part = { readonly name: string; readonly trace: TrafficTrace; readonly countedFromMs: number };

/**
 * The parts of a trace that are counted: all of it when the rules were chosen without it, else each half, since they were
 * chosen with the first. The second half is replayed after the first, which is not counted.
 */
function partsOf(trace: TrafficTrace, warmUpMs: number): readonly Part[] {
  if (!trace.isLookedAt) return [{ name: `${trace.name}, held out`, trace, countedFromMs: warmUpMs }];
  const middleMs = (trace.arrivals.at(-1)?.atMs ?? 0) / 2;
  const first = { ...trace, arrivals: trace.arrivals.filter(({ atMs }) => atMs < middleMs) };
  return [
    { name: `${trace.name}, 1st half, in view`, trace: first, countedFromMs: Math.min(warmUpMs, middleMs / 2) },
    { name: `${trace.name}, 2nd half, held out`, trace, countedFromMs: middleMs },
  ];
}

type Measured = { readonly name: string; readonly result: TrafficResult };

type Measurement = {
  /** Results of our rule, of the known rules with their defaults, and of a fleet that never changes, in this order. */
  readonly results: readonly Measured[];
  /** Results of the known rules while their own parameters are varied. */
  readonly frontiers: readonly { readonly name: string; readonly points: readonly Point[] }[];
  readonly optimum: Clairvoyant;
};

/** Replays all policies with the same requests, start times and router, and audits each result. */
export function measureAutoscaling(
  { arrivals }: TrafficTrace,
  { model, workers, warmUpMs }: { readonly model: WorkerModel; readonly workers: number; readonly warmUpMs: number },
): Measurement {
  const parameters = {
    ...DEFAULT_PARAMETERS,
    ...{ minLoad: 1, coldWorkers: workers, maxWorkers: workers, maxQueueTimeS: QUEUE_TIME_S },
  };
  const common = { arrivals, model, parameters, intervalMs: MS_PER_S, hotCount: 1, stoppedCount: workers - 1 };
  const measure = (name: string, policy: Policy, isWokenByPressure = false): TrafficResult => {
    const result = simulateTraffic({ ...common, policy, isWokenByPressure, countedFromMs: warmUpMs });
    audit(name, result, workers);
    return result;
  };
  const ours = measure("Berth", (situation) => decide(situation).actions, true);
  const frontiers = knownRules(model.parallelCount).map(({ name, settings }) => ({
    name,
    points: settings.map(({ knob, policy }) => ({ knob, result: measure(`${name}, ${knob}`, policy()) })),
  }));
  const constant = leastConstant((count) => measure("constant", (situation) => scaleTo(situation, count)), workers);
  const defaults = frontiers.flatMap(({ name, points: [first] }) => (first ? [{ name, result: first.result }] : []));
  return {
    results: [
      { name: "Berth", result: ours },
      ...defaults,
      { name: `constant ${constant.count}, known afterwards`, result: constant.result },
    ],
    frontiers,
    optimum: planClairvoyantly(arrivals, { model, countedFromMs: warmUpMs }),
  };
}

/** The fewest workers that never change with which fewer than one in a hundred is late; the most when none suffices. */
function leastConstant(
  resultOf: (count: number) => TrafficResult,
  workers: number,
): { readonly count: number; readonly result: TrafficResult } {
  let [low, high] = [1, workers];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (resultOf(middle).lateShare < LATE_AIM) high = middle;
    else low = middle + 1;
  }
  return { count: low, result: resultOf(low) };
}

function audit(name: string, { servedCounts, workerCountMax }: TrafficResult, workers: number): void {
  const wrong = servedCounts.findIndex((count) => count !== 1);
  invariant(wrong === -1, `${name} served request ${wrong} ${servedCounts[wrong]} times`);
  invariant(workerCountMax <= workers, `${name} had ${workerCountMax} workers, and ${workers} are allowed`);
}

const percent = (share: number) => `${rounded(100 * share, 2)} %`;

function report({ results, frontiers, optimum }: Measurement): void {
  const costOf = (gpuHours: number) => rounded(gpuHours / optimum.gpuHours, 2);
  const rows = results.map(({ name, result }) => [
    name,
    percent(result.lateShare),
    `${rounded(result.waitMs.p99 / MS_PER_S, 2)} s`,
    rounded(result.gpuHours, 2),
    costOf(result.gpuHours),
    rounded(result.flapCount),
    rounded(result.actionCount),
  ]);
  const { lateShare, p99WaitMs, gpuHours, workGpuHours } = optimum;
  const known = ["clairvoyant plan", percent(lateShare), `${rounded(p99WaitMs / MS_PER_S, 2)} s`, rounded(gpuHours, 2)];
  console.log(
    table([
      ["policy", "late", "p99 wait", "GPU-hours", "/ clairvoyant", "flaps", "actions"],
      ...rows,
      [...known, "1.00", "", ""],
      ["bound: work alone", "", "", rounded(workGpuHours, 2), costOf(workGpuHours), "", ""],
    ]),
  );
  const ours = results[0]?.result;
  invariant(ours !== undefined, "our own rules are measured");
  for (const { name, points } of frontiers) {
    const prompt = cheapestAt(ours.lateShare, points);
    const cheap = promptestAt(ours.gpuHours, points);
    const asPrompt =
      prompt === undefined
        ? "cannot be as prompt"
        : `is as prompt at ${costOf(prompt.result.gpuHours)} (${prompt.knob})`;
    const asCheap =
      cheap === undefined ? "cannot be as cheap" : `at our cost ${percent(cheap.result.lateShare)} are late`;
    console.log(`${name} in ${points.length} settings: ${asPrompt}; ${asCheap}${cheap ? ` (${cheap.knob})` : ""}.`);
  }
}

/** Our rule, each known rule as it is and as prompt as ours, and the constant fleet: share of late requests and cost. */
function summaryOf({ results, frontiers, optimum }: Measurement): readonly string[] {
  const costOf = ({ gpuHours }: TrafficResult) => rounded(gpuHours / optimum.gpuHours, 2);
  const bothOf = (result: TrafficResult) => `${percent(result.lateShare)} ${costOf(result)}`;
  const [ours, ...others] = results.map(({ result }) => result);
  invariant(ours !== undefined, "our own rules are measured");
  const ruled = frontiers.flatMap(({ points }, index) => {
    const prompt = cheapestAt(ours.lateShare, points);
    const asItIs = others[index];
    return [asItIs === undefined ? "" : bothOf(asItIs), prompt === undefined ? "cannot" : costOf(prompt.result)];
  });
  const constant = others.at(-1);
  return [bothOf(ours), ...ruled, constant === undefined ? "" : bothOf(constant)];
}
