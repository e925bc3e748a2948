import type { DesiredInstance, Notice } from "../wire/messages.ts";
import type { OwnContainer } from "../instances/identity.ts";
import type { Notes } from "../instances/notes.ts";

/** A notice as this host has taken it: its end is fixed by the host's own clock and only ever comes nearer. */
export type TakenNotice = {
  readonly generation: number;
  readonly reason: Notice["reason"];
  readonly message: string;
  /** Epoch milliseconds, for the renter to read. */
  readonly noticedAtMs: number;
  /** By the monotonic clock of this boot. */
  readonly endsAtMs: number;
  /** The run has ended under the notice: it is not begun again, even if the notice is taken back. */
  readonly isOver: boolean;
};
export type TakenNotices = ReadonlyMap<number, TakenNotice>;
export type Moment = { readonly monotonicMs: number; readonly nowMs: number };

/**
 * Eviction notices that an earlier process noted. From another boot only those whose run is over are kept: ends mean
 * nothing there.
 */
export function recallNotices(notes: Notes | undefined, bootId: string): TakenNotices {
  const noted = Object.entries(notes?.notices ?? {}).map(([id, taken]) => [Number(id), taken] as const);
  return new Map(notes?.bootId === bootId ? noted : noted.filter(([, taken]) => taken.isOver));
}

/**
 * Applies the notices of a new set of orders. Of several ends of one generation the earliest counts; an order without a
 * notice takes it back, unless the run is over.
 */
export function takeNotices(before: TakenNotices, orders: Iterable<DesiredInstance>, at: Moment): TakenNotices {
  const takenNotices = new Map<number, TakenNotice>();
  for (const { instanceId, generation, run, notice } of orders) {
    const own = before.get(instanceId);
    const kept = own?.generation === generation ? own : undefined;
    if (run === "running" && notice) {
      const endsAtMs = at.monotonicMs + notice.remainingMs;
      const { reason, message } = notice;
      takenNotices.set(instanceId, {
        generation,
        reason,
        message,
        noticedAtMs: kept?.noticedAtMs ?? at.nowMs,
        endsAtMs: Math.min(endsAtMs, kept?.endsAtMs ?? endsAtMs),
        isOver: kept?.isOver ?? false,
      });
    } else if (kept?.isOver) takenNotices.set(instanceId, kept);
  }
  return takenNotices;
}

/** A run is over at the end of its notice, or when it has ended before: by itself, or since its engine was restarted. */
export function endNotices(
  before: TakenNotices,
  input: {
    readonly monotonicMs: number;
    readonly containers: Iterable<OwnContainer>;
    /** True for an instance with a job under way: a container that does not run may be about to. */
    readonly isBusy: (instanceId: number) => boolean;
  },
): TakenNotices {
  const running = new Set<string>();
  for (const { container, instanceId, generation } of input.containers) {
    if (container.phase === "running") running.add(`${instanceId}:${generation}`);
  }
  const hasEnded = (instanceId: number, { generation, endsAtMs }: TakenNotice) =>
    input.monotonicMs >= endsAtMs || (!running.has(`${instanceId}:${generation}`) && !input.isBusy(instanceId));
  const takenNotices = new Map<number, TakenNotice>();
  for (const [instanceId, taken] of before) {
    const isOver = taken.isOver || hasEnded(instanceId, taken);
    takenNotices.set(instanceId, isOver === taken.isOver ? taken : { ...taken, isOver });
  }
  return takenNotices;
}

/** The orders with those whose run is over under its notice turned into orders for a stopped instance. */
export function heedNotices(
  orders: readonly DesiredInstance[],
  takenNotices: TakenNotices,
): readonly DesiredInstance[] {
  if (takenNotices.size === 0) return orders;
  return orders.map((order) => {
    const taken = takenNotices.get(order.instanceId);
    const isOver = taken?.isOver === true && taken.generation === order.generation;
    return isOver && order.run === "running" ? { ...order, run: "stopped" } : order;
  });
}

/** The text that renters' programs read: times in seconds since the epoch. */
export function describeInterruption(taken: TakenNotice, { monotonicMs, nowMs }: Moment): string {
  const stopsAtMs = nowMs + taken.endsAtMs - monotonicMs;
  const noticedAt = Math.floor(taken.noticedAtMs / 1000);
  // Rounded so that nobody believes to have more time than there is.
  const stopsAt = Math.max(noticedAt, Math.floor(stopsAtMs / 1000));
  const { reason, message } = taken;
  return JSON.stringify({ reason, message, noticed_at: noticedAt, stops_at: stopsAt, seconds: stopsAt - noticedAt });
}
