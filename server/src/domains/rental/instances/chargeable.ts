import { STOP_SECONDS } from "../../../base/stop-times.ts";
import type { LifecycleEvent, Phase } from "./lifecycle/rules/lifecycle.ts";

/** The facts about a change of phase that decide until when the earlier run may cost anything. */
export type RunChange = {
  readonly from: Phase;
  readonly to: Phase;
  readonly event: LifecycleEvent;
  readonly isNewRun: boolean;
  /** Milliseconds of the eviction notice that the change begins. */
  readonly noticeMs: number;
};

/** `none` leaves a run as it is; `open` takes back an end that a withdrawn eviction notice had set. */
export type ChargeEnd =
  | { readonly kind: "none" }
  | { readonly kind: "open" }
  | { readonly kind: "end"; readonly at: Date };

const UP: ReadonlySet<Phase> = new Set(["starting", "running", "yielding"]);
const LEAVING: ReadonlySet<Phase> = new Set(["stopping", "ending"]);

/**
 * The end of the chargeable time of a run after a change of phase. A run whose end was asked for, or that another run
 * replaces, may cost its eviction notice and the time in which a connected host certainly stops it. A host that stops
 * it later, or reports that later, is not paid for the rest.
 */
export function chargeEndOf(at: Date, { from, to, event, isNewRun, noticeMs }: RunChange): ChargeEnd {
  const after = (ms: number): ChargeEnd => ({
    kind: "end",
    at: new Date(at.getTime() + ms + STOP_SECONDS * 1000),
  });
  if (event === "reprieved" && to === "running") return { kind: "open" };
  if (!UP.has(from)) return { kind: "none" };
  if (to === "yielding") return after(noticeMs);
  return LEAVING.has(to) || isNewRun ? after(0) : { kind: "none" };
}
