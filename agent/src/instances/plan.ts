import type { DesiredInstance } from "../wire/messages.ts";
import { pendingName, settledName, type OwnContainer } from "./identity.ts";

/** The reason of a stop: an order, a newer run, or the end of the heartbeat lease. */
export type StopReason = "order" | "restart" | "lease";

export type Action =
  | { readonly kind: "create"; readonly order: DesiredInstance }
  | { readonly kind: "start"; readonly order: DesiredInstance; readonly own: OwnContainer }
  | { readonly kind: "stop"; readonly own: OwnContainer; readonly reason: StopReason }
  | { readonly kind: "rename"; readonly own: OwnContainer; readonly name: string }
  | { readonly kind: "remove"; readonly own: OwnContainer; readonly keepsDisk: boolean }
  /** Deletes the disk of an instance that has no container any more. */
  | { readonly kind: "erase"; readonly instanceId: number };

export function instanceOf(action: Action): number {
  if (action.kind === "create") return action.order.instanceId;
  return action.kind === "erase" ? action.instanceId : action.own.instanceId;
}

export type PlanInput = {
  /** The orders; undefined until the server has sent them: until then no container is started or removed. */
  readonly orders: readonly DesiredInstance[] | undefined;
  readonly containers: readonly OwnContainer[];
  /** Instances that have a disk on this host, with or without a container. */
  readonly disks: ReadonlySet<number>;
  /** The recipe of a container that would be made for the order now (`recipe.ts`). */
  readonly recipeOf: (order: DesiredInstance) => string;
  /** Highest generation ever applied to an instance that the server still lists. */
  readonly appliedGenerations: ReadonlyMap<number, number>;
  /** Ids of containers whose last end was the agent's own doing; the others ended by themselves. */
  readonly halted: ReadonlySet<string>;
  readonly isLeaseLive: boolean;
  /** Ids, from one after `after` up to `until`, whose containers and disks stay although no order names them. */
  readonly keptIds: readonly IdRange[];
};

export type IdRange = { readonly after: number; readonly until: number };

/**
 * The actions that bring the containers to the desired set, at most one for each container. Applied again and again
 * they converge: for a converged state there are none (`plan.prop.test.ts`).
 */
export function plan(input: PlanInput): Action[] {
  if (input.orders === undefined) return input.isLeaseLive ? [] : stopRunning(input.containers, "lease");
  const byInstance = Map.groupBy(input.containers, (own) => own.instanceId);
  const actions: Action[] = [];
  const listed = new Set<number>();
  for (const order of input.orders) {
    listed.add(order.instanceId);
    const [own, ...older] = newestFirst(byInstance.get(order.instanceId) ?? []);
    // Two containers of one instance: a crash between two steps, or somebody's copy. Only the newest can be it.
    for (const other of older) actions.push({ kind: "remove", own: other, keepsDisk: true });
    const action = own ? planExisting(order, own, input) : planMissing(order, input);
    if (action) actions.push(action);
  }
  for (const [instanceId, orphans] of byInstance) {
    if (listed.has(instanceId)) continue;
    if (isKept(instanceId, input)) {
      actions.push(...stopRunning(orphans, "order"));
      continue;
    }
    for (const own of orphans) actions.push({ kind: "remove", own, keepsDisk: false });
  }
  for (const instanceId of input.disks) {
    if (listed.has(instanceId) || byInstance.has(instanceId) || isKept(instanceId, input)) continue;
    actions.push({ kind: "erase", instanceId });
  }
  return actions;
}

/** An order is stale when the instance has already been brought to a newer generation. */
export function isStale(order: DesiredInstance, own: OwnContainer | undefined, applied: number | undefined): boolean {
  return order.generation < Math.max(own?.generation ?? 0, applied ?? 0);
}

/** The newest container of one instance first; the running one of equals, so that a copy never displaces it. */
export function newestFirst(containers: readonly OwnContainer[]): OwnContainer[] {
  const rank = (own: OwnContainer) => (own.container.phase === "running" ? 1 : 0);
  return containers.toSorted(
    (a, b) => b.generation - a.generation || rank(b) - rank(a) || (a.container.id < b.container.id ? -1 : 1),
  );
}

function isKept(instanceId: number, { keptIds }: PlanInput): boolean {
  return keptIds.some(({ after, until }) => instanceId > after && instanceId <= until);
}

function stopRunning(containers: readonly OwnContainer[], reason: StopReason): Action[] {
  const running = containers.filter((own) => own.container.phase === "running");
  return running.map((own) => ({ kind: "stop", own, reason }));
}

function planMissing(order: DesiredInstance, input: PlanInput): Action | undefined {
  const { instanceId } = order;
  if (isStale(order, undefined, input.appliedGenerations.get(instanceId))) return undefined;
  if (order.run === "absent") return input.disks.has(instanceId) ? { kind: "erase", instanceId } : undefined;
  if (!input.isLeaseLive) return undefined;
  return { kind: "create", order };
}

function planExisting(order: DesiredInstance, own: OwnContainer, input: PlanInput): Action | undefined {
  const isRunning = own.container.phase === "running";
  if (!input.isLeaseLive && isRunning) return { kind: "stop", own, reason: "lease" };
  if (own.isUnsettled) return { kind: "rename", own, name: settledName(own.instanceId, own.generation) };
  if (isStale(order, own, input.appliedGenerations.get(order.instanceId))) return undefined;
  switch (order.run) {
    case "absent":
      return { kind: "remove", own, keepsDisk: false };
    case "stopped":
      return planStopped(order, own, isRunning);
    case "running":
      return input.isLeaseLive ? planRunning(order, own, input) : undefined;
  }
}

function planStopped(order: DesiredInstance, own: OwnContainer, isRunning: boolean): Action | undefined {
  if (isRunning) return { kind: "stop", own, reason: "order" };
  if (own.generation === order.generation) return undefined;
  const { startedAtMs } = own.container;
  const name =
    startedAtMs === null
      ? settledName(order.instanceId, order.generation)
      : pendingName(order.instanceId, order.generation, startedAtMs);
  return { kind: "rename", own, name };
}

function planRunning(order: DesiredInstance, own: OwnContainer, input: PlanInput): Action | undefined {
  const isRunning = own.container.phase === "running";
  if (own.generation < order.generation && isRunning) return { kind: "stop", own, reason: "restart" };
  if (isRunning) return undefined;
  // A process that ended by itself has used up its generation; only a newer order starts it again.
  const isSpent = own.generation === order.generation && own.hasBegun && !input.halted.has(own.container.id);
  if (isSpent) return undefined;
  if (own.revision < order.revision) return { kind: "remove", own, keepsDisk: false };
  // Devices, variables and mounts are fixed when a container is made; what the renter wrote is on the disk.
  if (own.recipe !== input.recipeOf(order)) return { kind: "remove", own, keepsDisk: true };
  return { kind: "start", order, own };
}
