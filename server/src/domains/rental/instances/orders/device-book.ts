import type { AppError } from "../../../../base/errors.ts";
import type { InstanceId, MachineId, OfferId } from "../../../../base/ids.ts";
import { formatDollars } from "../../../../base/money.ts";
import { availableCount, compareRank, freeDevices, minBidNanos } from "../../../supply/market/for-instances.ts";
import { freeDiskBytes } from "../../../supply/market/index.ts";
import type { StoredClaim } from "../bids/claim-store.ts";
import type { Candidate } from "./candidate.ts";
import { askIsGone, notAtThisPrice } from "./create-refusals.ts";
import type { NewInstance } from "../store.ts";

/** The beginning of an instance, and the reason if it waits. */
export type Place = { readonly start: Partial<NewInstance>; readonly waiting: string | undefined };

type DeviceIds = ReturnType<typeof freeDevices>;

/** The devices and offers of the machines of one batch, as its orders use them up one after the other. */
export class DeviceBook {
  readonly given = new Map<InstanceId, DeviceIds>();
  readonly retired = new Set<OfferId>();
  /** Machines whose schedule has to decide: an instance waits there, or a bid has to leave. */
  readonly contested = new Set<MachineId>();
  readonly #free = new Map<MachineId, DeviceIds>();
  readonly #available = new Map<MachineId, number>();
  readonly #freeDisk = new Map<MachineId, bigint>();
  readonly #claims: ReadonlyMap<MachineId, readonly StoredClaim[]>;

  constructor(claims: ReadonlyMap<MachineId, readonly StoredClaim[]>) {
    this.#claims = claims;
  }

  /** Takes the offer for an order, and its devices when they are free; or returns the refusal. */
  place({ order, instance, state }: Candidate): Place | AppError {
    const { machineId, deviceCount, isBid } = instance;
    if (this.retired.has(instance.offerId)) return askIsGone(order.offerId);
    const waiting = (this.#claims.get(machineId) ?? []).filter((claim) => claim.phase === "scheduled");
    const free = this.#free.get(machineId) ?? freeDevices(state);
    const available = this.#available.get(machineId) ?? unclaimedCount(availableCount(state), waiting);
    this.#free.set(machineId, free);
    const freeDisk = this.#freeDisk.get(machineId) ?? freeDiskBytes(state);
    if (deviceCount > available || instance.diskBytes > freeDisk) return askIsGone(order.offerId);
    const lowest = minBidNanos(state, { deviceCount });
    const isTooLow = isBid && instance.priceNanosPerHour < lowest;
    if (isTooLow && order.isRefusedUnlessRunning) {
      return notAtThisPrice(order.offerId, `A bid needs at least $${formatDollars(lowest)} an hour to run now.`);
    }
    this.retired.add(instance.offerId);
    this.#freeDisk.set(machineId, freeDisk - instance.diskBytes);
    if (order.target === "stopped") return { start: {}, waiting: undefined };
    this.#available.set(machineId, isBid ? available : available - deviceCount);
    if (waiting.length > 0 || isTooLow || deviceCount > free.length) {
      this.contested.add(machineId);
      const reason = isTooLow ? `The bid is below $${formatDollars(lowest)} an hour, which would run now.` : undefined;
      return { start: {}, waiting: reason };
    }
    this.given.set(instance.id, free.slice(0, deviceCount));
    this.#free.set(machineId, free.slice(deviceCount));
    return { start: { phase: "starting", generation: 1 }, waiting: undefined };
  }

  /** Undoes `place`. */
  giveBack({ order, instance }: Candidate): void {
    const { id, machineId, deviceCount, isBid } = instance;
    this.retired.delete(instance.offerId);
    this.#freeDisk.set(machineId, (this.#freeDisk.get(machineId) ?? 0n) + instance.diskBytes);
    const available = this.#available.get(machineId);
    const wasCounted = order.target === "running" && !isBid && available !== undefined;
    if (wasCounted) this.#available.set(machineId, available + deviceCount);
    this.#free.set(machineId, [...(this.given.get(id) ?? []), ...(this.#free.get(machineId) ?? [])]);
    this.given.delete(id);
  }
}

/** The available devices that remain after the waiting on-demand rentals have theirs. */
function unclaimedCount(availableCount: number, waiting: readonly StoredClaim[]): number {
  let left = availableCount;
  for (const claim of waiting.filter(({ isBid }) => !isBid).toSorted(compareRank)) {
    // A claim that is too large for the rest goes on waiting, and keeps nobody from the rest.
    if (claim.deviceCount <= left) left -= claim.deviceCount;
  }
  return left;
}
