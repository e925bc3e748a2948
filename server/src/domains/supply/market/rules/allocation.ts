import type { DeviceId, InstanceId } from "../../../../base/ids.ts";

/** A rental that wants devices, with the facts that decide its rank. */
export type Claim = {
  readonly instanceId: InstanceId;
  readonly isBid: boolean;
  /** A host's own job: it takes devices that nobody rents, and leaves for every renter. */
  readonly isBackground: boolean;
  readonly priceNanosPerHour: bigint;
  /**
   * Since when it has asked for its devices at this price or more: of two equal claims the earlier one ranks higher.
   */
  readonly claimedAtMs: number;
  readonly deviceCount: number;
  /** When it was last evicted for a higher claim; undefined when it never was. */
  readonly displacedAtMs: number | undefined;
};

/** A claim that holds devices. Once `isLeaving`, they certainly become free when the host confirms the teardown. */
export type Holder = Claim & {
  readonly isLeaving: boolean;
  /** True while its eviction notice runs and may still be withdrawn. */
  readonly isUnderNotice: boolean;
  /** Number of its devices that can be given to others after it: devices that broke meanwhile cannot. */
  readonly usableCount: number;
  readonly grantedAtMs: number;
};

export type MachineClaims = {
  /** Devices that can be given away now, in the order in which they are given. */
  readonly freeDevices: readonly DeviceId[];
  readonly holders: readonly Holder[];
  readonly waiting: readonly Claim[];
  readonly nowMs: number;
  /** How long an evicted claim waits, and how long a resumed one is safe from other bids. */
  readonly minSliceMs: number;
};

export type DisplacementReason = "outbid" | "on_demand" | "background";

export type Allocation = {
  readonly grants: readonly { readonly instanceId: InstanceId; readonly deviceIds: readonly DeviceId[] }[];
  /** Holders that must leave so that a higher claim can run, and have no eviction notice yet. */
  readonly displaced: readonly { readonly instanceId: InstanceId; readonly reason: DisplacementReason }[];
  /** Holders whose eviction notice is withdrawn. */
  readonly reprieved: readonly InstanceId[];
  /** Waiting claims whose devices are kept for them and become free without a further eviction. */
  readonly promised: readonly InstanceId[];
  /** When the same claims may lead to another decision; undefined when time alone changes nothing. */
  readonly reviewAtMs: number | undefined;
};

/**
 * Decides which claims run on one machine (docs/contract-rules.md#bids): on-demand before bids, a higher bid before a
 * lower one, the earlier of two equals, and hosts' own jobs last. On-demand is never evicted; of the others the lowest
 * go first, and only those whose devices the higher claim needs. The decision is made from scratch each time, so that
 * an eviction notice is withdrawn when its reason is gone. A claim that cannot run even so takes nothing from those
 * behind it.
 */
export function allocate(machine: MachineClaims): Allocation {
  const { nowMs, minSliceMs } = machine;
  const free = [...machine.freeDevices];
  const grants: { instanceId: InstanceId; deviceIds: readonly DeviceId[] }[] = [];
  const promised: InstanceId[] = [];
  const displaced = new Map<Holder, DisplacementReason>();
  let leavingCount = sum(machine.holders.filter((holder) => holder.isLeaving));
  let victims = machine.holders.filter(mayBeDisplaced).toSorted(compareRank);
  let reviewAtMs = Infinity;

  for (const claim of machine.waiting.toSorted(compareRank)) {
    const restsUntilMs = restEnd(claim, minSliceMs);
    if (restsUntilMs > nowMs) {
      reviewAtMs = Math.min(reviewAtMs, restsUntilMs);
      continue;
    }
    if (claim.deviceCount <= free.length) {
      grants.push({ instanceId: claim.instanceId, deviceIds: free.splice(0, claim.deviceCount) });
      continue;
    }
    const lower = victims.filter((victim) => compareRank(claim, victim) < 0);
    const spared = claim.isBid ? lower.filter((victim) => spareEnd(victim, minSliceMs) > nowMs) : [];
    const missing = claim.deviceCount - free.length - leavingCount;
    if (missing > 0) reviewAtMs = Math.min(reviewAtMs, ...spared.map((victim) => spareEnd(victim, minSliceMs)));
    const chosen = cheapestOf(
      lower.filter((victim) => !spared.includes(victim)),
      missing,
    );
    if (chosen === undefined) continue;
    for (const victim of chosen) displaced.set(victim, reasonOf(claim, victim));
    victims = victims.filter((victim) => !chosen.includes(victim));
    promised.push(claim.instanceId);
    // Devices that are free now or soon are kept for this claim; only the rest is left for claims behind it.
    leavingCount += sum(chosen) - (claim.deviceCount - free.length);
    free.length = 0;
  }
  for (const victim of notNeeded([...displaced.keys()], leavingCount)) displaced.delete(victim);
  return {
    grants,
    displaced: [...displaced]
      .filter(([{ isUnderNotice }]) => !isUnderNotice)
      .map(([{ instanceId }, reason]) => ({ instanceId, reason })),
    reprieved: machine.holders
      .filter((holder) => holder.isUnderNotice && !holder.isLeaving && !displaced.has(holder))
      .map((holder) => holder.instanceId),
    promised,
    reviewAtMs: reviewAtMs === Infinity ? undefined : reviewAtMs,
  };
}

/**
 * The holders that leave to free `missing` devices, out of candidates in order of rank, highest first: each stays if
 * all below it are enough. So the lowest leave, and none whose devices are not needed. Undefined when all of them
 * together are too few.
 */
function cheapestOf(candidates: readonly Holder[], missing: number): readonly Holder[] | undefined {
  let total = sum(candidates);
  if (total < missing) return undefined;
  return candidates.filter((victim) => {
    if (total - victim.usableCount < missing) return true;
    total -= victim.usableCount;
    return false;
  });
}

/** Holders that the others make up for, highest first, when all their devices exceed the need by `surplus`. */
function notNeeded(victims: readonly Holder[], surplus: number): readonly Holder[] {
  let left = surplus;
  return victims.toSorted(compareRank).filter(({ usableCount }) => {
    if (usableCount > left) return false;
    left -= usableCount;
    return true;
  });
}

function mayBeDisplaced(holder: Holder): boolean {
  return (holder.isBid || holder.isBackground) && !holder.isLeaving && holder.usableCount > 0;
}

/**
 * End of the wait of an evicted claim that might already win; a bid raised or an instance started since then does not
 * wait.
 */
export function restEnd({ displacedAtMs, claimedAtMs }: Claim, minSliceMs: number): number {
  return displacedAtMs === undefined || claimedAtMs > displacedAtMs ? -Infinity : displacedAtMs + minSliceMs;
}

/** End of the time in which no other bid evicts it, because it was evicted before it was granted its devices. */
export function spareEnd({ displacedAtMs, grantedAtMs, isBackground }: Holder, minSliceMs: number): number {
  const hasResumed = displacedAtMs !== undefined && displacedAtMs <= grantedAtMs && !isBackground;
  return hasResumed ? grantedAtMs + minSliceMs : -Infinity;
}

function reasonOf(claim: Claim, victim: Holder): DisplacementReason {
  if (victim.isBackground) return "background";
  return claim.isBid ? "outbid" : "on_demand";
}

/** Negative when `a` comes before `b`. */
export function compareRank(a: Claim, b: Claim): number {
  const byTier = tierOf(a) - tierOf(b);
  const byPrice = tierOf(a) === BID_TIER ? unitPriceOrder(b, a) : 0;
  return byTier || byPrice || a.claimedAtMs - b.claimedAtMs || a.instanceId - b.instanceId;
}

const BID_TIER = 1;

function tierOf({ isBid, isBackground }: Claim): number {
  if (isBackground) return BID_TIER + 1;
  return isBid ? BID_TIER : BID_TIER - 1;
}

/** Orders by price per device, so that a bid for eight devices is not stronger by its size alone. */
function unitPriceOrder(a: Claim, b: Claim): number {
  const left = a.priceNanosPerHour * BigInt(b.deviceCount);
  const right = b.priceNanosPerHour * BigInt(a.deviceCount);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function sum(holders: readonly Holder[]): number {
  return holders.reduce((total, holder) => total + holder.usableCount, 0);
}

/**
 * Number of steps of the smallest slice that are offered one by one: enough for every GPU machine, odd counts included.
 */
const SINGLE_STEPS = 16;

/**
 * The sizes in which `availableCount` devices are offered: each multiple of the host's smallest slice, on machines with
 * very many devices its doublings, and all available devices.
 */
export function offerSizes(availableCount: number, minChunk: number): readonly number[] {
  if (availableCount < minChunk) return [];
  const isLarge = availableCount > minChunk * SINGLE_STEPS;
  const sizes: number[] = [];
  for (let size = minChunk; size < availableCount; size += isLarge ? size : minChunk) sizes.push(size);
  sizes.push(availableCount);
  return sizes;
}
