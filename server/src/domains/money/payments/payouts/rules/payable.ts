import { nanos, type Nanos } from "../../../../../base/money.ts";

/** The facts about a host's earnings at one moment, in nano-dollars. */
export type EarningsFacts = {
  readonly balanceNanos: bigint;
  /** The part of the balance that came from granted credit; negative when the house has advanced something. */
  readonly grantedNanos: bigint;
  /** The part of the granted earnings that the operator's rule releases now. */
  readonly releasableNanos: bigint;
  /** Earnings from card payments that are too young to be paid out, or that were disputed. */
  readonly youngNanos: bigint;
  /** True while a hold stops all payouts of this host. */
  readonly isHeld: boolean;
};

/**
 * The payable part of a host's earnings, and the reasons for the other parts; all parts add up to the positive balance.
 */
export type Payable = {
  readonly payable: Nanos;
  /** The granted part of `payable`: paying it costs the house cash, so its release is booked. */
  readonly released: Nanos;
  /** Waits because it came from granted credit. */
  readonly granted: Nanos;
  /** Waits because it came from card payments that can still be taken back. */
  readonly young: Nanos;
  /** Waits because all payouts of this host are held. */
  readonly held: Nanos;
  /** The debt of the host: the amount by which the earnings are below zero. */
  readonly debt: Nanos;
};

/**
 * Divides earnings into their parts. Payable are cash that is old enough, and granted earnings that the rule releases;
 * never more than the balance, so that a debt is paid first.
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
 * The earnings of a host that came from young card money. `earnedFrom` is what the host has earned from each renter's
 * cash in the time in which payments count as young, `youngOf` each renter's young card payments; the smaller amount
 * counts. Cash is not marked by payment, so the result may exceed the exact amount, but is never below it.
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
