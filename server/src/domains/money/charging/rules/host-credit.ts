import { mulDivFloor, nanos, type Nanos } from "../../../../base/money.ts";

/** Running time before a host's failure whose price goes back to the renter. */
export const CREDITED_MS = 600_000;

type Stretch = {
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly quantity: bigint;
  readonly amountNanos: bigint;
  readonly paidFrom: "credit" | "deposit";
};

export type HostCredit = { readonly fromCredit: Nanos; readonly fromDeposit: Nanos };

/** The start of the running time whose price goes back: the last ten minutes of a run, or all of a shorter run. */
export function creditedSince(meteredFromAt: Date, runningMs: bigint): Date {
  const endMs = meteredFromAt.getTime() + Number(runningMs);
  return new Date(Math.max(meteredFromAt.getTime(), endMs - CREDITED_MS));
}

/**
 * The payments for running time since `since`, by what paid them; a stretch that began earlier counts by its share.
 * Each stretch is rounded down, so the sum never exceeds the payments.
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

/**
 * Money between one renter and one host: charges, credits for failures, and amounts that returned payments took back.
 */
export type Between = { readonly paidNanos: bigint; readonly givenNanos: bigint; readonly takenNanos: bigint };

/**
 * The most that a host's failure can return: the money of this renter that the host still has. Money that left the host
 * with a returned payment has gone back already.
 */
export function mostGivenBack({ paidNanos, givenNanos, takenNanos }: Between): bigint {
  const kept = paidNanos - givenNanos - takenNanos;
  return kept > 0n ? kept : 0n;
}
