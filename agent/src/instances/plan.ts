import type { DesiredInstance } from "../../../protocol/index.ts";
import { pendingName, settledName, type OwnContainer } from "./identity.ts";

/** Why a container is stopped: by order, for a newer run, or since nobody vouches for its lease any more. */
export type StopReason = "order" | "restart" | "lease";

export type Action =
  | { readonly kind: "create"; readonly order: DesiredInstance }
  | { readonly kind: "start"; readonly order: DesiredInstance; readonly own: OwnContainer }
  | { readonly kind: "stop"; readonly own: OwnContainer; readonly reason: StopReason }
  | { readonly kind: "rename"; readonly own: OwnContainer; readonly name: string }
  | { readonly kind: "remove"; readonly own: OwnContainer; readonly keeps_disk: boolean }
  /** Deletes the disk of an instance that has no container any more. */
  | { readonly kind: "erase"; readonly instance_id: number };

export function instanceOf(action: Action): number {
  if (action.kind === "create") return action.order.instance_id;
  return action.kind === "erase" ? action.instance_id : action.own.instance_id;
}

export type PlanInput = {
  /** Undefined until the server has said: nothing is started or removed on a guess. */
  readonly orders: readonly DesiredInstance[] | undefined;
  readonly containers: readonly OwnContainer[];
  /** Instances that have a disk on this host, with or without a container. */
  readonly disks: ReadonlySet<number>;
  /** What a container made for the order now would be (`recipe.ts`). */
  readonly recipeOf: (order: DesiredInstance) => string;
  /** Highest generation ever applied to an instance that the server still lists. */
  readonly floors: ReadonlyMap<number, number>;
  /** Ids of containers whose last end was the agent's own doing; the others ended by themselves. */
  readonly halted: ReadonlySet<string>;
  readonly is_lease_live: boolean;
};

/**
 * What is to be done so that the containers become what is desired; at most one action for each container. Applied
 * again and again it converges: over a converged state it returns nothing (`plan.prop.test.ts`).
 */
export function plan(input: PlanInput): Action[] {
  if (input.orders === undefined) return input.is_lease_live ? [] : stopRunning(input.containers);
  const byInstance = Map.groupBy(input.containers, (own) => own.instance_id);
  const actions: Action[] = [];
  const listed = new Set<number>();
  for (const order of input.orders) {
    listed.add(order.instance_id);
    const [own, ...older] = newestFirst(byInstance.get(order.instance_id) ?? []);
    // Two containers of one instance: a crash between two steps, or somebody's copy. Only the newest can be it.
    for (const other of older) actions.push({ kind: "remove", own: other, keeps_disk: true });
    const action = own ? planExisting(order, own, input) : planMissing(order, input);
    if (action) actions.push(action);
  }
  for (const [instance_id, orphans] of byInstance) {
    if (listed.has(instance_id)) continue;
    for (const own of orphans) actions.push({ kind: "remove", own, keeps_disk: false });
  }
  for (const instance_id of input.disks) {
    if (!listed.has(instance_id) && !byInstance.has(instance_id)) actions.push({ kind: "erase", instance_id });
  }
  return actions;
}

/** An order is stale when the instance has already been brought to a newer generation. */
export function isStale(order: DesiredInstance, own: OwnContainer | undefined, floor: number | undefined): boolean {
  return order.generation < Math.max(own?.generation ?? 0, floor ?? 0);
}

/** The newest container of one instance first; the running one of equals, so that a copy never displaces it. */
export function newestFirst(containers: readonly OwnContainer[]): OwnContainer[] {
  const rank = (own: OwnContainer) => (own.container.phase === "running" ? 1 : 0);
  return containers.toSorted(
    (a, b) => b.generation - a.generation || rank(b) - rank(a) || (a.container.id < b.container.id ? -1 : 1),
  );
}

function stopRunning(containers: readonly OwnContainer[]): Action[] {
  const running = containers.filter((own) => own.container.phase === "running");
  return running.map((own) => ({ kind: "stop", own, reason: "lease" }));
}

function planMissing(order: DesiredInstance, input: PlanInput): Action | undefined {
  const { instance_id } = order;
  if (isStale(order, undefined, input.floors.get(instance_id))) return undefined;
  if (order.run === "absent") return input.disks.has(instance_id) ? { kind: "erase", instance_id } : undefined;
  if (!input.is_lease_live) return undefined;
  return { kind: "create", order };
}

function planExisting(order: DesiredInstance, own: OwnContainer, input: PlanInput): Action | undefined {
  const isRunning = own.container.phase === "running";
  if (!input.is_lease_live && isRunning) return { kind: "stop", own, reason: "lease" };
  if (own.is_unsettled) return { kind: "rename", own, name: settledName(own.instance_id, own.generation) };
  if (isStale(order, own, input.floors.get(order.instance_id))) return undefined;
  switch (order.run) {
    case "absent":
      return { kind: "remove", own, keeps_disk: false };
    case "stopped":
      return planStopped(order, own, isRunning);
    case "running":
      return input.is_lease_live ? planRunning(order, own, input) : undefined;
  }
}

function planStopped(order: DesiredInstance, own: OwnContainer, isRunning: boolean): Action | undefined {
  if (isRunning) return { kind: "stop", own, reason: "order" };
  if (own.generation === order.generation) return undefined;
  const { started_at_ms } = own.container;
  const name =
    started_at_ms === null
      ? settledName(order.instance_id, order.generation)
      : pendingName(order.instance_id, order.generation, started_at_ms);
  return { kind: "rename", own, name };
}

function planRunning(order: DesiredInstance, own: OwnContainer, input: PlanInput): Action | undefined {
  const isRunning = own.container.phase === "running";
  if (own.generation < order.generation && isRunning) return { kind: "stop", own, reason: "restart" };
  if (isRunning) return undefined;
  // A process that ended by itself has used up its generation; only a newer order starts it again.
  const isSpent = own.generation === order.generation && own.has_begun && !input.halted.has(own.container.id);
  if (isSpent) return undefined;
  if (own.revision < order.revision) return { kind: "remove", own, keeps_disk: false };
  // Devices, variables and mounts are fixed when a container is made; what the renter wrote is on the disk.
  if (own.recipe !== input.recipeOf(order)) return { kind: "remove", own, keeps_disk: true };
  return { kind: "start", order, own };
}
