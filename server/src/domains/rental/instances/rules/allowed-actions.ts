import { answerOf, type AllowedAction } from "../../../../base/allowed-action.ts";
import type { AppError } from "../../../../base/errors.ts";
import type { Instance } from "../instance.ts";
import { TRANSITIONS, type LifecycleEvent } from "../lifecycle/rules/lifecycle.ts";
import {
  hostOffline,
  noDiscount,
  refuseBid,
  refuseGone,
  refusePrepaying,
  refuseRecycle,
  refuseShell,
  refuseStart,
  refuseUntouched,
  rejectionOf,
} from "./refusals.ts";

/** Actions that a client offers on an instance, each a request of the API. */
export const ACTIONS = [
  "start",
  "stop",
  "reboot",
  "recycle",
  "destroy",
  "change_bid",
  "label",
  "change_traffic_limit",
  "update_template",
  "attach_ssh_key",
  "snapshot",
  "copy",
  "execute",
  "logs",
  "terminal",
  "files",
  "prepay",
] as const;
export type Action = (typeof ACTIONS)[number];

export type AllowedActions = Readonly<Record<Action, AllowedAction>>;

/** Facts besides the instance that decide what can be done with it. */
export type ActionSight = {
  readonly now: Date;
  readonly isReachable: boolean;
  /** The largest discount that the host gives for prepaying; 0 for none. */
  readonly discountMaxPermille: number;
};

/**
 * The actions that the instance accepts now, each with the reason if it does not. A request that would be accepted and
 * change nothing, such as the start of an instance that runs, is not allowed either. Requests can still be refused for
 * what other things say at that moment: credit, caps, and volumes that another instance writes to.
 */
export function allowedActions(instance: Instance, sight: ActionSight): AllowedActions {
  const onHost = refuseOnHost(instance, sight);
  const inside = refuseShell(instance, sight);
  const refused: Readonly<Record<Action, AppError | string | undefined>> = {
    start: refuseStart(instance, sight.now) ?? refuseEvent(instance, "startRequested"),
    stop: refuseEvent(instance, "stopRequested"),
    reboot: refuseEvent(instance, "rebootRequested"),
    recycle: refuseRecycle(instance),
    destroy: refuseEvent(instance, "destroyRequested"),
    change_bid: refuseBid(instance),
    label: refuseGone(instance),
    change_traffic_limit: refuseGone(instance),
    update_template: refuseGone(instance),
    attach_ssh_key: refuseGone(instance),
    snapshot: onHost,
    copy: onHost,
    execute: onHost,
    logs: onHost,
    terminal: inside,
    files: inside,
    prepay:
      refusePrepaying(instance, sight.now) ?? (sight.discountMaxPermille === 0 ? noDiscount(instance.id) : undefined),
  };
  return mapActions((action) => answerOf(refused[action]));
}

/** One value for each action. */
export function mapActions(make: (action: Action) => AllowedAction): AllowedActions {
  return {
    start: make("start"),
    stop: make("stop"),
    reboot: make("reboot"),
    recycle: make("recycle"),
    destroy: make("destroy"),
    change_bid: make("change_bid"),
    label: make("label"),
    change_traffic_limit: make("change_traffic_limit"),
    update_template: make("update_template"),
    attach_ssh_key: make("attach_ssh_key"),
    snapshot: make("snapshot"),
    copy: make("copy"),
    execute: make("execute"),
    logs: make("logs"),
    terminal: make("terminal"),
    files: make("files"),
    prepay: make("prepay"),
  };
}

/** Refuses a task for which the host has to answer. */
function refuseOnHost(instance: Instance, { isReachable }: ActionSight): AppError | undefined {
  const refused = refuseGone(instance) ?? refuseUntouched(instance);
  return refused ?? (isReachable ? undefined : hostOffline(`instance ${instance.id}`));
}

/** The intent that a request brings, besides the event. */
const INTENTS = {
  startRequested: "running",
  stopRequested: "stopped",
  rebootRequested: "running",
  destroyRequested: "destroyed",
} as const satisfies Partial<Record<LifecycleEvent, Instance["desired"]>>;

function refuseEvent(instance: Instance, event: keyof typeof INTENTS): AppError | string | undefined {
  const outcome = TRANSITIONS[instance.phase][event];
  if ("reject" in outcome) return rejectionOf(outcome.reject, instance.id);
  const isNeedless = "ignore" in outcome && instance.desired === INTENTS[event];
  return isNeedless ? needlessReason(instance) : undefined;
}

/** The reason why a request would change nothing. */
function needlessReason({ id, phase, desired }: Instance): string {
  switch (phase) {
    case "scheduled":
      return `Instance ${id} starts by itself as soon as its devices are free.`;
    case "starting":
      return `Instance ${id} is starting already.`;
    case "running":
    case "yielding":
      return `Instance ${id} runs already.`;
    case "stopping":
      return desired === "running"
        ? `Instance ${id} resumes by itself as soon as its devices are free.`
        : `Instance ${id} is stopping already.`;
    case "stopped":
      return `Instance ${id} is stopped already.`;
    case "ending":
    case "ended":
      return `Instance ${id} is being destroyed already.`;
  }
}
