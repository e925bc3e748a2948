import { nanos, type Nanos } from "../../../base/money.ts";
import type { CapRoom, CapScope } from "../ledger/index.ts";
import { cutLine, lineAmount, type DueLine } from "./lines.ts";

/** What is left to pay from, as payments go on: of a user's credit, and of the caps on its spending. */
export type Purse = { aboveZeroNanos: bigint; aboveMinimumNanos: bigint };
/** What one cap leaves: for time from `holdsFromMs` on, and for time before it; undefined where no limit held then. */
export type Room = {
  readonly holdsFromMs: number;
  nanos: bigint;
  beforeNanos: bigint | undefined;
  /** What of the limit is set aside besides, for whatever counts against it. */
  readonly heldNanos: bigint;
};
/** By scope, a room for each of its caps. */
export type Rooms = ReadonlyMap<CapScope, readonly Room[]>;

/** What the traffic of one instance may still cost, as payments go on. */
export type TrafficRoom = { leftNanos: bigint };

/** A line with what of it could be paid. */
export type PaidLine = DueLine & { readonly amountNanos: Nanos; readonly unpaidNanos: Nanos };

export function roomsOf(caps: readonly CapRoom[]): Rooms {
  const rooms = caps.map(({ scope, roomNanos, roomBeforeNanos, heldNanos, holdsFromAt }) => ({
    scope,
    room: { holdsFromMs: holdsFromAt.getTime(), nanos: roomNanos, beforeNanos: roomBeforeNanos, heldNanos },
  }));
  const byScope = Map.groupBy(rooms, ({ scope }) => scope);
  return new Map([...byScope].map(([scope, own]) => [scope, own.map(({ room }): Room => ({ ...room }))]));
}

/**
 * Pays lines in order from what is there, and takes that away: a line that balance or caps do not bear is paid as far as
 * they do, and the rest of it stays unpaid; so is traffic beyond what that of its instance may cost. A line that lies on both
 * sides of the moment from which a cap holds is cut there, since each side has a limit of its own. Only what is stored may
 * bring credit below zero, down to its floor. What a deposit pays was counted against it when the line was made.
 */
export function payLines(
  lines: readonly DueLine[],
  {
    purse,
    rooms,
    scopes,
    traffic,
  }: {
    readonly purse: Purse;
    readonly rooms: Rooms;
    readonly scopes: readonly CapScope[];
    readonly traffic?: TrafficRoom | undefined;
  },
): readonly PaidLine[] {
  const own = scopes.flatMap((scope) => rooms.get(scope) ?? []);
  const cuts = [...new Set(own.map(({ holdsFromMs }) => holdsFromMs))].toSorted((a, b) => a - b);
  const pieces = cuts.length === 0 ? lines : lines.flatMap((line) => cutLine(line, cuts));
  return pieces.map((line) => {
    const due = lineAmount(line);
    if (line.paidFrom === "deposit") return { ...line, amountNanos: due, unpaidNanos: nanos(0n) };
    const bearable = [line.component === "disk" ? purse.aboveMinimumNanos : purse.aboveZeroNanos];
    for (const room of own) bearable.push((line.fromMs < room.holdsFromMs ? room.beforeNanos : room.nanos) ?? due);
    const trafficRoom = line.component === "bwu" || line.component === "bwd" ? traffic : undefined;
    if (trafficRoom !== undefined) bearable.push(trafficRoom.leftNanos);
    const least = bearable.reduce((low, value) => (value < low ? value : low), due);
    const amount = least > 0n ? least : 0n;
    if (trafficRoom !== undefined) trafficRoom.leftNanos -= amount;
    purse.aboveZeroNanos -= amount;
    purse.aboveMinimumNanos -= amount;
    for (const room of own) {
      room.nanos -= amount;
      if (room.beforeNanos !== undefined) room.beforeNanos -= amount;
    }
    return { ...line, amountNanos: nanos(amount), unpaidNanos: nanos(due - amount) };
  });
}
