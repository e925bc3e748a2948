import { formatDollars, roundHalfUp } from "../../../../base/money.ts";
import { type Fleet, isTooDear } from "./fleet.ts";
import type { Plan } from "./targets.ts";
import type { Action, OfferView, Situation } from "./types.ts";

/** Kinds of situations; of a quiet endpoint only the change from one kind to another is stored. */
export type Reason =
  | "steady"
  | "asleep"
  | "waiting"
  | "scale_up"
  | "scale_down"
  | "recruiting"
  | "shrinking_pool"
  | "learning"
  | "replacing"
  | "updating"
  | "at_limit"
  | "backing_off"
  | "no_offers"
  | "too_dear"
  | "no_groups"
  | "spending_stopped"
  | "suspended"
  | "stopped";

export type Scene = {
  readonly situation: Situation;
  readonly fleet: Fleet;
  readonly plan: Plan;
  readonly actions: readonly Action[];
};

/** One sentence for the renter: the situation, and the orders that follow from it. */
export function sentenceOf(reason: Reason, scene: Scene): string {
  const { actions, situation } = scene;
  switch (reason) {
    case "suspended":
      return "The endpoint is suspended: its workers stay as they are.";
    case "stopped":
      return actions.length === 0
        ? "The endpoint is stopped, and so are its workers."
        : `The endpoint is stopped: ${ordersOf(scene)}.`;
    case "no_groups":
      return `${expected(scene)}, but the endpoint has no worker group that says what to rent.`;
    case "learning":
      return `${expected(scene)}; no worker was measured yet: ${learningOf(scene)}.`;
    case "backing_off":
      return `${seen(scene)}: ${pauseOf(situation)}.`;
    default:
      return `${seen(scene)}${following(reason, scene)}.`;
  }
}

type Rest = Exclude<Reason, "suspended" | "stopped" | "no_groups" | "learning" | "backing_off">;

function following(reason: Rest, scene: Scene): string {
  const { situation, fleet } = scene;
  const { parameters, spendingStop } = situation;
  const orders = `: ${ordersOf(scene)}`;
  switch (reason) {
    case "steady":
      return scene.actions.length > 0 ? orders : ", and nothing has to change";
    case "asleep":
      if (scene.actions.length > 0) return orders;
      return fleet.parked.length === 0
        ? ""
        : `; ${countOf(fleet.parked.length, "is", "are")} stopped and can be started`;
    case "waiting":
      return `, ${fleet.coming.length} of them soon: that is enough`;
    case "scale_up":
    case "recruiting":
    case "replacing":
    case "updating":
    case "scale_down":
    case "shrinking_pool":
      return orders;
    case "at_limit":
      return `: more are needed, but max_workers of the endpoint (${parameters.maxWorkers}) or of its group allows no more`;
    case "no_offers":
      return ": more are needed, but no offer matches the search of a worker group, or only of machines left alone for now";
    case "too_dear":
      return `: more are needed, but ${dearest(scene)}`;
    case "spending_stopped":
      return `: nothing is rented or started. ${(spendingStop?.reason ?? "No money is left").replace(/\.$/, "")}`;
  }
}

/** `the cheapest matching offer costs $90 an hour, and max_dph of worker group 7 is $1.2` */
function dearest({ situation, fleet }: Scene): string {
  let cheapest: OfferView | undefined;
  for (const offer of situation.offers) {
    if (!isTooDear(fleet, offer)) continue;
    if (cheapest === undefined || offer.priceNanosPerHour < cheapest.priceNanosPerHour) cheapest = offer;
  }
  const most = cheapest && fleet.groups.get(cheapest.groupId)?.maxNanosPerHour;
  if (cheapest === undefined || most === undefined) return "every matching offer costs more than max_dph of its group";
  const price = formatDollars(roundHalfUp(cheapest.priceNanosPerHour, SHOWN_NANOS));
  return `the cheapest matching offer costs $${price} an hour, and max_dph of worker group ${cheapest.groupId} is $${formatDollars(most)}`;
}

/** Prices of offers are shown to a hundredth of a cent. */
const SHOWN_NANOS = 100_000n;

/** The basis of a decision: the expected load, the capacity that it needs, and the workers at hand. */
function seen(scene: Scene): string {
  const { fleet, plan, situation } = scene;
  const hot = [...fleet.serving, ...fleet.coming];
  const perf = hot.reduce((sum, each) => sum + (fleet.perfs.ofWorker(each) ?? 0), 0);
  const isAsked = situation.queue.requestCount > 0 || !isNothing(plan.anticipation.rise);
  const target = `${units(plan.startTarget)} ${isAsked ? "are needed" : "are to be ready"}`;
  const wanted = isNothing(plan.startTarget) ? "" : `, ${isAsked ? "so" : "but"} ${target}`;
  if (hot.length === 0) return `${expected(scene)}${wanted}; no worker is running`;
  const served = isNothing(perf) ? countOf(hot.length, "runs", "run") : countOf(hot.length, "serves", "serve");
  return `${expected(scene)}${wanted}; ${served}${isNothing(perf) ? "" : ` ${units(perf)}`}`;
}

function expected({ situation, plan }: Scene): string {
  const { rise } = plan.anticipation;
  const load = isNothing(rise) ? "No load is expected" : `A load of ${units(rise)} is expected`;
  const { requestCount: held } = situation.queue;
  if (held === 0) return plan.startTarget > plan.hotTarget ? `${load} and the workers fall behind` : load;
  return `${load} and ${held === 1 ? "1 request waits" : `${held} requests wait`} for a worker`;
}

/** `2 workers are started from stopped (ready in about 23 s), 1 worker is rented (it serves most for its price)`. */
function ordersOf({ actions, plan }: Scene): string {
  const kinds = ["undrain", "start", "rent", "drain", "stop", "update", "destroy"] as const;
  const words = {
    undrain: "kept after all",
    start: "started from stopped",
    rent: "rented",
    drain: "given no more requests",
    stop: "stopped",
    update: "updated",
    destroy: "destroyed",
  } as const satisfies Record<Action["kind"], string>;
  const parts = kinds.flatMap((kind) => {
    const of = actions.filter((action) => action.kind === kind);
    const [first] = of;
    if (first === undefined) return [];
    const why =
      kind === "start" ? `ready in about ${Math.round(plan.startMs / 1_000)} s` : reasonFor(of.length, first.why);
    return [`${countOf(of.length, "is", "are")} ${words[kind]} (${why})`];
  });
  return parts.length === 0 ? "the workers at hand finish what they have first" : parts.join(", ");
}

/** Reasons are worded for one worker; for several, their "it" becomes "each". */
function reasonFor(count: number, why: string): string {
  return count === 1 ? why : why.replace(/^it /, "each ");
}

function learningOf(scene: Scene): string {
  const count = scene.fleet.coming.length + scene.actions.filter(({ kind }) => kind === "rent").length;
  return count === 0 ? ordersOf(scene) : `${countOf(count, "is", "are")} on the way to be measured first`;
}

function pauseOf({ groups, nowMs }: Situation): string {
  const failed = Math.max(...groups.map(({ failureCount }) => failureCount));
  const since = failed === 1 ? "a worker failed" : `${failed} workers in a row failed`;
  const waits = groups.flatMap(({ resumesAtMs }) => resumesAtMs ?? []).filter((atMs) => atMs > nowMs);
  if (waits.length === 0) return `${since}, so the one on the way has to get ready before more are rented`;
  return `nothing is rented for ${Math.ceil((Math.min(...waits) - nowMs) / 1_000)} s, as ${since}`;
}

/** `1 worker is`, `2 workers are`. */
function countOf(count: number, one: string, many: string): string {
  return count === 1 ? `1 worker ${one}` : `${count} workers ${many}`;
}

/** True if the load is shown as 0.0. */
function isNothing(load: number): boolean {
  return load < 0.05;
}

function units(load: number): string {
  return `${load >= 100 ? Math.round(load) : load.toFixed(1)} units/s`;
}
