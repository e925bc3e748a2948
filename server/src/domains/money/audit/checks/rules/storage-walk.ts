import type { AuditedMachine } from "../../../../supply/hosts/for-audit.ts";
import { compare, instant, type Report } from "../../rules/difference.ts";
import type { AuditedLine } from "../../../charging/for-audit.ts";

type State = AuditedLine["state"];

/** Stored data, with all facts that decide its price. Lists are in order; the last entry of each has no end. */
export type Storage = {
  readonly sizeBytes: bigint;
  readonly meteredFromAt: Date | undefined;
  readonly chargedUntilAt: Date | undefined;
  /**
   * The states, each from a moment on; `over` once the data was given up. Empty when one state held from the beginning.
   */
  readonly states: readonly { readonly at: Date; readonly state: State | "over" }[];
  readonly prices: readonly { readonly untilAt: Date | undefined; readonly priceNanos: bigint }[];
  /** The machine that holds the data; undefined when no single one does, since the times of its mounts are not kept. */
  readonly machine: AuditedMachine | undefined;
};

export type StoragePlace = {
  /** The moment up to which charge lines were checked; undefined before the first. */
  readonly reachedAt: Date | undefined;
  readonly quantityMs: bigint;
};

/** Time with one state and one price in which the machine was in touch. */
type Piece = { readonly fromMs: number; readonly toMs: number; readonly state: State; readonly priceNanos: bigint };

/**
 * All pieces with a price, from `from` up to the charged moment: the charge lines as they follow from the facts alone.
 */
export function piecesOf(storage: Storage, from: Date): readonly Piece[] {
  const { meteredFromAt, chargedUntilAt, machine, states, prices } = storage;
  if (meteredFromAt === undefined || chargedUntilAt === undefined) return [];
  const beginMs = Math.max(from.getTime(), meteredFromAt.getTime());
  const endMs = chargedUntilAt.getTime();
  const spans = machine === undefined ? [[beginMs, endMs] as const] : spansOf(machine);
  // All moments at which something changes: between two neighbours everything is constant.
  const marks = [beginMs, endMs, ...spans.flat(), ...states.map(({ at: time }) => time.getTime())];
  for (const { untilAt } of prices) if (untilAt !== undefined) marks.push(untilAt.getTime());
  const cuts = [...new Set(marks)].filter((ms) => ms >= beginMs && ms <= endMs).toSorted((a, b) => a - b);
  const pieces: Piece[] = [];
  let span = 0;
  for (const [index, fromMs] of cuts.entries()) {
    const toMs = cuts[index + 1];
    while ((spans[span]?.[1] ?? Infinity) <= fromMs) span += 1;
    const [start = Infinity, end = Infinity] = spans[span] ?? [];
    if (toMs === undefined || fromMs < start || toMs > end) continue;
    const state = stateAt(states, fromMs);
    const priceNanos = priceAt(prices, fromMs);
    if (state === "over" || priceNanos === 0n) continue;
    const last = pieces.at(-1);
    const isSame = last?.toMs === fromMs && last.state === state && last.priceNanos === priceNanos;
    if (last !== undefined && isSame) pieces[pieces.length - 1] = { ...last, toMs };
    else pieces.push({ fromMs, toMs, state, priceNanos });
  }
  return pieces;
}

function spansOf({ spans }: AuditedMachine): readonly (readonly [number, number])[] {
  const joined: [number, number][] = [];
  for (const { fromAt, untilAt } of spans) {
    const last = joined.at(-1);
    const [fromMs, untilMs] = [fromAt.getTime(), untilAt.getTime()];
    if (last !== undefined && fromMs <= last[1]) last[1] = Math.max(last[1], untilMs);
    else joined.push([fromMs, untilMs]);
  }
  return joined;
}

function stateAt(states: Storage["states"], ms: number): State | "over" {
  return (states.findLast(({ at: time }) => time.getTime() <= ms) ?? states[0])?.state ?? "stored";
}

function priceAt(prices: Storage["prices"], ms: number): bigint {
  const found = prices.find(({ untilAt }) => untilAt === undefined || untilAt.getTime() > ms);
  return found?.priceNanos ?? 0n;
}

/** Checks the next charge line of stored data and returns the place that it reaches. */
export function walkStorageLine(
  report: Report,
  place: StoragePlace,
  line: AuditedLine,
  { storage, pieces }: { readonly storage: Storage; readonly pieces: readonly Piece[] },
): StoragePlace {
  const [fromMs, toMs] = [line.fromAt.getTime(), line.toAt.getTime()];
  const earliest = place.reachedAt ?? storage.meteredFromAt;
  if (earliest === undefined || line.fromAt < earliest) {
    report("intervals", {
      problem: place.reachedAt === undefined ? "it begins before it ran" : "it begins before the last one ended",
      stored: instant(line.fromAt),
      expected: earliest === undefined ? "no line" : `from ${instant(earliest)} on`,
    });
  }
  compare(report, "intervals", "it does not last as long as it charges", {
    stored: line.quantity,
    expected: BigInt(toMs - fromMs),
  });
  compare(report, "terms", "its size is not that of what is stored", {
    stored: line.sizeBytes ?? 0n,
    expected: storage.sizeBytes,
  });
  checkPiece(report, line, pieces);
  return { reachedAt: line.toAt, quantityMs: place.quantityMs + line.quantity };
}

function checkPiece(report: Report, line: AuditedLine, pieces: readonly Piece[]): void {
  const [fromMs, toMs] = [line.fromAt.getTime(), line.toAt.getTime()];
  // Finds the first piece that ends after the line begins, by bisection: pieces are in order, and there may be
  // thousands.
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.toMs ?? 0) <= fromMs) low = middle + 1;
    else high = middle;
  }
  const piece = pieces[low];
  if (piece === undefined || piece.fromMs > fromMs || piece.toMs < toMs) {
    const found =
      piece === undefined ? "nothing" : `${instant(new Date(piece.fromMs))} to ${instant(new Date(piece.toMs))}`;
    report("coverage", {
      problem: "it charges for time that does not cost this",
      stored: `${instant(line.fromAt)} to ${instant(line.toAt)}`,
      expected: found,
    });
    return;
  }
  compare(report, "coverage", "it names another state than the instance was in", {
    stored: line.state,
    expected: piece.state,
  });
  compare(report, "terms", "its price is not that of its time", {
    stored: line.unitPriceNanos,
    expected: piece.priceNanos,
  });
}

/**
 * Checks that the charge lines cover all time with a price, up to the charged moment. For data that no single machine
 * holds this is unknown: the checks of each line ensure that none charges too much.
 */
export function endStorageWalk(
  report: Report,
  place: StoragePlace,
  { storage, pieces }: { readonly storage: Storage; readonly pieces: readonly Piece[] },
): void {
  if (storage.machine === undefined) return;
  const dueMs = pieces.reduce((sum, { fromMs, toMs }) => sum + BigInt(toMs - fromMs), 0n);
  compare(report, "coverage", "its lines do not add up to the time that it was charged for", {
    stored: place.quantityMs,
    expected: dueMs,
  });
}
