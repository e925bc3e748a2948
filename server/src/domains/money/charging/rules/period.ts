import { HOLD_SECONDS, STOP_SECONDS } from "../../../../base/stop-times.ts";
import type { DesiredState, Phase } from "../../../rental/instances/for-charging.ts";

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** Credit that lasts longer than this makes an account ample: it is settled by the hour. */
const AMPLE_S = DAY_S;
/** Seconds between settlements while the last credit is used up. */
export const LAST_SECONDS = 15;
/**
 * When credit lasts for less time than this, a hold of ten minutes for one run would be missing for another: the rest
 * is used up in small steps.
 */
const USED_UP_S = 2 * (HOLD_SECONDS + MINUTE_S);

/**
 * `active` should run and has its GPUs, or is about to get them; `waiting` should run and has none; `leaving` should
 * not run and still has them; `resting` only stores data. Nothing more becomes due for `over`, and nothing yet for
 * `unproven`, which never ran.
 */
export type Activity = "active" | "waiting" | "leaving" | "resting" | "over" | "unproven";

type Standing = {
  readonly isBackground: boolean;
  readonly isMetered: boolean;
  readonly desired: DesiredState;
  readonly phase: Phase;
};

export function activityOf({ isBackground, isMetered, desired, phase }: Standing): Activity {
  if (isBackground || phase === "ended") return "over";
  const isAtRest = phase === "stopped" || phase === "scheduled";
  if (!isMetered) return isAtRest && desired !== "running" ? "resting" : "unproven";
  if (phase === "ending" || desired === "destroyed") return "leaving";
  if (desired === "running") return phase === "scheduled" || phase === "stopped" ? "waiting" : "active";
  return isAtRest ? "resting" : "leaving";
}

/** Seconds until the next settlement, and the seconds beyond it that the hold covers as well. */
export type Period = { readonly seconds: number; readonly marginSeconds: number };

/** How long a balance and the caps on it last: more than a day, less than a day, or minutes. */
export type Lasting = "days" | "hours" | "minutes";

/** The periods of a passing settlement, whose hold is as small as possible and may cover less than ten minutes. */
export function passingPeriods(lagSeconds: number): readonly Period[] {
  return [
    { seconds: 0, marginSeconds: HOLD_SECONDS },
    { seconds: 0, marginSeconds: STOP_SECONDS + lagSeconds },
  ];
}

/**
 * The periods in which something is settled, best first; each later one is for what cannot have so large a hold. So the
 * work of settling grows with changes and not with time. For credit that lasts minutes, the margin is only the time
 * within which a host in touch stops it for certain, and the time that is not counted yet.
 */
export function periodsFor(
  activity: Activity,
  { lasting, lagSeconds }: { readonly lasting: Lasting; readonly lagSeconds: number },
): readonly Period[] {
  const lasts = (seconds: number): Period => ({ seconds, marginSeconds: HOLD_SECONDS });
  const usesUp = (seconds: number): Period => ({ seconds, marginSeconds: STOP_SECONDS + lagSeconds });
  const last = [usesUp(MINUTE_S), usesUp(LAST_SECONDS)];
  switch (activity) {
    case "active":
      if (lasting === "minutes") return last;
      return lasting === "days"
        ? [lasts(HOUR_S), lasts(5 * MINUTE_S), lasts(MINUTE_S), ...last]
        : [lasts(5 * MINUTE_S), lasts(MINUTE_S), ...last];
    case "leaving":
      return lasting === "minutes" ? [usesUp(MINUTE_S)] : [lasts(5 * MINUTE_S), usesUp(MINUTE_S)];
    case "waiting":
    case "resting":
      return [lasts(DAY_S)];
    case "over":
    case "unproven":
      return [];
  }
}

/** How long these amounts last at these rates; the shortest decides. */
export function lastingOf(limits: readonly { readonly leftNanos: bigint; readonly nanosPerHour: bigint }[]): Lasting {
  const lastsFor = (seconds: number) =>
    limits.every(({ leftNanos, nanosPerHour }) => leftNanos * BigInt(HOUR_S) > nanosPerHour * BigInt(seconds));
  if (lastsFor(AMPLE_S)) return "days";
  return lastsFor(USED_UP_S) ? "hours" : "minutes";
}

/**
 * The time of the next settlement. Storage that could not be paid is due when a daily or monthly cap may begin a new
 * period, not when the new room is used up: otherwise a cap that is used up every day would store data for free.
 */
export function nextSettlement(
  now: Date,
  { afterMs, isShort }: { readonly afterMs: number; readonly isShort: boolean },
): Date {
  const nextMs = now.getTime() + afterMs;
  return new Date(isShort ? Math.min(nextMs, startOfNextDay(now)) : nextMs);
}

function startOfNextDay(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
}

/** True when a balance lasts long at the hourly cost of the whole account. */
export function isAmple(spendableNanos: bigint, nanosPerHour: bigint): boolean {
  return spendableNanos * BigInt(HOUR_S) > nanosPerHour * BigInt(AMPLE_S);
}

/** True for what may run: it needs a hold. */
export function needsHold(activity: Activity): boolean {
  return activity === "active" || activity === "waiting" || activity === "leaving";
}
