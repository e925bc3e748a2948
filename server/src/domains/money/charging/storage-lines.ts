import type { Interval } from "../../supply/hosts/index.ts";
import { periodsOf, type TermsHistory } from "../../rental/instances/index.ts";
import { daysOf } from "./rules/days.ts";
import type { DueLine, LineState } from "./lines.ts";

/** From when on an instance was doing what, and what had brought it there; `over` once nothing is stored any more. */
export type StateChange = { readonly at: Date; readonly state: LineState | "over"; readonly cause: string };

export type Stored = {
  /** `disk:71` for an instance, `volume:5` for a volume: keys begin with it. */
  readonly name: string;
  readonly sizeBytes: bigint;
  readonly history: TermsHistory;
  /** In order; the first holds from before anything is charged. */
  readonly changes: readonly StateChange[];
};

export type StorageLines = {
  readonly lines: readonly DueLine[];
  /**
   * Up to where storage is settled now: the end of what is covered. Beyond it a host may still prove, when it is back
   * soon enough, that it was in touch; so nothing is passed over for good.
   */
  readonly untilAt: Date;
};

/**
 * What storing cost in these parts of time, in which the machine was in touch: by what the instance was doing, by price
 * and by day (UTC). What costs nothing makes no line.
 */
export function storageLines(stored: Stored, fromAt: Date, covered: readonly Interval[]): StorageLines {
  const lines: DueLine[] = [];
  let untilAt = fromAt;
  for (const part of covered) {
    for (const piece of statesOf(stored.changes, part)) {
      if (piece.state === "over") continue;
      const { state, cause } = piece;
      for (const { from, to, terms } of periodsOf(stored.history, piece)) {
        untilAt = to;
        const unitPriceNanos = terms.storageNanosPerGbMonth;
        if (unitPriceNanos === 0n) continue;
        for (const [fromMs, toMs] of daysOf(from.getTime(), to.getTime())) {
          lines.push({
            component: "disk",
            generation: undefined,
            state,
            cause,
            fromMs,
            toMs,
            quantity: BigInt(toMs - fromMs),
            sizeBytes: stored.sizeBytes,
            unitPriceNanos,
            discountPpm: 0,
            paidFrom: "credit",
            key: `${stored.name}:${fromMs}-${toMs}`,
          });
        }
      }
    }
  }
  return { lines, untilAt };
}

/**
 * Divides a stretch of time by what happened in it. A change may say that it came earlier than the one before it, since
 * its transaction waited: from there on it holds, and no time belongs to two of them. The first holds from before, whatever
 * clock it was noted by.
 */
function statesOf(changes: readonly StateChange[], { from, to }: Interval): readonly (Interval & StateChange)[] {
  const pieces: (Interval & StateChange)[] = [];
  let end = to;
  for (const change of changes.toReversed()) {
    const begin = change.at > from && change !== changes[0] ? change.at : from;
    if (begin < end) pieces.push({ ...change, from: begin, to: end });
    if (change.at < end) end = change.at;
  }
  return pieces.toReversed();
}
