import { conflict, invalid, notFound, type AppError } from "../../../../base/errors.ts";
import type { Instance } from "../instance.ts";
import type { Rejection } from "../lifecycle/rules/lifecycle.ts";

/**
 * Refusals that follow from an instance, the time and the presence of its host alone. Services throw them, and
 * `allowedActions` shows their sentences beforehand, so both say the same.
 */

export function noSuchInstance(id: number): AppError {
  return notFound("no_such_instance", `There is no instance ${id}.`);
}

/** True once nothing can be done with an instance any more, even if its container is still being removed. */
export function isGone({ phase }: Pick<Instance, "phase">): boolean {
  return phase === "ending" || phase === "ended";
}

export function refuseGone(instance: Pick<Instance, "id" | "phase">): AppError | undefined {
  return isGone(instance) ? noSuchInstance(instance.id) : undefined;
}

/** The refusal of an event that the table of the lifecycle rejects. */
export function rejectionOf(code: Rejection, id: number): AppError {
  switch (code) {
    case "no_such_instance":
      return noSuchInstance(id);
    case "not_running":
      return conflict("not_running", `Instance ${id} is not running.`);
    case "under_notice":
      return conflict("under_notice", `Instance ${id} is under an eviction notice and cannot be restarted.`);
  }
}

/** Refuses a start after the end date, and one of an instance whose traffic has reached its limit. */
export function refuseStart(
  { id, endAt, desired, traffic }: Pick<Instance, "id" | "endAt" | "desired" | "traffic">,
  now: Date,
): AppError | undefined {
  if (endAt <= now && desired !== "destroyed") {
    return invalid("id", `Instance ${id} reached its end date and cannot start again.`, "contract_ended");
  }
  if (!traffic.isReached) return undefined;
  return invalid(
    "id",
    `The traffic of instance ${id} has reached its limit; set a higher traffic_limit, and it starts again.`,
    "traffic_limit_reached",
  );
}

/** True for an instance whose container runs or is about to, and is under no eviction notice. */
export function isUp({ phase }: Pick<Instance, "phase">): boolean {
  return phase === "starting" || phase === "running";
}

export function refuseRecycle(instance: Pick<Instance, "id" | "phase">): AppError | undefined {
  if (isGone(instance)) return noSuchInstance(instance.id);
  if (isUp(instance)) return undefined;
  return invalid("id", `Instance ${instance.id} is not running: there is nothing to recycle. Start it first.`);
}

export function refuseBid(instance: Pick<Instance, "id" | "phase" | "isBid" | "isBackground">): AppError | undefined {
  const { id, isBid, isBackground } = instance;
  if (isGone(instance)) return noSuchInstance(id);
  if (!isBid) return invalid("id", `Instance ${id} is not interruptible: it has a fixed price instead of a bid.`);
  return isBackground
    ? invalid("id", `Instance ${id} is a background job of its own host, so it has no bid.`)
    : undefined;
}

/** Refuses a task of an instance of which its host has nothing yet. */
export function refuseUntouched({ id, generation }: Pick<Instance, "id" | "generation">): AppError | undefined {
  if (generation > 0) return undefined;
  return conflict("never_started", `Instance ${id} was never started: its host has nothing of it yet.`);
}

/** The refusal of a request to a host that would not answer; `what` names the instance or volume. */
export function hostOffline(what: string): AppError {
  return conflict("host_offline", `The host of ${what} is offline: it cannot be asked. Try again when it is back.`);
}

/** Refuses a terminal, and work on files, while no program can run in the container. */
export function refuseShell(
  instance: Pick<Instance, "id" | "phase" | "generation" | "observed">,
  { isReachable }: { readonly isReachable: boolean },
): AppError | undefined {
  const { id, phase, generation, observed } = instance;
  if (isGone(instance)) return noSuchInstance(id);
  if (!isReachable) return hostOffline(`instance ${id}`);
  const isSeenRunning = observed?.state === "running" && observed.generation === generation;
  const isRunning = isSeenRunning && (phase === "running" || phase === "yielding");
  return isRunning ? undefined : rejectionOf("not_running", id);
}

/** Refuses prepaying with status 400, as published, whether the instance is gone or is none that can be reserved. */
export function refusePrepaying(
  instance: Pick<Instance, "id" | "desired" | "isBid" | "endAt" | "priceNanosPerHour"> | undefined,
  now: Date,
): AppError | undefined {
  if (instance === undefined || instance.desired === "destroyed") return invalid("id", "No such instance");
  const { id } = instance;
  if (instance.isBid) return invalid("id", `Instance ${id} is interruptible: only on-demand instances are reserved.`);
  if (instance.endAt <= now) {
    return invalid("id", `Instance ${id} has reached its end date: nothing is left to prepay.`, "contract_ended");
  }
  if (instance.priceNanosPerHour === 0n) return invalid("id", `Instance ${id} costs nothing, so it cannot be prepaid.`);
  return undefined;
}

/** The refusal of prepaying on a machine whose host gives no discount for it. */
export function noDiscount(id: number): AppError {
  return invalid("id", `The host of instance ${id} gives no discount for prepaying.`);
}
