import type { Occupancy } from "./machine-state.ts";
import type { GpuGrant, LiveOffer } from "../store.ts";

/** The smallest step by which a bid beats another, in nano-dollars an hour. */
const BID_STEP_NANOS = 1_000_000n;

/**
 * The price that a new bid for this offer must reach to run now: the host's minimum bid, or just above the bids that it
 * would evict when too few devices are free.
 */
export function minBidNanos(state: Occupancy, offer: Pick<LiveOffer, "deviceCount">): bigint {
  const { machine, grants } = state;
  const minimum = machine.priceMinBidNanosPerHour;
  const held = new Set(grants.map((grant) => grant.deviceId));
  const freeCount = machine.devices.filter((device) => device.isUsable && !held.has(device.id)).length;
  const missing = offer.deviceCount - freeCount;
  if (missing <= 0) return minimum * BigInt(offer.deviceCount);
  const usable = new Set(machine.devices.filter((device) => device.isUsable).map((device) => device.id));
  const bids = grants.filter((grant) => grant.isBid && usable.has(grant.deviceId)).toSorted(byPrice);
  const highest = bids[Math.min(missing, bids.length) - 1]?.priceNanosPerDeviceHour ?? 0n;
  const count = BigInt(offer.deviceCount);
  return highest >= minimum ? highest * count + BID_STEP_NANOS : minimum * count;
}

function byPrice(a: GpuGrant, b: GpuGrant): number {
  if (a.priceNanosPerDeviceHour === b.priceNanosPerDeviceHour) return 0;
  return a.priceNanosPerDeviceHour < b.priceNanosPerDeviceHour ? -1 : 1;
}
