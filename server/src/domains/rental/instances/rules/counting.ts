/** The stored counters of one run. */
export type CountedRun = {
  readonly startedAt: Date;
  readonly lastCountedAt: Date;
  readonly meteredFromAt: Date | undefined;
  readonly runningMs: bigint;
  readonly receivedBytes: bigint;
  readonly sentBytes: bigint;
  /** The host's last report, as far as it is possible: a refused part is not accepted in pieces later. */
  readonly heardRunningMs: bigint;
  readonly heardReceivedBytes: bigint;
  readonly heardSentBytes: bigint;
  /** Time up to the last count in which the run could have run and was not reported to have. */
  readonly spareMs: bigint;
  /** Time up to the last count in which the uplink could have carried more bytes than were reported. */
  readonly spareTrafficMs: bigint;
};

/** The counters of a run in a host's report, from its beginning. */
export type Said = {
  readonly runningMs: bigint;
  readonly receivedBytes: bigint;
  readonly sentBytes: bigint;
  /** True when it runs now. */
  readonly isRunning: boolean;
  /** The time of the report. */
  readonly at: Date;
};

/** The bounds of what a run can have counted since its last count. */
export type Allowance = {
  /**
   * The end of the counted part of the previous run: this run began no earlier, however late that run's report came.
   */
  readonly previousEndAt: Date | undefined;
  /** The time at which its host reported that it did not run yet: it began later. */
  readonly notBefore?: Date | undefined;
  /** The charged beginning of the next run: this run goes on being counted up to there only. */
  readonly nextMeteredFromAt: Date | undefined;
  /** The end of its chargeable time, once its end was asked for. */
  readonly chargeableUntilAt?: Date | undefined;
  /**
   * The running time that the server's evidence of its start allows by now; undefined when the host's word is enough.
   */
  readonly countableMs?: bigint | undefined;
  /** Milliseconds in which its machine was in touch and the run not over. */
  readonly coveredMs: number;
  /** The speed of its machine's uplink. */
  readonly receivedBytesPerMs: number;
  readonly sentBytesPerMs: number;
};

/** The longest travel of a report: that much unused time is kept for the next one. */
const SPARE_MS_MAX = 30_000n;
/**
 * The greatest age of a report's bytes: they are sampled up to one heartbeat before it, and a heartbeat is at most this
 * long.
 */
const SPARE_TRAFFIC_MS_MAX = 150_000n;
const ENDLESS_MS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Raises the counters of a run by its host's report. Counters never decrease, and grow only by what is new in the
 * report and possible: not by more time than the machine was in touch, nor more bytes than its uplink carries. A
 * report that comes late, twice or out of order adds nothing.
 */
export function countRun(run: CountedRun, said: Said, allowance: Allowance): CountedRun {
  const isOld = said.runningMs < run.heardRunningMs;
  // For a process that goes on, an equal count is a repeated report, unless it is the first that proves the run.
  const isRepeated = run.meteredFromAt !== undefined && said.isRunning && said.runningMs === run.heardRunningMs;
  const provableMs = (allowance.countableMs ?? ENDLESS_MS) - run.runningMs;
  // When the host's word is used up, further time counts nothing, bytes included.
  const coveredMs = provableMs > 0n ? BigInt(allowance.coveredMs) : 0n;
  // In a time that was not observed as a whole, new use could not be told from late use.
  const passedMs = sinceMs(run.lastCountedAt, said.at);
  const isSeenWhole = coveredMs >= passedMs;
  const roomLeftMs = least(roomMs(run, said.at, allowance), provableMs);
  const possibleMs = least(coveredMs + (isSeenWhole ? run.spareMs : 0n), roomLeftMs);
  const newMs = least(said.runningMs - run.heardRunningMs, possibleMs);
  const runningMs = run.runningMs + newMs;
  // A report that does not move the last count on has been given its time already, or will be: its bytes use spare
  // time.
  const isCount = !isOld && !isRepeated && said.at > run.lastCountedAt;
  const uplinkMs = (isCount ? coveredMs : 0n) + (isSeenWhole ? run.spareTrafficMs : 0n);
  const counted = {
    ...run,
    runningMs,
    heardRunningMs: heardOf(run.heardRunningMs, said.runningMs, sinceMs(run.startedAt, said.at)),
    ...countBytes(run, said, { ...allowance, uplinkMs, passedMs: isOld || isRepeated ? 0n : passedMs }),
  };
  const isProven = said.isRunning || runningMs > 0n;
  const meteredFromAt =
    run.meteredFromAt ?? (isProven ? beginning(run, said.at, { runningMs, ...allowance }) : undefined);
  // A report of the same moment as the last count takes its time from the spare time alone, which shrinks by it.
  if (!isCount) return { ...counted, meteredFromAt, spareMs: run.spareMs - least(newMs - coveredMs, run.spareMs) };
  const unusedMs = possibleMs - newMs;
  const spareMs = unusedMs < SPARE_MS_MAX ? unusedMs : SPARE_MS_MAX;
  return { ...counted, meteredFromAt, spareMs, lastCountedAt: said.at };
}

/**
 * The time at which the process began: its running time before the report, between the previous and the next run. It
 * may be the last of the three runs that is reported.
 */
function beginning(
  run: CountedRun,
  at: Date,
  { runningMs, ...neighbours }: { readonly runningMs: bigint } & Neighbours,
): Date {
  const { nextMeteredFromAt = at, chargeableUntilAt = at } = neighbours;
  const endMs = Math.min(at.getTime(), nextMeteredFromAt.getTime(), chargeableUntilAt.getTime());
  return new Date(Math.max(endMs - Number(runningMs), firstPossible(run, neighbours).getTime()));
}

type Neighbours = Pick<Allowance, "previousEndAt" | "nextMeteredFromAt" | "notBefore" | "chargeableUntilAt">;

/**
 * The earliest time at which the process can have begun: not before its run, even if this server's clock is behind the
 * clock of the server that began it, and not within another run.
 */
function firstPossible({ startedAt }: CountedRun, { previousEndAt, notBefore }: Neighbours): Date {
  const times = [startedAt, previousEndAt ?? startedAt, notBefore ?? startedAt];
  return new Date(Math.max(...times.map((time) => time.getTime())));
}

/** `uplinkMs` is the time in which new bytes can have passed: each byte that counts takes its part of it away. */
function countBytes(
  run: CountedRun,
  said: Said,
  {
    uplinkMs,
    passedMs,
    receivedBytesPerMs,
    sentBytesPerMs,
  }: Allowance & { readonly uplinkMs: bigint; readonly passedMs: bigint },
) {
  const aliveMs = sinceMs(run.startedAt, said.at);
  const carried = (ms: bigint, bytesPerMs: number) => ms * wholeBytes(bytesPerMs);
  const hear = (before: bigint, bytes: bigint, bytesPerMs: number) => {
    const inLife = carried(aliveMs, bytesPerMs);
    // After an uplink was declared slower, earlier counted bytes stay, and counting goes on from there.
    return heardOf(before, bytes, before > inLife ? before + carried(passedMs, bytesPerMs) : inLife);
  };
  const heardReceivedBytes = hear(run.heardReceivedBytes, said.receivedBytes, receivedBytesPerMs);
  const heardSentBytes = hear(run.heardSentBytes, said.sentBytes, sentBytesPerMs);
  // Only possible bytes count as new: a report beyond that would otherwise count as new again in each later report.
  const newReceived = least(heardReceivedBytes - run.heardReceivedBytes, carried(uplinkMs, receivedBytesPerMs));
  const newSent = least(heardSentBytes - run.heardSentBytes, carried(uplinkMs, sentBytesPerMs));
  const usedMs = largest(uplinkTimeMs(newReceived, receivedBytesPerMs), uplinkTimeMs(newSent, sentBytesPerMs));
  // After a time in which the machine was not in touch throughout, earlier spare time is neither used nor kept.
  const unusedMs = least(uplinkMs - usedMs, SPARE_TRAFFIC_MS_MAX);
  return {
    receivedBytes: run.receivedBytes + newReceived,
    sentBytes: run.sentBytes + newSent,
    heardReceivedBytes,
    heardSentBytes,
    spareTrafficMs: unusedMs,
  };
}

function wholeBytes(bytesPerMs: number): bigint {
  return BigInt(Math.ceil(bytesPerMs));
}

/** The time that the uplink takes for these bytes, rounded up, so that spare time is never overestimated. */
function uplinkTimeMs(bytes: bigint, bytesPerMs: number): bigint {
  const perMs = wholeBytes(bytesPerMs);
  return perMs === 0n ? 0n : (bytes + perMs - 1n) / perMs;
}

function largest(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** The reported counter as far as it is new and possible. */
function heardOf(before: bigint, said: bigint, most: bigint): bigint {
  const possible = said < most ? said : most;
  return possible > before ? possible : before;
}

/**
 * The further running time that is possible since its earliest beginning, before the next run began, and before the end
 * that was asked for: spare time of late reports adds nothing beyond that.
 */
function roomMs(run: CountedRun, at: Date, neighbours: Neighbours): bigint {
  const { nextMeteredFromAt, notBefore, chargeableUntilAt } = neighbours;
  const ends = [nextMeteredFromAt, chargeableUntilAt].flatMap((end) => (end === undefined ? [] : [end.getTime()]));
  if (ends.length === 0) {
    return notBefore === undefined || run.meteredFromAt !== undefined
      ? ENDLESS_MS
      : sinceMs(notBefore, at) - run.runningMs;
  }
  const from = run.meteredFromAt ?? firstPossible(run, neighbours);
  return sinceMs(from, new Date(Math.min(...ends))) - run.runningMs;
}

function least(growth: bigint, most: bigint): bigint {
  const possible = growth < most ? growth : most;
  return possible > 0n ? possible : 0n;
}

function sinceMs(from: Date, to: Date): bigint {
  return BigInt(Math.max(0, to.getTime() - from.getTime()));
}
