import type { Interval } from "../../../supply/hosts/for-charging.ts";
import { periodsOf, type TermsHistory } from "../../../rental/instances/for-charging.ts";
import { daysOf } from "../rules/days.ts";
import type { DueLine, LineState } from "./lines.ts";

/** The state of an instance from a moment on, and the cause of the change; `over` once its data is gone. */
export type StateChange = { readonly at: Date; readonly state: LineState | "over"; readonly cause: string };

export type Stored = {
  /** `disk:71` for an instance, `volume:5` for a volume; the beginning of the lines' keys. */
  readonly name: string;
  readonly sizeBytes: bigint;
  readonly history: TermsHistory;
  /** Changes in order; the first holds from before the first charge. */
  readonly changes: readonly StateChange[];
};

export type StorageLines = {
  readonly lines: readonly DueLine[];
  /**
   * The moment up to which storage is settled: the end of the covered time. A host that is back soon enough may still
   * prove that it was in touch later, so time beyond it is only postponed.
   */
  readonly untilAt: Date;
};

/**
 * Charge lines for storage within these intervals, in which the machine was in touch, by state, price and UTC day. Free
 * storage makes no charge line.
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
 * Divides an interval at the state changes within it. A change may be dated before the one ahead of it, since its
 * transaction waited; it then holds from its own date on, and the one ahead of it ends there, so that no time belongs
 * to two states. The first holds from before the interval, even if its date is later.
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
