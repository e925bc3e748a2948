import type { DesiredInstance, Notice } from "../../../protocol/index.ts";
import type { OwnContainer } from "../instances/identity.ts";
import type { Notes } from "../instances/notes.ts";

/** A notice as this host has taken it: its end is fixed by the host's own clock and only ever comes nearer. */
export type Standing = {
  readonly generation: number;
  readonly reason: Notice["reason"];
  readonly message: string;
  /** Epoch milliseconds, for the renter to read. */
  readonly noticed_at_ms: number;
  /** Of the monotonic clock of this boot. */
  readonly ends_at_ms: number;
  /** The run has ended under the notice: it is not begun again, whatever becomes of the notice. */
  readonly is_over: boolean;
};
export type Standings = ReadonlyMap<number, Standing>;
export type Moment = { readonly monotonic_ms: number; readonly now_ms: number };

/** What an earlier process noted. The end of a notice means nothing in another boot; that a run is over does. */
export function recallNotices(notes: Notes | undefined, boot_id: string): Standings {
  const noted = Object.entries(notes?.notices ?? {}).map(([id, standing]) => [Number(id), standing] as const);
  return new Map(notes?.boot_id === boot_id ? noted : noted.filter(([, standing]) => standing.is_over));
}

/**
 * Takes what a new set of orders says of notices. Of several ends of one generation the earliest counts; an order without
 * a notice takes it back, unless the run is over.
 */
export function takeNotices(before: Standings, orders: Iterable<DesiredInstance>, at: Moment): Standings {
  const standings = new Map<number, Standing>();
  for (const { instance_id, generation, run, notice } of orders) {
    const own = before.get(instance_id);
    const kept = own?.generation === generation ? own : undefined;
    if (run === "running" && notice) {
      const ends_at_ms = at.monotonic_ms + notice.remaining_ms;
      const { reason, message } = notice;
      standings.set(instance_id, {
        generation,
        reason,
        message,
        noticed_at_ms: kept?.noticed_at_ms ?? at.now_ms,
        ends_at_ms: Math.min(ends_at_ms, kept?.ends_at_ms ?? ends_at_ms),
        is_over: kept?.is_over ?? false,
      });
    } else if (kept?.is_over) standings.set(instance_id, kept);
  }
  return standings;
}

/** A run is over at the end of its notice, or when it has ended before: by itself, or since its engine was restarted. */
export function endNotices(
  before: Standings,
  input: {
    readonly monotonic_ms: number;
    readonly containers: Iterable<OwnContainer>;
    /** Instances at which something is being done: what does not run yet may be about to. */
    readonly isBusy: (instance_id: number) => boolean;
  },
): Standings {
  const running = new Set<string>();
  for (const { container, instance_id, generation } of input.containers) {
    if (container.phase === "running") running.add(`${instance_id}:${generation}`);
  }
  const isOver = (instance_id: number, { generation, ends_at_ms }: Standing) =>
    input.monotonic_ms >= ends_at_ms || (!running.has(`${instance_id}:${generation}`) && !input.isBusy(instance_id));
  const standings = new Map<number, Standing>();
  for (const [instance_id, standing] of before) {
    const is_over = standing.is_over || isOver(instance_id, standing);
    standings.set(instance_id, is_over === standing.is_over ? standing : { ...standing, is_over });
  }
  return standings;
}

/** What is really to be done: an order whose run is over under its notice is one for a stopped instance. */
export function heedNotices(orders: readonly DesiredInstance[], standings: Standings): readonly DesiredInstance[] {
  if (standings.size === 0) return orders;
  return orders.map((order) => {
    const standing = standings.get(order.instance_id);
    const isOver = standing?.is_over === true && standing.generation === order.generation;
    return isOver && order.run === "running" ? { ...order, run: "stopped" } : order;
  });
}

/** The text that renters' programs read: times in seconds since the epoch. */
export function describeInterruption(standing: Standing, { monotonic_ms, now_ms }: Moment): string {
  const stops_at_ms = now_ms + standing.ends_at_ms - monotonic_ms;
  const noticed_at = Math.floor(standing.noticed_at_ms / 1000);
  // Rounded so that nobody believes to have more time than there is.
  const stops_at = Math.max(noticed_at, Math.floor(stops_at_ms / 1000));
  const { reason, message } = standing;
  return JSON.stringify({ reason, message, noticed_at, stops_at, seconds: stops_at - noticed_at });
}
