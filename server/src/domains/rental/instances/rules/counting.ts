/** What one run has counted, as it is stored. */
export type CountedRun = {
  readonly startedAt: Date;
  readonly lastCountedAt: Date;
  readonly meteredFromAt: Date | undefined;
  readonly runningMs: bigint;
  readonly receivedBytes: bigint;
  readonly sentBytes: bigint;
  /** What its host said last, as far as that can be: what was refused once is not taken in pieces later. */
  readonly heardRunningMs: bigint;
  readonly heardReceivedBytes: bigint;
  readonly heardSentBytes: bigint;
  /** Time up to the last count in which it could have run and was not said to have. */
  readonly spareMs: bigint;
  /** Time up to the last count in which its line could have carried bytes that were not said to have passed. */
  readonly spareTrafficMs: bigint;
};

/** What a host says that a run has counted, from its beginning. */
export type Said = {
  readonly runningMs: bigint;
  readonly receivedBytes: bigint;
  readonly sentBytes: bigint;
  /** Whether it runs now. */
  readonly isRunning: boolean;
  /** When that was heard. */
  readonly at: Date;
};

/** What a run can have counted since its last count. */
export type Allowance = {
  /** Up to where the run before it is counted: it began no earlier, however late the report about that one was. */
  readonly previousEndAt: Date | undefined;
  /** It cannot have begun before this: its host said that it did not run yet. */
  readonly notBefore?: Date | undefined;
  /** When the one after it began, as that one is charged: up to there alone it goes on being counted. */
  readonly nextMeteredFromAt: Date | undefined;
  /** Until when it may cost its renter anything, once somebody asked for its end. */
  readonly chargeableUntilAt?: Date | undefined;
  /** How long it may have run in all by now, with what the server knows of its start; undefined where the host's word is enough. */
  readonly countableMs?: bigint | undefined;
  /** How long its machine was in touch, and the run not over. */
  readonly coveredMs: number;
  /** What its machine's line carries. */
  readonly receivedBytesPerMs: number;
  readonly sentBytesPerMs: number;
};

/** How long a report may have been on its way: so much of the time that was not used is kept for the next one. */
const SPARE_MS_MAX = 30_000n;
/** How old the bytes of a report may be: they are sampled up to one heartbeat before it, and a heartbeat is at most this long. */
const SPARE_TRAFFIC_MS_MAX = 150_000n;
const ENDLESS_MS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Raises what a run has counted by what its host says. Counters never go back, and grow by what is new in the report and
 * by nothing that cannot be: not by more time than the machine was in touch, nor more bytes than its line carries. A
 * report that comes late, twice or out of order says nothing new.
 */
export function countRun(run: CountedRun, said: Said, allowance: Allowance): CountedRun {
  const isOld = said.runningMs < run.heardRunningMs;
  // Of a process that goes on, the same count again is the same report again, unless it is the first that proves it.
  const isRepeated = run.meteredFromAt !== undefined && said.isRunning && said.runningMs === run.heardRunningMs;
  const provableMs = (allowance.countableMs ?? ENDLESS_MS) - run.runningMs;
  // Where the host's word is used up, the time that passes counts nothing, bytes included.
  const coveredMs = provableMs > 0n ? BigInt(allowance.coveredMs) : 0n;
  // Of a time that nobody saw whole, what is new would pass for what is late.
  const passedMs = sinceMs(run.lastCountedAt, said.at);
  const isSeenWhole = coveredMs >= passedMs;
  const roomLeftMs = least(roomMs(run, said.at, allowance), provableMs);
  const possibleMs = least(coveredMs + (isSeenWhole ? run.spareMs : 0n), roomLeftMs);
  const newMs = least(said.runningMs - run.heardRunningMs, possibleMs);
  const runningMs = run.runningMs + newMs;
  // What does not move the last count on has been given the time since it already, or will be: its bytes are spare ones.
  const isCount = !isOld && !isRepeated && said.at > run.lastCountedAt;
  const lineMs = (isCount ? coveredMs : 0n) + (isSeenWhole ? run.spareTrafficMs : 0n);
  const counted = {
    ...run,
    runningMs,
    heardRunningMs: heardOf(run.heardRunningMs, said.runningMs, sinceMs(run.startedAt, said.at)),
    ...countBytes(run, said, { ...allowance, lineMs, passedMs: isOld || isRepeated ? 0n : passedMs }),
  };
  const isProven = said.isRunning || runningMs > 0n;
  const meteredFromAt =
    run.meteredFromAt ?? (isProven ? beginning(run, said.at, { runningMs, ...allowance }) : undefined);
  // What comes in the moment of the last count has its time from the spare alone, of which it leaves so much less.
  if (!isCount) return { ...counted, meteredFromAt, spareMs: run.spareMs - least(newMs - coveredMs, run.spareMs) };
  const unusedMs = possibleMs - newMs;
  const spareMs = unusedMs < SPARE_MS_MAX ? unusedMs : SPARE_MS_MAX;
  return { ...counted, meteredFromAt, spareMs, lastCountedAt: said.at };
}

/**
 * When the process began: so long before it was heard of as it has run, between the run before it and the one after it. It
 * may be the last of the three that anybody hears of.
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

/** Not before its run, even if this server's clock is behind that of the one which began it, nor in the time of another. */
function firstPossible({ startedAt }: CountedRun, { previousEndAt, notBefore }: Neighbours): Date {
  const times = [startedAt, previousEndAt ?? startedAt, notBefore ?? startedAt];
  return new Date(Math.max(...times.map((time) => time.getTime())));
}

/** `lineMs` is the time in which new bytes can have passed: each byte that counts takes its part of it away. */
function countBytes(
  run: CountedRun,
  said: Said,
  {
    lineMs,
    passedMs,
    receivedBytesPerMs,
    sentBytesPerMs,
  }: Allowance & { readonly lineMs: bigint; readonly passedMs: bigint },
) {
  const aliveMs = sinceMs(run.startedAt, said.at);
  const carried = (ms: bigint, bytesPerMs: number) => ms * wholeBytes(bytesPerMs);
  const hear = (before: bigint, bytes: bigint, bytesPerMs: number) => {
    const inLife = carried(aliveMs, bytesPerMs);
    // A line that was measured slower since then has carried what was heard all the same, and goes on from there.
    return heardOf(before, bytes, before > inLife ? before + carried(passedMs, bytesPerMs) : inLife);
  };
  const heardReceivedBytes = hear(run.heardReceivedBytes, said.receivedBytes, receivedBytesPerMs);
  const heardSentBytes = hear(run.heardSentBytes, said.sentBytes, sentBytesPerMs);
  // New is only what can be: what is said beyond that would be as new again in the next report, and in each after it.
  const newReceived = least(heardReceivedBytes - run.heardReceivedBytes, carried(lineMs, receivedBytesPerMs));
  const newSent = least(heardSentBytes - run.heardSentBytes, carried(lineMs, sentBytesPerMs));
  const usedMs = largest(lineTimeMs(newReceived, receivedBytesPerMs), lineTimeMs(newSent, sentBytesPerMs));
  // Where nobody saw the machine all the time, nothing that was spare before is used, and nothing of it is left.
  const unusedMs = least(lineMs - usedMs, SPARE_TRAFFIC_MS_MAX);
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

/** How long the line takes for so many bytes, rounded up: what was spare is never more than that. */
function lineTimeMs(bytes: bigint, bytesPerMs: number): bigint {
  const perMs = wholeBytes(bytesPerMs);
  return perMs === 0n ? 0n : (bytes + perMs - 1n) / perMs;
}

function largest(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** What was said becomes what was heard, unless it was said before or cannot be. */
function heardOf(before: bigint, said: bigint, most: bigint): bigint {
  const possible = said < most ? said : most;
  return possible > before ? possible : before;
}

/**
 * How much more it can have counted since it can have begun, before the next one began, and before the end that somebody
 * asked for: spare time of reports that are late adds nothing beyond that.
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
