import type { ObservedInstance } from "../../../protocol/index.ts";
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
  readonly run_key: string;
  readonly started_at_ms: number;
  readonly run: Counters;
  /** Elapsed time of the run at one instant of the monotonic clock, from which it is counted on. */
  readonly anchor: { readonly running_ms: number; readonly monotonic_ms: number } | null;
};

export type RunningSample = {
  readonly run_key: string;
  readonly started_at_ms: number;
  readonly now_ms: number;
  readonly monotonic_ms: number;
  /** Null when it is not known at this moment. */
  readonly traffic: Traffic | null;
};

export type EndedSample = {
  readonly run_key: string;
  readonly started_at_ms: number;
  readonly finished_at_ms: number;
  readonly monotonic_ms: number;
};

const ZERO: Counters = { running_ms: 0, received_bytes: 0, sent_bytes: 0 };

/**
 * Counts a process that runs. The wall clock is asked once, when the run is first seen (an adopted container started
 * before this agent); from there on only the monotonic clock counts.
 */
export function meterRunning(meter: Meter | undefined, sample: RunningSample): Meter | undefined {
  const same = runOf(meter, sample);
  if (!same) return meter;
  const anchor = same.anchor ?? {
    running_ms: Math.max(0, sample.now_ms - sample.started_at_ms, same.run.running_ms),
    monotonic_ms: sample.monotonic_ms,
  };
  const running_ms = anchor.running_ms + Math.max(0, sample.monotonic_ms - anchor.monotonic_ms);
  return { ...same, anchor, run: raise(same.run, { running_ms, ...(sample.traffic ?? NO_TRAFFIC) }) };
}

/**
 * Counts a process that has ended: exactly, by the engine's two times, but never more than this agent's monotonic
 * clock allows and never less than was already counted.
 */
export function meterEnded(meter: Meter | undefined, sample: EndedSample): Meter | undefined {
  const same = runOf(meter, sample);
  if (!same) return meter;
  const exact_ms = Math.max(0, sample.finished_at_ms - sample.started_at_ms);
  const limit_ms =
    same.anchor === null
      ? Infinity
      : same.anchor.running_ms + Math.max(0, sample.monotonic_ms - same.anchor.monotonic_ms);
  const run = raise(same.run, { running_ms: Math.min(exact_ms, limit_ms), ...NO_TRAFFIC });
  // Asked again, it is still what was counted now: the wall clock may have been set meanwhile.
  return { ...same, anchor: { running_ms: run.running_ms, monotonic_ms: Infinity }, run };
}

/** What a report carries: whole numbers that never go back as long as the meter is kept. */
export function totalOf(meter: Meter | undefined): Counters {
  if (!meter) return ZERO;
  return {
    running_ms: Math.floor(meter.carried.running_ms + meter.run.running_ms),
    received_bytes: meter.carried.received_bytes + meter.run.received_bytes,
    sent_bytes: meter.carried.sent_bytes + meter.run.sent_bytes,
  };
}

const NO_TRAFFIC: Traffic = { received_bytes: 0, sent_bytes: 0 };

/** The meter made ready for the sample's run; undefined for a run older than the one already counted. */
function runOf(
  meter: Meter | undefined,
  sample: { readonly run_key: string; readonly started_at_ms: number },
): Meter | undefined {
  const { run_key, started_at_ms } = sample;
  if (!meter) return { carried: ZERO, run_key, started_at_ms, run: ZERO, anchor: null };
  if (meter.run_key === run_key) return meter;
  if (started_at_ms <= meter.started_at_ms) return undefined;
  return { carried: totalOf(meter), run_key, started_at_ms, run: ZERO, anchor: null };
}

function raise(before: Counters, now: Counters): Counters {
  return {
    running_ms: Math.max(before.running_ms, now.running_ms),
    received_bytes: Math.max(before.received_bytes, now.received_bytes),
    sent_bytes: Math.max(before.sent_bytes, now.sent_bytes),
  };
}
