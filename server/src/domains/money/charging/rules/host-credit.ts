import { mulDivFloor, nanos, type Nanos } from "../../../../base/money.ts";

/** So much of the end of a run that its host failed is given back. */
export const CREDITED_MS = 600_000;

type Stretch = {
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly quantity: bigint;
  readonly amountNanos: bigint;
  readonly paidFrom: "credit" | "deposit";
};

export type HostCredit = { readonly fromCredit: Nanos; readonly fromDeposit: Nanos };

/** From when on the running time of a run is given back: its last ten minutes, or all of it when there was less. */
export function creditedSince(meteredFromAt: Date, runningMs: bigint): Date {
  const endMs = meteredFromAt.getTime() + Number(runningMs);
  return new Date(Math.max(meteredFromAt.getTime(), endMs - CREDITED_MS));
}

/**
 * What was paid for the running time since then, by what paid it: of a stretch that began before, its share. Never more
 * than was paid, since each stretch is rounded down.
 */
export function creditOfStretches(stretches: readonly Stretch[], since: Date): HostCredit {
  const sums = { credit: 0n, deposit: 0n };
  for (const { fromAt, toAt, quantity, amountNanos, paidFrom } of stretches) {
    const overlapMs = toAt.getTime() - Math.max(fromAt.getTime(), since.getTime());
    if (overlapMs <= 0 || quantity === 0n) continue;
    sums[paidFrom] += mulDivFloor(amountNanos, BigInt(overlapMs), quantity);
  }
  return { fromCredit: nanos(sums.credit), fromDeposit: nanos(sums.deposit) };
}

/** What went between one renter and one host: charges, what was given back for failures, and what returned payments took. */
export type Between = { readonly paidNanos: bigint; readonly givenNanos: bigint; readonly takenNanos: bigint };

/**
 * The most that a host's failure gives back: what the host still has of this renter's money. What left it with a returned
 * payment is the renter's again already.
 */
export function mostGivenBack({ paidNanos, givenNanos, takenNanos }: Between): bigint {
  const kept = paidNanos - givenNanos - takenNanos;
  return kept > 0n ? kept : 0n;
}
