import { HOLD_SECONDS, STOP_SECONDS } from "../../../../base/stop-times.ts";
import type { DesiredState, Phase } from "../../../rental/instances/index.ts";

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** Whose credit lasts longer than this is settled by the hour. */
const AMPLE_S = DAY_S;
/** At the end what is left is looked at so often. */
export const LAST_SECONDS = 15;
/** With less than this left, ten minutes set aside for one would be missing for another: the rest is used up in small steps. */
const USED_UP_S = 2 * (HOLD_SECONDS + MINUTE_S);

/**
 * `active` wants to run and has its devices, or is on its way; `waiting` wants to and has none; `leaving` does not want
 * to and still has them; `resting` only stores; of what is `over` nothing more becomes due, and of what is `unproven`, as
 * it never ran, nothing yet.
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

/** After how many seconds something is settled again, and for how long beyond that it has credit set aside. */
export type Period = { readonly seconds: number; readonly marginSeconds: number };

/** How long a balance and the limits on it last: for more than a day, for less, or for minutes. */
export type Lasting = "days" | "hours" | "minutes";

/** In passing as little as possible is set aside, and what is left may be less than ten minutes. */
export function passingPeriods(lagSeconds: number): readonly Period[] {
  return [
    { seconds: 0, marginSeconds: HOLD_SECONDS },
    { seconds: 0, marginSeconds: STOP_SECONDS + lagSeconds },
  ];
}

/**
 * In which periods something is settled, the best first: each later one is for what cannot have that much set aside. So
 * what settling costs follows changes and not the clock. What lasts for minutes is used up: there the margin is only the
 * time in which a host that is in touch stops it for certain, and the time that is not counted yet.
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

/** How long so much lasts that a rate is paid from. */
export function lastingOf(limits: readonly { readonly leftNanos: bigint; readonly nanosPerHour: bigint }[]): Lasting {
  const lastsFor = (seconds: number) =>
    limits.every(({ leftNanos, nanosPerHour }) => leftNanos * BigInt(HOUR_S) > nanosPerHour * BigInt(seconds));
  if (lastsFor(AMPLE_S)) return "days";
  return lastsFor(USED_UP_S) ? "hours" : "minutes";
}

/**
 * When something is settled again. Storage that could not be paid is due when a cap per day or month may begin anew, and
 * not when its new room is used up: otherwise a cap that is used up every day would store for nothing.
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

/** Whether so much credit lasts for long, at what all of an account costs in an hour. */
export function isAmple(spendableNanos: bigint, nanosPerHour: bigint): boolean {
  return spendableNanos * BigInt(HOUR_S) > nanosPerHour * BigInt(AMPLE_S);
}

/** Whether credit has to be set aside for it: for what may run. */
export function needsHold(activity: Activity): boolean {
  return activity === "active" || activity === "waiting" || activity === "leaving";
}
