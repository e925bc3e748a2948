import type { DesiredInstance, Notice } from "../wire/messages.ts";
import type { OwnContainer } from "../instances/identity.ts";
import type { Notes } from "../instances/notes.ts";

/** A notice as this host has taken it: its end is fixed by the host's own clock and only ever comes nearer. */
export type Standing = {
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
export type Standings = ReadonlyMap<number, Standing>;
export type Moment = { readonly monotonicMs: number; readonly nowMs: number };

/**
 * Eviction notices that an earlier process noted. From another boot only those whose run is over are kept: ends mean
 * nothing there.
 */
export function recallNotices(notes: Notes | undefined, bootId: string): Standings {
  const noted = Object.entries(notes?.notices ?? {}).map(([id, standing]) => [Number(id), standing] as const);
  return new Map(notes?.bootId === bootId ? noted : noted.filter(([, standing]) => standing.isOver));
}

/**
 * Takes what a new set of orders says of notices. Of several ends of one generation the earliest counts; an order without
 * a notice takes it back, unless the run is over.
 */
export function takeNotices(before: Standings, orders: Iterable<DesiredInstance>, at: Moment): Standings {
  const standings = new Map<number, Standing>();
  for (const { instanceId, generation, run, notice } of orders) {
    const own = before.get(instanceId);
    const kept = own?.generation === generation ? own : undefined;
    if (run === "running" && notice) {
      const endsAtMs = at.monotonicMs + notice.remainingMs;
      const { reason, message } = notice;
      standings.set(instanceId, {
        generation,
        reason,
        message,
        noticedAtMs: kept?.noticedAtMs ?? at.nowMs,
        endsAtMs: Math.min(endsAtMs, kept?.endsAtMs ?? endsAtMs),
        isOver: kept?.isOver ?? false,
      });
    } else if (kept?.isOver) standings.set(instanceId, kept);
  }
  return standings;
}

/** A run is over at the end of its notice, or when it has ended before: by itself, or since its engine was restarted. */
export function endNotices(
  before: Standings,
  input: {
    readonly monotonicMs: number;
    readonly containers: Iterable<OwnContainer>;
    /** Instances at which something is being done: what does not run yet may be about to. */
    readonly isBusy: (instanceId: number) => boolean;
  },
): Standings {
  const running = new Set<string>();
  for (const { container, instanceId, generation } of input.containers) {
    if (container.phase === "running") running.add(`${instanceId}:${generation}`);
  }
  const hasEnded = (instanceId: number, { generation, endsAtMs }: Standing) =>
    input.monotonicMs >= endsAtMs || (!running.has(`${instanceId}:${generation}`) && !input.isBusy(instanceId));
  const standings = new Map<number, Standing>();
  for (const [instanceId, standing] of before) {
    const isOver = standing.isOver || hasEnded(instanceId, standing);
    standings.set(instanceId, isOver === standing.isOver ? standing : { ...standing, isOver });
  }
  return standings;
}

/** The orders with those whose run is over under its notice turned into orders for a stopped instance. */
export function heedNotices(orders: readonly DesiredInstance[], standings: Standings): readonly DesiredInstance[] {
  if (standings.size === 0) return orders;
  return orders.map((order) => {
    const standing = standings.get(order.instanceId);
    const isOver = standing?.isOver === true && standing.generation === order.generation;
    return isOver && order.run === "running" ? { ...order, run: "stopped" } : order;
  });
}

/** The text that renters' programs read: times in seconds since the epoch. */
export function describeInterruption(standing: Standing, { monotonicMs, nowMs }: Moment): string {
  const stopsAtMs = nowMs + standing.endsAtMs - monotonicMs;
  const noticedAt = Math.floor(standing.noticedAtMs / 1000);
  // Rounded so that nobody believes to have more time than there is.
  const stopsAt = Math.max(noticedAt, Math.floor(stopsAtMs / 1000));
  const { reason, message } = standing;
  return JSON.stringify({ reason, message, noticed_at: noticedAt, stops_at: stopsAt, seconds: stopsAt - noticedAt });
}
