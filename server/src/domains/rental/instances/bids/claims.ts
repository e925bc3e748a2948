import { invalid, type AppError } from "../../../../base/errors.ts";
import { formatDollars } from "../../../../base/money.ts";
import {
  freeDevices,
  type Holder,
  type MachineClaims,
  type MachineState,
  type MarketRules,
} from "../../../supply/market/index.ts";
import type { StoredClaim } from "./claim-store.ts";

/** Whether the schedule has anything to decide where this claim is: somebody waits, or leaves for somebody. */
export function isUnsettled({ phase }: Pick<StoredClaim, "phase">): boolean {
  return phase === "scheduled" || phase === "yielding";
}

/** What of one machine decides who runs on it. Who bids less than its host asks at least is no claim. */
export function machineClaims(
  state: MachineState,
  claims: readonly StoredClaim[],
  { minSliceMs }: MarketRules,
  now: Date,
): MachineClaims {
  const nowMs = now.getTime();
  const usable = new Set(state.machine.devices.filter((device) => device.isUsable).map((device) => device.id));
  const held = Map.groupBy(state.leases, (lease) => lease.instanceId);
  const holders: Holder[] = claims
    .filter((claim) => held.has(claim.instanceId))
    .map((claim) => ({
      ...claim,
      // One that bids less than its host asks at least leaves, whether somebody wants its devices or not.
      isLeaving:
        claim.phase === "stopping" || claim.phase === "ending" || (isUnderNotice(claim) && !isAtFloor(claim, state)),
      isUnderNotice: isUnderNotice(claim),
      usableCount: (held.get(claim.instanceId) ?? []).filter((lease) => usable.has(lease.deviceId)).length,
      grantedAtMs: claim.grantedAtMs ?? nowMs,
    }));
  const waiting = claims.filter((claim) => claim.phase === "scheduled" && isAtFloor(claim, state));
  return { freeDevices: freeDevices(state), holders, waiting, nowMs, minSliceMs };
}

function isUnderNotice({ phase }: StoredClaim): boolean {
  return phase === "yielding";
}

/** The least that a bid for so many devices of the machine may be. */
export function floorOf({ machine }: Pick<MachineState, "machine">, deviceCount: number): bigint {
  return machine.priceMinBidNanosPerHour * BigInt(deviceCount);
}

function isAtFloor(claim: StoredClaim, state: MachineState): boolean {
  return !claim.isBid || claim.isBackground || claim.priceNanosPerHour >= floorOf(state, claim.deviceCount);
}

/** What a bid below the host's minimum is answered. */
export function belowFloor(
  floorNanos: bigint,
  deviceCount: number,
  extra: Readonly<Record<string, unknown>> = {},
): AppError {
  const devices = deviceCount === 1 ? "this device" : `these ${deviceCount} devices`;
  const floor = formatDollars(floorNanos);
  const message = `price must be at least $${floor} an hour, the host's minimum for ${devices}`;
  return invalid("price", message, "bid_below_minimum", { extra: { min_bid: Number(floor), ...extra } });
}
