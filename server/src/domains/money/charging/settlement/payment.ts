import { nanos, type Nanos } from "../../../../base/money.ts";
import type { CapRoom } from "../../ledger/for-charging.ts";
import type { CapScope } from "../../ledger/index.ts";
import { cutLine, lineAmount, type DueLine } from "../lines/lines.ts";

/** The credit that is left to pay from, updated as payments are made. */
export type Purse = { aboveZeroNanos: bigint; aboveMinimumNanos: bigint };
/**
 * The amount that one cap leaves for time from `holdsFromMs` on, and for earlier time; the latter is undefined when no
 * limit held.
 */
export type Room = {
  readonly holdsFromMs: number;
  nanos: bigint;
  beforeNanos: bigint | undefined;
  /** The part of the limit that pending holds set aside; it is in neither of the two amounts above. */
  readonly heldNanos: bigint;
};
/** By scope, the room of each of its caps. */
export type Rooms = ReadonlyMap<CapScope, readonly Room[]>;

/** The amount that the traffic of one instance may still cost, updated as payments are made. */
export type TrafficRoom = { leftNanos: bigint };

/** A charge line with its paid and unpaid amounts. */
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
 * Pays charge lines in order from the purse and the rooms, and reduces them. A line is paid as far as balance and caps
 * cover it, and the rest stays unpaid; traffic is also paid only up to the limit of its instance. A line across the
 * moment from which a cap holds is cut there, since each side has its own limit. Only storage may bring credit below
 * zero, down to its minimum balance. Amounts that a deposit pays were subtracted from it when the line was made.
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
