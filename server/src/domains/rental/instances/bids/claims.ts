import { invalid, type AppError } from "../../../../base/errors.ts";
import { formatDollars } from "../../../../base/money.ts";
import {
  freeDevices,
  type Holder,
  type MachineClaims,
  type MachineState,
  type MarketRules,
} from "../../../supply/market/for-instances.ts";
import type { StoredClaim } from "./claim-store.ts";

/**
 * True when the schedule has something to decide about this claim: it waits for devices, or is under an eviction notice.
 */
export function isUnsettled({ phase }: Pick<StoredClaim, "phase">): boolean {
  return phase === "scheduled" || phase === "yielding";
}

/**
 * The facts of one machine that decide which claims run on it. A bid below the host's minimum does not count as a
 * claim.
 */
export function machineClaims(
  state: MachineState,
  claims: readonly StoredClaim[],
  { minSliceMs }: MarketRules,
  now: Date,
): MachineClaims {
  const nowMs = now.getTime();
  const usable = new Set(state.machine.devices.filter((device) => device.isUsable).map((device) => device.id));
  const held = Map.groupBy(state.grants, (grant) => grant.instanceId);
  const holders: Holder[] = claims
    .filter((claim) => held.has(claim.instanceId))
    .map((claim) => ({
      ...claim,
      // A bid below the host's minimum leaves, even if nobody wants its devices.
      isLeaving:
        claim.phase === "stopping" ||
        claim.phase === "ending" ||
        (isUnderNotice(claim) && !reachesMinBid(claim, state)),
      isUnderNotice: isUnderNotice(claim),
      usableCount: (held.get(claim.instanceId) ?? []).filter((grant) => usable.has(grant.deviceId)).length,
      grantedAtMs: claim.grantedAtMs ?? nowMs,
    }));
  const waiting = claims.filter((claim) => claim.phase === "scheduled" && reachesMinBid(claim, state));
  return { freeDevices: freeDevices(state), holders, waiting, nowMs, minSliceMs };
}

function isUnderNotice({ phase }: StoredClaim): boolean {
  return phase === "yielding";
}

/** The minimum bid for this many devices of the machine. */
export function minBidOf({ machine }: Pick<MachineState, "machine">, deviceCount: number): bigint {
  return machine.priceMinBidNanosPerHour * BigInt(deviceCount);
}

function reachesMinBid(claim: StoredClaim, state: MachineState): boolean {
  return !claim.isBid || claim.isBackground || claim.priceNanosPerHour >= minBidOf(state, claim.deviceCount);
}

/** The refusal of a bid below the host's minimum. */
export function belowMinBid(
  minBidNanos: bigint,
  deviceCount: number,
  extra: Readonly<Record<string, unknown>> = {},
): AppError {
  const devices = deviceCount === 1 ? "this device" : `these ${deviceCount} devices`;
  const minimum = formatDollars(minBidNanos);
  const message = `price must be at least $${minimum} an hour, the host's minimum for ${devices}`;
  return invalid("price", message, "bid_below_minimum", { extra: { min_bid: Number(minimum), ...extra } });
}
