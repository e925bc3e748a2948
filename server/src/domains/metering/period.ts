import type { DesiredState, Phase } from "../instances/index.ts";

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** Whose credit lasts longer than this is settled by the hour. */
const AMPLE_S = DAY_S;

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

/**
 * After how many seconds something is settled again, the best first: each later one is for who cannot have that much set
 * aside. So what settling costs follows changes and not the clock, and a balance that comes to its end is watched.
 */
export function periodsFor(activity: Activity, { isAmple }: { readonly isAmple: boolean }): readonly number[] {
  switch (activity) {
    case "active":
      return isAmple ? [HOUR_S, 5 * MINUTE_S, MINUTE_S] : [5 * MINUTE_S, MINUTE_S];
    case "leaving":
      return [5 * MINUTE_S];
    case "waiting":
    case "resting":
      return [DAY_S];
    case "over":
    case "unproven":
      return [];
  }
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
