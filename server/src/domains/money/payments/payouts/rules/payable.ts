import { nanos, type Nanos } from "../../../../../base/money.ts";

/** What is known of a host's earnings at one moment. */
export type EarningsFacts = {
  readonly balanceNanos: bigint;
  /** The part of the balance that came of granted credit; below zero where the house has advanced something. */
  readonly grantedNanos: bigint;
  /** What of the granted part the operator's rule releases now. */
  readonly releasableNanos: bigint;
  /** What came of card payments that are too young to be paid out, or that were disputed. */
  readonly youngNanos: bigint;
  /** Somebody stopped all payouts of this host. */
  readonly isHeld: boolean;
};

/** What of a host's earnings is paid now, and why the rest is not; the parts add up to what is above zero of the balance. */
export type Payable = {
  readonly payable: Nanos;
  /** Of `payable`, what was granted: paying it costs the house cash, so its release is booked. */
  readonly released: Nanos;
  /** Waits since it came of granted credit. */
  readonly granted: Nanos;
  /** Waits since it came of card payments that may still be taken back. */
  readonly young: Nanos;
  /** Waits since all payouts of this host do. */
  readonly held: Nanos;
  /** What the host owes: its earnings are so far below zero. */
  readonly debt: Nanos;
};

/**
 * What of earnings is payable: cash that is old enough, and what the rule on granted credit releases. Never more than the
 * balance, so a debt is paid first.
 */
export function payableOf(facts: EarningsFacts): Payable {
  const { balanceNanos: balance, youngNanos, isHeld } = facts;
  const has = atLeastZero(balance);
  const granted = least(atLeastZero(facts.grantedNanos), has);
  const released = least(atLeastZero(facts.releasableNanos), granted);
  const young = least(atLeastZero(youngNanos), has - granted);
  const free = has - granted - young + released;
  return {
    payable: nanos(isHeld ? 0n : free),
    released: nanos(isHeld ? 0n : released),
    granted: nanos(granted - released),
    young: nanos(young),
    held: nanos(isHeld ? free : 0n),
    debt: nanos(atLeastZero(-balance)),
  };
}

/**
 * What of a host's earnings came of young card money: of each renter at most what the host has got of its cash since then,
 * and at most what is young of what the renter paid in. That may be more than what exactly these payments paid for, as cash
 * is not marked; it is never less.
 */
export function youngPart(earnedFrom: ReadonlyMap<number, bigint>, youngOf: ReadonlyMap<number, bigint>): Nanos {
  let sum = 0n;
  for (const [payerId, earned] of earnedFrom)
    sum += least(atLeastZero(earned), atLeastZero(youngOf.get(payerId) ?? 0n));
  return nanos(sum);
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function atLeastZero(value: bigint): bigint {
  return value > 0n ? value : 0n;
}
