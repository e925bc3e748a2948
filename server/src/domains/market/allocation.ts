import type { DeviceId, InstanceId } from "../../base/ids.ts";

/** A rental that wants devices, with what decides its rank. */
export type Claim = {
  readonly instanceId: InstanceId;
  readonly isBid: boolean;
  readonly priceNanosPerHour: bigint;
  readonly createdAtMs: number;
  readonly deviceCount: number;
};

/** A claim that holds devices. Once `isLeaving`, they come free when the host confirms the teardown. */
export type Holder = Claim & {
  readonly isLeaving: boolean;
  /** How many of its devices can be given to others after it: those that broke meanwhile cannot. */
  readonly usableCount: number;
};

export type MachineClaims = {
  /** Devices that can be given away now, in the order in which they should be. */
  readonly freeDevices: readonly DeviceId[];
  readonly holders: readonly Holder[];
  readonly waiting: readonly Claim[];
};

export type Allocation = {
  readonly grants: readonly { readonly instanceId: InstanceId; readonly deviceIds: readonly DeviceId[] }[];
  /** Bids that must leave so that a higher claim can run. Their devices are granted when they are free. */
  readonly displaced: readonly InstanceId[];
};

/**
 * Who runs on one machine (semantics.md §9.3): on-demand before bids, a higher bid before a lower one, the older of two
 * equals. On-demand is never displaced; among bids the lowest goes first, of equals the youngest, only for a strictly
 * higher claim, and never one whose devices would help nobody. A claim that cannot be served even so takes nothing from those behind it.
 */
export function allocate({ freeDevices, holders, waiting }: MachineClaims): Allocation {
  const free = [...freeDevices];
  const grants: { instanceId: InstanceId; deviceIds: readonly DeviceId[] }[] = [];
  const displaced: InstanceId[] = [];
  let leavingCount = sum(holders.filter((holder) => holder.isLeaving));
  const victims = holders
    .filter((holder) => holder.isBid && !holder.isLeaving && holder.usableCount > 0)
    .toSorted((a, b) => compareRank(b, a));

  for (const claim of waiting.toSorted(compareRank)) {
    if (claim.deviceCount <= free.length) {
      grants.push({ instanceId: claim.instanceId, deviceIds: free.splice(0, claim.deviceCount) });
      continue;
    }
    let missing = claim.deviceCount - free.length - leavingCount;
    const chosen: Holder[] = [];
    for (const victim of victims) {
      if (missing <= 0 || !outbids(claim, victim)) break;
      chosen.push(victim);
      missing -= victim.usableCount;
    }
    if (missing > 0) continue;
    displaced.push(...chosen.map((victim) => victim.instanceId));
    victims.splice(0, chosen.length);
    // What is free now and what is about to be is kept for this claim; only the rest is left for those behind it.
    const needed = claim.deviceCount - free.length;
    free.length = 0;
    leavingCount = leavingCount + sum(chosen) - needed;
  }
  return { grants, displaced };
}

/** Negative when `a` comes before `b`. */
export function compareRank(a: Claim, b: Claim): number {
  if (a.isBid !== b.isBid) return a.isBid ? 1 : -1;
  const byPrice = a.isBid ? unitPriceOrder(b, a) : 0;
  return byPrice || a.createdAtMs - b.createdAtMs || a.instanceId - b.instanceId;
}

/** Orders by price per device, so that a bid for eight devices is not stronger by its size alone. */
function unitPriceOrder(a: Claim, b: Claim): number {
  const left = a.priceNanosPerHour * BigInt(b.deviceCount);
  const right = b.priceNanosPerHour * BigInt(a.deviceCount);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Whether `claim` may take the devices of the bid `holder`. */
function outbids(claim: Claim, holder: Claim): boolean {
  return !claim.isBid || unitPriceOrder(claim, holder) > 0;
}

function sum(holders: readonly Holder[]): number {
  return holders.reduce((total, holder) => total + holder.usableCount, 0);
}

/**
 * The sizes in which `availableCount` devices are offered (semantics.md §11.1): the host's smallest slice doubled up to
 * everything that is available, and everything that is available itself.
 */
export function offerSizes(availableCount: number, minChunk: number): readonly number[] {
  if (availableCount < minChunk) return [];
  const sizes: number[] = [];
  for (let size = minChunk; size < availableCount; size *= 2) sizes.push(size);
  sizes.push(availableCount);
  return sizes;
}
