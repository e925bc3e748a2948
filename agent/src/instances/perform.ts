import type { ContainerBook } from "./book.ts";
import type { Result } from "../engine/engine.ts";
import type { HostSettings } from "./host-parts.ts";
import type { OwnContainer } from "./identity.ts";
import {
  createContainer,
  removeContainer,
  renameContainer,
  startContainer,
  type JobContext,
  type Show,
} from "./jobs.ts";
import type { Action, StopReason } from "./plan.ts";

export type PerformContext = {
  readonly jobs: JobContext;
  readonly book: ContainerBook;
  /** Instances with a disk here, kept in step with what is done. */
  readonly disks: Set<number>;
  /** Time that a process may take to end, by the reason of the stop. */
  readonly graceFor: (reason: StopReason, own: OwnContainer) => number;
  /** Takes a last reading of a container that is about to stop. */
  readonly sample: (own: OwnContainer) => Promise<void>;
  /** Brings one container up to date after a step and passes the step's result on. */
  readonly look: (id: string, result: Result<void>) => Promise<Result<void>>;
  readonly drop: (id: string) => void;
  /** Removes inside a container the file and the address of an earlier run's eviction notice. */
  readonly forgetNotice: (id: string) => void;
};

const HALT_TEXT = {
  order: "stopped",
  restart: "stopped for a restart",
  lease: "lease expired",
} as const satisfies Record<StopReason, string>;

/** A process under an eviction notice has the rest of the notice, but at least the time after a lost lease. */
export function graceOf(
  { stopGraceMs, leaseGraceMs }: Pick<HostSettings, "stopGraceMs" | "leaseGraceMs">,
  reason: StopReason,
  remainingMs: number | undefined,
): number {
  if (reason === "lease") return leaseGraceMs;
  return Math.min(stopGraceMs, Math.max(leaseGraceMs, remainingMs ?? stopGraceMs));
}

/** Does one action of the plan. */
export async function perform(
  context: PerformContext,
  action: Action,
  show: Show,
  signal: AbortSignal,
): Promise<Result<void>> {
  const { jobs, book } = context;
  switch (action.kind) {
    case "create":
      // From the first step on there may be a disk, also when a later step fails.
      context.disks.add(action.order.instanceId);
      return createContainer(jobs, action.order, show, signal);
    case "start": {
      const { id } = action.own.container;
      show("starting", `starting ${action.order.image}`);
      const started = await startContainer(jobs, action.order, action.own);
      if (started.ok) book.unhalt(id);
      // In the shell modes the platform script removes the notice before a program can read it.
      if (started.ok && action.order.generation > 1 && action.order.command.mode === "entrypoint") {
        context.forgetNotice(id);
      }
      return context.look(id, started);
    }
    case "stop": {
      const { id } = action.own.container;
      show("stopping", HALT_TEXT[action.reason]);
      await context.sample(action.own);
      book.halt(id, HALT_TEXT[action.reason]);
      return context.look(id, await jobs.engine.stop(id, context.graceFor(action.reason, action.own)));
    }
    case "rename":
      return context.look(action.own.container.id, await renameContainer(jobs, action.own.container, action.name));
    case "remove":
      return remove(context, action.own, action.keepsDisk, show);
    case "erase":
      show("stopping", "removing its disk");
      return noteErased(context, action.instanceId, await jobs.disks.remove(action.instanceId));
  }
}

async function remove(
  context: PerformContext,
  own: OwnContainer,
  keepsDisk: boolean,
  show: Show,
): Promise<Result<void>> {
  if (keepsDisk) show("starting", "making the container again on its disk");
  else show("stopping", "removing");
  await context.sample(own);
  context.book.halt(own.container.id, "removed");
  const removed = await removeContainer(context.jobs, own, { keepsDisk });
  if (removed.ok) context.drop(own.container.id);
  return keepsDisk ? removed : noteErased(context, own.instanceId, removed);
}

function noteErased(context: PerformContext, instanceId: number, erased: Result<void>): Result<void> {
  if (!erased.ok) return erased;
  context.disks.delete(instanceId);
  context.book.forgetImage(instanceId);
  return erased;
}
