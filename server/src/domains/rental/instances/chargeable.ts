import { STOP_SECONDS } from "../../../base/stop-times.ts";
import type { LifecycleEvent, Phase } from "./lifecycle/rules/lifecycle.ts";

/** A change of phase, as far as it decides until when the run that it found may cost anything. */
export type RunChange = {
  readonly from: Phase;
  readonly to: Phase;
  readonly event: LifecycleEvent;
  readonly isNewRun: boolean;
  /** How long the notice lasts that it leads to. */
  readonly noticeMs: number;
};

/** `none` leaves a run as it is; `open` takes an end back that a withdrawn notice had set. */
export type ChargeEnd =
  | { readonly kind: "none" }
  | { readonly kind: "open" }
  | { readonly kind: "end"; readonly at: Date };

const UP: ReadonlySet<Phase> = new Set(["starting", "running", "yielding"]);
const LEAVING: ReadonlySet<Phase> = new Set(["stopping", "ending"]);

/**
 * Until when a run may cost its renter anything after a change of phase. Somebody asked for its end, or another run takes
 * its place: then it may cost the time in which a host in touch stops it for certain, after its notice if it has one. A
 * host that stops later, or says so later, bears that itself.
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
