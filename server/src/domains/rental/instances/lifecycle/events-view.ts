import { epochSeconds } from "../../../../base/clock.ts";
import type { StoredEvent } from "./event-store.ts";

/** The sentence for the renter on each cause. A cause without a sentence is shown by its name. */
const SENTENCES: Readonly<Record<string, string>> = {
  created: "The instance was created.",
  start_requested: "It was asked to run.",
  stop_requested: "It was asked to stop; its data is kept.",
  destroy_requested: "It was asked to be destroyed, with its data.",
  reboot: "It is restarted in place.",
  recycle: "Its container is created again from a freshly pulled image.",
  update_template: "Its container is created again from other settings.",
  devices_granted: "It has its devices and starts.",
  outbid: "A higher bid takes its devices; its data is kept and it resumes by itself.",
  on_demand: "An on-demand rental takes its devices; its data is kept and it resumes by itself.",
  background: "A renter takes the devices of the host's own job.",
  bid_below_minimum: "Its bid is below the host's minimum now; its data is kept.",
  notice_withdrawn: "Its eviction notice is withdrawn, because no higher claim needs its devices any more: it stays.",
  container_running: "The host reports that it runs.",
  container_stopped: "The host reports that it has stopped.",
  container_removed: "The host reports that its container and data are removed.",
  host_lost: "The host has been away so long that the instance has certainly stopped there.",
  host_ahead: "Its host has a newer run than the restored database knew: that run goes on here.",
  deadline_passed: "It stayed too long in this state, so the server ended that state.",
  contract_ended: "Its rental has reached the end date.",
  contract_extended: "The host has moved its end date.",
  contract_over: "Its end date is two days past: it is deleted.",
  contract_cleaned_up: "The host has removed it after its end date.",
  balance_empty: "The credit of its owner is used up; its data is kept.",
  traffic_limit_reached: "Its traffic has cost as much as its limit allows; its data is kept.",
  account_frozen: "The account of its owner is frozen; its data is kept.",
  stopped_by_operator: "An administrator has stopped it; its data is kept.",
  cap_reached: "A cap on spending leaves nothing for it: it is stopped, and after the stated time it is deleted.",
  arrears: "Its storage was not paid by the stated time: it is deleted.",
  gpu_unhealthy: "One of its GPUs is sick.",
  gpu_healthy: "Its GPUs are well again.",
  maintenance_scheduled: "The host has announced maintenance.",
  maintenance_cancelled: "The host has cancelled maintenance.",
  machine_deleted: "The host has removed its machine.",
  endpoint_deleted: "The endpoint that it worked for was deleted.",
  worker_removed: "The endpoint that it worked for no longer needs it.",
};

/**
 * An event of an instance's history. Only the kind of the actor is shown: names of hosts and administrators are not the
 * renter's business.
 */
export function viewEvent({ at, actor, cause, from, to }: StoredEvent) {
  const [kind = actor] = actor.split(":");
  return {
    at: epochSeconds(at),
    actor: kind,
    cause,
    from: from ?? null,
    to,
    message: sentenceOf(cause, from),
  };
}

function sentenceOf(cause: string, from: string | undefined): string {
  // Every eviction notice ends like this when the host is not faster: nothing went wrong.
  if (cause === "deadline_passed" && from === "yielding") return "The time of its eviction notice is over: it stops.";
  return SENTENCES[cause] ?? `${cause.replaceAll("_", " ")}.`;
}
