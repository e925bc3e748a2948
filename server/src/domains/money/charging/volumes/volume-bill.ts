import type { MachineId } from "../../../../base/ids.ts";
import { nanos, ZERO } from "../../../../base/money.ts";
import { certainUntil, joinIntervals } from "../../../supply/hosts/for-charging.ts";
import { coveredParts, type MachineSpans } from "../../../supply/hosts/index.ts";
import type { Terms, TermsHistory } from "../../../rental/instances/for-charging.ts";
import type { BillableVolume } from "../../../supply/volumes/for-charging.ts";
import type { DueLine } from "../lines/lines.ts";
import { storageLines, type StateChange } from "../lines/storage-lines.ts";

export type VolumeBill = {
  readonly lines: readonly DueLine[];
  /** The moment up to which these lines settle the volume. */
  readonly chargedUntilAt: Date;
  /** True when nothing more can become due. */
  readonly isLast: boolean;
};

/**
 * The charge lines of a volume since its last settlement: for the time in which a machine through which it could be
 * reached was in touch, until its owner asked for its end. Only time that cannot change is settled: a machine that is
 * away may turn out to have been in touch.
 */
export function volumeBillOf(
  volume: BillableVolume,
  spans: ReadonlyMap<MachineId, MachineSpans>,
  now: Date,
): VolumeBill {
  const { id, sizeBytes, chargedUntilAt: from, deletingAt, reachedThrough } = volume;
  const machines = reachedThrough.flatMap(({ machineId, since = from }) => {
    const machine = spans.get(machineId);
    return machine === undefined ? [] : [{ ...machine, since: latest(from, since) }];
  });
  const certain = machines.map((machine) =>
    latest(certainUntil(machine.spans, machine.lastSeenAt, now), machine.since),
  );
  const until = earliest([now, ...certain, ...(deletingAt === undefined ? [] : [deletingAt])]);
  const chargedUntilAt = until > from ? until : from;
  const covered = joinIntervals(
    machines.flatMap(({ spans: own, lastSeenAt, since }) =>
      since < chargedUntilAt ? coveredParts(own, lastSeenAt, { from: since, to: chargedUntilAt }) : [],
    ),
  );
  const stored = { name: `volume:${id}`, sizeBytes, history: historyOf(volume), changes: [STORED] };
  const { lines } = storageLines(stored, from, covered);
  return { lines, chargedUntilAt, isLast: deletingAt !== undefined && chargedUntilAt >= deletingAt };
}

/** The one state of a volume. */
const STORED: StateChange = { at: new Date(0), state: "stored", cause: "rented" };

function historyOf({ priceNanosPerGbMonth }: BillableVolume): TermsHistory {
  const present: Terms = {
    priceNanosPerHour: ZERO,
    storageNanosPerGbMonth: nanos(priceNanosPerGbMonth),
    inetUpNanosPerGb: ZERO,
    inetDownNanosPerGb: ZERO,
    discountPpm: 0,
  };
  return { past: [], present };
}

function latest(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function earliest(times: readonly Date[]): Date {
  return new Date(Math.min(...times.map((time) => time.getTime())));
}
