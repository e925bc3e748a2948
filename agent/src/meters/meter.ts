import type { ObservedInstance } from "../wire/messages.ts";
import type { Traffic } from "../engine/engine.ts";

export type Counters = ObservedInstance["counters"];

/**
 * Counters of one generation of one instance. A generation is one run, but a container can be started again within it
 * (after a lost lease, or by hand), and then its engine counts from zero: what earlier runs counted is `carried`. Two
 * runs never count at once: a sample of an older run than the present one changes nothing.
 */
export type Meter = {
  readonly carried: Counters;
  /** Names the present run: the container and the time of its start. */
  readonly runKey: string;
  readonly startedAtMs: number;
  readonly run: Counters;
  /** Elapsed time of the run at one instant of the monotonic clock, from which it is counted on. */
  readonly anchor: { readonly runningMs: number; readonly monotonicMs: number } | null;
};

export type RunningSample = {
  readonly runKey: string;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
  /** Bytes of traffic; null when they are not known at this moment. */
  readonly traffic: Traffic | null;
};

export type EndedSample = {
  readonly runKey: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly monotonicMs: number;
};

const ZERO: Counters = { runningMs: 0, receivedBytes: 0, sentBytes: 0 };

/**
 * Counts a process that runs. The wall clock is asked once, when the run is first seen (an adopted container started
 * before this agent); from there on only the monotonic clock counts.
 */
export function meterRunning(meter: Meter | undefined, sample: RunningSample): Meter | undefined {
  const same = runOf(meter, sample);
  if (!same) return meter;
  const anchor = same.anchor ?? {
    runningMs: Math.max(0, sample.nowMs - sample.startedAtMs, same.run.runningMs),
    monotonicMs: sample.monotonicMs,
  };
  const runningMs = anchor.runningMs + Math.max(0, sample.monotonicMs - anchor.monotonicMs);
  return { ...same, anchor, run: raise(same.run, { runningMs, ...(sample.traffic ?? NO_TRAFFIC) }) };
}

/**
 * Counts a process that has ended: exactly, by the engine's two times, but never more than this agent's monotonic
 * clock allows and never less than was already counted.
 */
export function meterEnded(meter: Meter | undefined, sample: EndedSample): Meter | undefined {
  const same = runOf(meter, sample);
  if (!same) return meter;
  const exactMs = Math.max(0, sample.finishedAtMs - sample.startedAtMs);
  const limitMs =
    same.anchor === null ? Infinity : same.anchor.runningMs + Math.max(0, sample.monotonicMs - same.anchor.monotonicMs);
  const run = raise(same.run, { runningMs: Math.min(exactMs, limitMs), ...NO_TRAFFIC });
  // A second call finds the same length, although the wall clock may have been set meanwhile.
  return { ...same, anchor: { runningMs: run.runningMs, monotonicMs: Infinity }, run };
}

/** The counters of a report: whole numbers that never go back as long as the meter is kept. */
export function totalOf(meter: Meter | undefined): Counters {
  if (!meter) return ZERO;
  return {
    runningMs: Math.floor(meter.carried.runningMs + meter.run.runningMs),
    receivedBytes: meter.carried.receivedBytes + meter.run.receivedBytes,
    sentBytes: meter.carried.sentBytes + meter.run.sentBytes,
  };
}

const NO_TRAFFIC: Traffic = { receivedBytes: 0, sentBytes: 0 };

/** The meter made ready for the sample's run; undefined for a run older than the one already counted. */
function runOf(
  meter: Meter | undefined,
  sample: { readonly runKey: string; readonly startedAtMs: number },
): Meter | undefined {
  const { runKey, startedAtMs } = sample;
  if (!meter) return { carried: ZERO, runKey, startedAtMs, run: ZERO, anchor: null };
  if (meter.runKey === runKey) return meter;
  if (startedAtMs <= meter.startedAtMs) return undefined;
  return { carried: totalOf(meter), runKey, startedAtMs, run: ZERO, anchor: null };
}

function raise(before: Counters, now: Counters): Counters {
  return {
    runningMs: Math.max(before.runningMs, now.runningMs),
    receivedBytes: Math.max(before.receivedBytes, now.receivedBytes),
    sentBytes: Math.max(before.sentBytes, now.sentBytes),
  };
}
