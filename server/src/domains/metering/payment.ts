import { nanos, type Nanos } from "../../base/money.ts";
import type { CapScope } from "../ledger/index.ts";
import { lineAmount, type DueLine } from "./lines.ts";

/** What is left to pay from, as payments go on: of a user's credit, and of the caps on its spending. */
export type Purse = { aboveZeroNanos: bigint; aboveFloorNanos: bigint };
export type Rooms = Map<CapScope, bigint>;

/** A line with what of it could be paid. */
export type PaidLine = DueLine & { readonly amountNanos: Nanos; readonly unpaidNanos: Nanos };

/**
 * Pays lines in order from what is there, and takes that away: a line that balance or caps do not bear is paid as far as
 * they do, and the rest of it stays unpaid. Only what is stored may bring credit below zero, down to its floor. What a
 * deposit pays was counted against it when the line was made.
 */
export function payLines(
  lines: readonly DueLine[],
  { purse, rooms, scopes }: { readonly purse: Purse; readonly rooms: Rooms; readonly scopes: readonly CapScope[] },
): readonly PaidLine[] {
  return lines.map((line) => {
    const due = lineAmount(line);
    if (line.paidFrom === "deposit") return { ...line, amountNanos: due, unpaidNanos: nanos(0n) };
    const bearable = [line.component === "disk" ? purse.aboveFloorNanos : purse.aboveZeroNanos];
    for (const scope of scopes) bearable.push(rooms.get(scope) ?? due);
    const least = bearable.reduce((low, value) => (value < low ? value : low), due);
    const amount = least > 0n ? least : 0n;
    purse.aboveZeroNanos -= amount;
    purse.aboveFloorNanos -= amount;
    for (const scope of scopes) {
      const room = rooms.get(scope);
      if (room !== undefined) rooms.set(scope, room - amount);
    }
    return { ...line, amountNanos: nanos(amount), unpaidNanos: nanos(due - amount) };
  });
}
