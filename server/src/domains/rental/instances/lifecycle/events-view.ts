import { epochSeconds } from "../../../../base/clock.ts";
import type { StoredEvent } from "./event-store.ts";

/** What each cause says to the renter. A cause without a sentence is told by its name. */
const SENTENCES: Readonly<Record<string, string>> = {
  created: "The instance was made.",
  start_requested: "It was asked to run.",
  stop_requested: "It was asked to stop; its data is kept.",
  destroy_requested: "It was asked to go, with its data.",
  reboot: "It is restarted in place.",
  recycle: "Its container is made anew from a fresh image.",
  update_template: "Its container is made anew from other settings.",
  devices_granted: "It has its devices and starts.",
  outbid: "A higher bid takes its devices; its data is kept and it resumes by itself.",
  on_demand: "An on-demand rental takes its devices; its data is kept and it resumes by itself.",
  background: "A renter takes the devices of the host's own job.",
  bid_below_minimum: "Its bid is below what the host asks at least now; its data is kept.",
  notice_withdrawn: "Nobody needs its devices any more, or its bid is higher now: it stays.",
  container_running: "The host says that it runs.",
  container_stopped: "The host says that it has stopped.",
  container_removed: "The host says that nothing of it is left.",
  host_lost: "The host is away for so long that nothing of it runs there any more.",
  deadline_passed: "It stayed too long in this state and was moved on.",
  contract_ended: "Its rental has reached the end date.",
  contract_extended: "The host has moved its end date.",
  contract_over: "Its end date is two days past: it is deleted.",
  contract_cleaned_up: "The host has removed it after its end date.",
  balance_empty: "The credit of its owner is used up; its data is kept.",
  traffic_limit_reached: "Its traffic has cost as much as its limit allows; its data is kept.",
  account_frozen: "The account of its owner is frozen; its data is kept.",
  cap_reached:
    "A cap on spending leaves nothing for it: what runs is stopped, and what was stored long enough is deleted.",
  arrears: "Its storage was not paid until the time that was stated: it is deleted.",
  gpu_unhealthy: "One of its GPUs is sick.",
  gpu_healthy: "Its GPUs are well again.",
  maintenance_scheduled: "The host has announced a maintenance.",
  maintenance_cancelled: "The host has called off a maintenance.",
  machine_deleted: "The host has taken its machine away.",
  endpoint_deleted: "The endpoint that it worked for was deleted.",
  worker_removed: "The endpoint that it worked for needs it no more.",
};

/** A line of an instance's history. Who acted is told by kind only: who hosts and administers is not the renter's affair. */
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
  // What every notice ends with where the host is not a moment faster: nothing went wrong.
  if (cause === "deadline_passed" && from === "yielding") return "The time of its notice is over: it stops.";
  return SENTENCES[cause] ?? `${cause.replaceAll("_", " ")}.`;
}
