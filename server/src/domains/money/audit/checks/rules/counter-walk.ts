import type { AuditedRun, AuditedTerms } from "../../../../rental/instances/index.ts";
import { checkChargeable } from "./run-ends.ts";
import { compare, instant, type Report } from "../../rules/difference.ts";
import type { AuditedInstance, AuditedLine } from "../../../charging/for-audit.ts";

/** What a run counts and is charged for. */
export type CountedComponent = "gpu" | "bwu" | "bwd";
export const COUNTED: readonly CountedComponent[] = ["gpu", "bwu", "bwd"];

type Price = { readonly priceNanos: bigint; readonly discountPpm: number };
/** A part of a counter that costs the same; the last one has no end. */
type Part = Price & { readonly until: bigint | undefined };

/** Up to where the lines of one counter of one run have charged it. */
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

/** What each part of a counter costs: below the mark of past terms these, then what held when the run was over. */
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
    // Something else of the terms changed: a line goes on over that.
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

/** The time that other runs leave to one: from where those before it are charged until the first of those after it began. */
export type RunTime = { readonly from: Date | undefined; readonly until: Date | undefined };

/** The time of each of an instance's runs, by generation. They are in order, and no two of them may be charged at once. */
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

/** The part in which a line that begins at `position` can lie: what costs nothing has no lines, so it is passed over. */
function partOfLine(parts: readonly Part[], position: bigint, line: AuditedLine) {
  let begin = position;
  for (const part of parts) {
    if (part.until !== undefined && part.until <= begin) continue;
    if (part.priceNanos > 0n || line.unitPriceNanos === 0n || part.until === undefined) return { part, begin };
    begin = part.until;
  }
  return undefined;
}

/** Checks the next line of a counter and returns where it leads. */
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
  // A deposit pays at its discount; credit pays the full price, or the discounted one of a deposit that was closed.
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

/** Of two lines that overlap, a later audit may meet only one: so each is held against the runs before and after its own. */
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

/** Checks that the lines of a counter end where it is charged up to; what lies beyond them must have cost nothing. */
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
