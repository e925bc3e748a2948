import type { AuditedRun, AuditedTerms } from "../../../../rental/instances/for-audit.ts";
import { checkChargeable } from "./run-ends.ts";
import { compare, instant, type Report } from "../../rules/difference.ts";
import type { AuditedInstance, AuditedLine } from "../../../charging/for-audit.ts";

/** The counters of a run that are charged. */
export type CountedComponent = "gpu" | "bwu" | "bwd";
export const COUNTED: readonly CountedComponent[] = ["gpu", "bwu", "bwd"];

type Price = { readonly priceNanos: bigint; readonly discountPpm: number };
/** A part of a counter at one price; the last part has no end. */
type Part = Price & { readonly until: bigint | undefined };

/** The position up to which charge lines have charged one counter of a run. */
export type CounterPlace = { readonly position: bigint; readonly reachedAt: Date | undefined };

const PRICES = {
  gpu: (terms: AuditedTerms | AuditedInstance): Price => ({
    priceNanos: terms.priceNanosPerHour,
    discountPpm: terms.discountPpm,
  }),
  bwu: (terms: AuditedTerms | AuditedInstance): Price => ({ priceNanos: terms.inetUpNanosPerGb, discountPpm: 0 }),
  bwd: (terms: AuditedTerms | AuditedInstance): Price => ({ priceNanos: terms.inetDownNanosPerGb, discountPpm: 0 }),
} as const;
const MARKS = {
  gpu: (terms: AuditedTerms) => terms.untilRunningMs,
  bwu: (terms: AuditedTerms) => terms.untilSentBytes,
  bwd: (terms: AuditedTerms) => terms.untilReceivedBytes,
} as const;
const CHARGED = {
  gpu: (run: AuditedRun) => [run.chargedRunningMs, run.runningMs] as const,
  bwu: (run: AuditedRun) => [run.chargedSentBytes, run.sentBytes] as const,
  bwd: (run: AuditedRun) => [run.chargedReceivedBytes, run.receivedBytes] as const,
} as const;

/** The parts of a counter with their prices: past terms below their marks, then the terms at the end of the run. */
export function partsOf(
  component: CountedComponent,
  generation: number,
  { past, present }: { readonly past: readonly AuditedTerms[]; readonly present: AuditedInstance },
): readonly Part[] {
  const own = past.filter((terms) => terms.generation === generation);
  const later = past.find((terms) => terms.generation > generation);
  const parts: Part[] = [];
  const add = (part: Part) => {
    const last = parts.at(-1);
    const isSame = last?.priceNanos === part.priceNanos && last.discountPpm === part.discountPpm;
    // Another field of the terms changed: one charge line may cover both parts.
    if (isSame) parts.pop();
    parts.push(part);
  };
  let reached = 0n;
  for (const terms of own) {
    const until = MARKS[component](terms);
    if (until <= reached) continue;
    add({ ...PRICES[component](terms), until });
    reached = until;
  }
  add({ ...PRICES[component](later ?? present), until: undefined });
  return parts;
}

/** The time that other runs leave to one: from the end of the charges before it until the start of the next run. */
export type RunTime = { readonly from: Date | undefined; readonly until: Date | undefined };

/** The time of each run of an instance, by generation. Runs are in order, and no two may be charged for one moment. */
export function timesOf(runs: readonly AuditedRun[]): ReadonlyMap<number, RunTime> {
  const proven = runs.flatMap((run) => (run.meteredFromAt === undefined ? [] : [{ run, beganAt: run.meteredFromAt }]));
  const froms: (Date | undefined)[] = [];
  let from: Date | undefined;
  for (const { run, beganAt } of proven) {
    froms.push(from);
    const endAt = new Date(beganAt.getTime() + Number(run.chargedRunningMs));
    if (from === undefined || endAt > from) from = endAt;
  }
  const times = new Map<number, RunTime>();
  let until: Date | undefined;
  for (const [index, { run, beganAt }] of [...proven.entries()].toReversed()) {
    times.set(run.generation, { from: froms[index], until });
    if (until === undefined || beganAt < until) until = beganAt;
  }
  return times;
}

/** The part that a charge line from `position` on can lie in. Free parts have no charge lines, so they are skipped. */
function partOfLine(parts: readonly Part[], position: bigint, line: AuditedLine) {
  let begin = position;
  for (const part of parts) {
    if (part.until !== undefined && part.until <= begin) continue;
    if (part.priceNanos > 0n || line.unitPriceNanos === 0n || part.until === undefined) return { part, begin };
    begin = part.until;
  }
  return undefined;
}

/** Checks the next charge line of a counter and returns the position that it reaches. */
export function walkLine(
  report: Report,
  place: CounterPlace,
  line: AuditedLine,
  {
    run,
    time,
    parts,
  }: { readonly run: AuditedRun; readonly time: RunTime | undefined; readonly parts: readonly Part[] },
): CounterPlace {
  const found = partOfLine(parts, place.position, line);
  const begin = found?.begin ?? place.position;
  const end = begin + line.quantity;
  if (found !== undefined) checkTerms(report, line, found.part, end);
  checkTime(report, place, line, { run, begin });
  if (line.component === "gpu") {
    checkRunTime(report, line, time);
    checkChargeable(report, line, run);
  }
  return { position: end, reachedAt: line.toAt };
}

function checkTerms(report: Report, line: AuditedLine, part: Part, end: bigint): void {
  compare(report, "terms", "its price is not that of its time", {
    stored: line.unitPriceNanos,
    expected: part.priceNanos,
  });
  // A deposit pays at its discount. Credit pays the full price, or the discounted one after the deposit was closed.
  const isDiscountRight =
    line.discountPpm === part.discountPpm || (line.discountPpm === 0 && line.paidFrom === "credit");
  if (!isDiscountRight) {
    const [stored, expected] = [String(line.discountPpm), String(part.discountPpm)];
    report("terms", { problem: "its discount is not that of its time", stored, expected });
  }
  if (part.until === undefined || end <= part.until) return;
  report("terms", { problem: "it reaches beyond its terms", stored: String(end), expected: `at most ${part.until}` });
}

function checkTime(
  report: Report,
  place: CounterPlace,
  line: AuditedLine,
  { run, begin }: { readonly run: AuditedRun; readonly begin: bigint },
): void {
  const origin = run.meteredFromAt;
  if (origin === undefined) {
    report("intervals", {
      problem: "nobody has proven that it ever ran",
      stored: instant(line.fromAt),
      expected: "no line",
    });
    return;
  }
  if (line.component === "gpu") {
    const [fromMs, toMs] = [origin.getTime() + Number(begin), origin.getTime() + Number(begin + line.quantity)];
    compare(report, "intervals", "it does not begin where the last one ended", {
      stored: instant(line.fromAt),
      expected: instant(new Date(fromMs)),
    });
    compare(report, "intervals", "it does not last as long as it charges", {
      stored: instant(line.toAt),
      expected: instant(new Date(toMs)),
    });
    return;
  }
  const earliest = place.reachedAt ?? origin;
  if (line.fromAt >= earliest) return;
  report("intervals", {
    problem: place.reachedAt === undefined ? "it begins before it ran" : "it begins before the last one ended",
    stored: instant(line.fromAt),
    expected: `from ${instant(earliest)} on`,
  });
}

/**
 * Checks a charge line against the runs before and after its own: of two overlapping lines, an ordinary audit may read
 * only one.
 */
function checkRunTime(report: Report, line: AuditedLine, time: RunTime | undefined): void {
  if (time?.from !== undefined && line.fromAt < time.from) {
    report("intervals", {
      problem: "it begins in time that an earlier run is charged for",
      stored: instant(line.fromAt),
      expected: `from ${instant(time.from)} on`,
    });
  }
  if (time?.until !== undefined && line.toAt > time.until) {
    report("intervals", {
      problem: "it reaches into the time of a later run",
      stored: instant(line.toAt),
      expected: `until ${instant(time.until)}`,
    });
  }
}

/** Checks that the charge lines of a counter reach its charged position; a rest beyond them must have been free. */
export function endWalk(
  report: Report,
  place: CounterPlace,
  component: CountedComponent,
  { run, parts }: { readonly run: AuditedRun; readonly parts: readonly Part[] },
): void {
  const [charged, counted] = CHARGED[component](run);
  if (charged > counted) {
    const [stored, expected] = [String(charged), `at most ${counted}`];
    report("counters", { problem: `charged more ${component} than it counted`, stored, expected });
  }
  let position = place.position;
  for (const part of parts) {
    if (part.priceNanos > 0n) {
      if (part.until === undefined || part.until > position) break;
      continue;
    }
    const end = part.until === undefined || part.until > charged ? charged : part.until;
    if (end > position) position = end;
  }
  compare(report, "counters", `its ${component} lines do not add up to what it was charged for`, {
    stored: charged,
    expected: position,
  });
}
