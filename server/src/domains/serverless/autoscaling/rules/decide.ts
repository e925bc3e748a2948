import { type Fleet, readFleet } from "./fleet.ts";
import { planRecruits, planReplacement, type Recruiting } from "./recruits.ts";
import { planDuties, planExcess, planReleases, planWindDown } from "./releases.ts";
import { sentenceOf, type Reason } from "./sentences.ts";
import { type Plan, planTargets, toTargets } from "./targets.ts";
import type { Action, Decision, Situation } from "./types.ts";
import { hasOutdated, planUpdates } from "./updates.ts";

/**
 * Decides what an endpoint needs now: how much capacity, which workers for it, and why. The situation holds
 * everything that the decision depends on, so that it can be repeated, explained and simulated.
 */
export function decide(situation: Situation): Decision {
  const fleet = readFleet(situation);
  const plan = planTargets(situation, fleet);
  const { actions, reason } = choose(situation, fleet, plan);
  const sentence = sentenceOf(reason, { situation, fleet, plan, actions });
  return { targets: toTargets(situation, fleet, plan), actions, sentence, reason };
}

type Choice = { readonly actions: readonly Action[]; readonly reason: Reason };

function choose(situation: Situation, fleet: Fleet, plan: Plan): Choice {
  const { state } = situation.parameters;
  const duties = planDuties(situation);
  if (state === "suspended") return { actions: duties, reason: "suspended" };
  if (state === "stopped") return { actions: [...duties, ...planWindDown(situation)], reason: "stopped" };
  const recruiting = planRecruits(situation, fleet, plan);
  const excess = planExcess(situation, fleet, plan);
  const isUpdating = hasOutdated(situation);
  const isRising = plan.isPressed || recruiting.actions.some(({ kind }) => kind !== "rent");
  const isSettled = !isRising && excess.length === 0;
  const isRenting = recruiting.actions.length > 0;
  const updates = isUpdating && isSettled ? planUpdates(situation, fleet, plan, { isRenting }) : [];
  const releases = !isUpdating && isSettled ? planReleases(situation, fleet, plan) : [];
  const isCalm =
    recruiting.actions.length === 0 && recruiting.shortage === undefined && !isUpdating && releases.length === 0;
  const replacement = isCalm ? planReplacement(situation, fleet, plan) : [];
  const own = oncePerWorker([...excess, ...recruiting.actions, ...duties, ...updates, ...releases, ...replacement]);
  return {
    actions: own,
    reason: reasonOf({
      situation,
      fleet,
      plan,
      recruiting,
      isUpdating,
      releases: [...excess, ...releases],
      replacement,
    }),
  };
}

/** Keeps the first order for each worker: one that is needed again is not stopped, even if a later rule says so. */
function oncePerWorker(actions: readonly Action[]): readonly Action[] {
  const seen = new Set<number>();
  return actions.filter((action) => {
    if (action.kind === "rent") return true;
    const isFirst = !seen.has(action.workerId);
    seen.add(action.workerId);
    return isFirst;
  });
}

function reasonOf({
  situation,
  fleet,
  plan,
  recruiting,
  isUpdating,
  releases,
  replacement,
}: {
  readonly situation: Situation;
  readonly fleet: Fleet;
  readonly plan: Plan;
  readonly recruiting: Recruiting;
  readonly isUpdating: boolean;
  readonly releases: readonly Action[];
  readonly replacement: readonly Action[];
}): Reason {
  const { shortage, actions, isLearning } = recruiting;
  if (shortage === "spending") return "spending_stopped";
  if (isLearning) return "learning";
  if (actions.some(({ kind }) => kind !== "rent")) return "scale_up";
  if (actions.length > 0) return plan.hotPerf < plan.hotTarget ? "scale_up" : "recruiting";
  if (shortage === "limit") return "at_limit";
  if (shortage === "backing_off") return "backing_off";
  if (shortage === "too_dear") return "too_dear";
  if (shortage === "no_offers") return situation.groups.length === 0 ? "no_groups" : "no_offers";
  if (isUpdating) return "updating";
  if (releases.some(({ kind }) => kind === "drain")) return "scale_down";
  if (releases.length > 0) return "shrinking_pool";
  if (replacement.length > 0) return "replacing";
  if (fleet.coming.length > 0) return "waiting";
  return fleet.serving.length === 0 ? "asleep" : "steady";
}
