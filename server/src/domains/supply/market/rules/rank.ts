import { allocate, compareRank, restEnd, spareEnd, type Claim, type Holder, type MachineClaims } from "./allocation.ts";

/** The rank of a claim in the schedule of its machine, as users see it. */
export type Rank = {
  /** It runs, or will as soon as devices that are kept for it are free. */
  readonly isServed: boolean;
  /** Only the minimum slice, its own or that of a claim that has just resumed, keeps it from running. */
  readonly isResting: boolean;
  /** Number of waiting claims that rank before it. */
  readonly aheadCount: number;
  /** The lowest bid with which it runs now, or goes on running; undefined when no bid is high enough. */
  readonly bidToRunNanos: bigint | undefined;
  /** The highest bid that this one has to beat, for as many devices; undefined when no bid is in its way. */
  readonly winningBidNanos: bigint | undefined;
  /** When the minimum slice that keeps it from running, even with the highest bid, is over. */
  readonly restsUntilMs: number | undefined;
};

/** Limits of a changed bid, in nano-dollars an hour for the whole rental. */
const BID_MIN_NANOS = 1_000_000n;
export const BID_MAX_NANOS = 32_000_000_000n;
/** The smallest step by which a bid beats another, in nano-dollars an hour for the whole rental. */
const BID_STEP_NANOS = 1_000_000n;

/**
 * The rank of a claim among the others of its machine. `machine` has the others and, where the claim holds devices, the
 * claim itself; `minBidNanos` is the host's minimum bid for as many devices. The bid that it needs is found by asking
 * the schedule itself, so it is true as long as nothing changes.
 */
export function rankOf(machine: MachineClaims, own: Claim, minBidNanos: bigint): Rank {
  const isServed = runs(machine, own, minBidNanos);
  const isResting = !isServed && runs({ ...machine, minSliceMs: 0 }, own, minBidNanos);
  const bidToRunNanos = own.isBid ? lowestBid(machine, own, minBidNanos) : undefined;
  // A claim that has just resumed is safe from every bid: then the answer is the bid that is enough afterwards.
  const isPatient = own.isBid && !isServed && bidToRunNanos === undefined;
  const enoughNanos = isPatient ? lowestBid({ ...machine, minSliceMs: 0 }, own, minBidNanos) : bidToRunNanos;
  const isSlice = isResting || (isPatient && enoughNanos !== undefined);
  const contender = isPatient && enoughNanos !== undefined ? atPrice(own, enoughNanos, machine.nowMs) : own;
  return {
    isServed,
    isResting,
    aheadCount: aheadOf(machine, own),
    bidToRunNanos,
    winningBidNanos: enoughNanos === undefined ? undefined : highestBelow(machine, own, enoughNanos),
    restsUntilMs: isSlice ? sliceEnd(machine, contender, minBidNanos) : undefined,
  };
}

function sliceEnd(machine: MachineClaims, own: Claim, minBidNanos: bigint): number | undefined {
  const ownRestMs = restEnd(own, machine.minSliceMs);
  return ownRestMs > machine.nowMs ? ownRestMs : allocate(withOwn(machine, own, minBidNanos)).reviewAtMs;
}

function aheadOf({ waiting }: MachineClaims, own: Claim): number {
  return waiting.filter((other) => other.instanceId !== own.instanceId && compareRank(other, own) < 0).length;
}

/** Bids at which the answer may change: just at and just above each other bid, the minimum bid, and any raise. */
function lowestBid(machine: MachineClaims, own: Claim, minBidNanos: bigint): bigint | undefined {
  const others = bidsBeside(machine, own).flatMap((bid) => [bid, bid + BID_STEP_NANOS]);
  const least = minBidNanos > BID_MIN_NANOS ? minBidNanos : BID_MIN_NANOS;
  const raised = own.priceNanosPerHour + BID_STEP_NANOS;
  const candidates = [...new Set([least, own.priceNanosPerHour, raised, ...others])]
    .filter((bid) => bid >= least && bid <= BID_MAX_NANOS)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const isEnough = (bid: bigint) => runs(machine, atPrice(own, bid, machine.nowMs), minBidNanos);
  if (mayFareWorse(machine, own)) return candidates.find(isEnough);
  // A higher bid never ranks lower, so the first that runs is found by halving.
  let [low, high] = [0, candidates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEnough(candidates[middle] ?? 0n)) high = middle;
    else low = middle + 1;
  }
  return candidates[low];
}

/**
 * True when a higher bid may have to leave where a lower one stays: on-demand evicts the lowest even when it is in its
 * slice, bids then take more from a claim above, and the rest of that claim's devices lets the lowest stay. It takes a
 * claim within its slice, and happens only to a claim that holds devices (`rank.prop.test.ts`).
 */
function mayFareWorse(machine: MachineClaims, own: Claim): boolean {
  const { holders, minSliceMs, nowMs } = machine;
  return holderOf(machine, own) !== undefined && holders.some((holder) => spareEnd(holder, minSliceMs) > nowMs);
}

/** The claim `own` after a change of its bid: a raised bid counts from now on, and does not wait any more. */
export function atPrice<C extends Claim>(own: C, priceNanosPerHour: bigint, nowMs: number): C {
  const isRaised = priceNanosPerHour > own.priceNanosPerHour;
  return { ...own, priceNanosPerHour, claimedAtMs: isRaised ? nowMs : own.claimedAtMs };
}

/** The other bids for as many devices as `own` has, rounded up. */
function bidsBeside({ holders, waiting }: MachineClaims, own: Claim): readonly bigint[] {
  const count = BigInt(own.deviceCount);
  return [...holders, ...waiting]
    .filter((other) => other.isBid && !other.isBackground && other.instanceId !== own.instanceId)
    .map((other) => {
      const size = BigInt(other.deviceCount);
      return (other.priceNanosPerHour * count + size - 1n) / size;
    });
}

function highestBelow(machine: MachineClaims, own: Claim, bid: bigint): bigint | undefined {
  const below = bidsBeside(machine, own).filter((other) => other < bid);
  return below.length === 0 ? undefined : below.reduce((a, b) => (a > b ? a : b));
}

/** The machine's claims with `own` as given. */
function withOwn(machine: MachineClaims, own: Claim, minBidNanos: bigint): MachineClaims {
  const isOther = (claim: Claim) => claim.instanceId !== own.instanceId;
  const held = holderOf(machine, own);
  if (held !== undefined) {
    return { ...machine, holders: machine.holders.map((holder) => (holder === held ? { ...holder, ...own } : holder)) };
  }
  const isAtMinBid = !own.isBid || own.isBackground || own.priceNanosPerHour >= minBidNanos;
  return { ...machine, waiting: [...machine.waiting.filter(isOther), ...(isAtMinBid ? [own] : [])] };
}

/** The claim among the holders, unless it is certainly leaving: then it needs new devices. */
function holderOf({ holders }: MachineClaims, own: Claim): Holder | undefined {
  return holders.find((holder) => holder.instanceId === own.instanceId && !holder.isLeaving);
}

function runs(machine: MachineClaims, own: Claim, minBidNanos: bigint): boolean {
  const { grants, promised, displaced, reprieved } = allocate(withOwn(machine, own, minBidNanos));
  const { instanceId } = own;
  const held = holderOf(machine, own);
  if (held?.isUnderNotice === true) return reprieved.includes(instanceId);
  if (held !== undefined) return displaced.every((one) => one.instanceId !== instanceId);
  return promised.includes(instanceId) || grants.some((grant) => grant.instanceId === instanceId);
}
