import type { DeviceId } from "../../../../base/ids.ts";
import type { Machine, ScheduledMachine } from "../../hosts/index.ts";
import type { GpuGrant, PromisedOffer } from "../store.ts";

/** One machine as the schedule sees it, read under the machine's row lock. */
export type MachineState = {
  readonly machine: ScheduledMachine;
  readonly grants: readonly GpuGrant[];
  readonly offers: readonly PromisedOffer[];
};

/** GPU grants and devices of a machine, as the schedule or the table of offers reads them. */
export type Occupancy = {
  readonly machine: Omit<ScheduledMachine, "hardware">;
  readonly grants: readonly GpuGrant[];
};

/** Devices without a GPU grant, in the order of their places in the machine. */
export function freeDevices({ machine, grants }: Occupancy): readonly DeviceId[] {
  const held = new Set(grants.map((grant) => grant.deviceId));
  return machine.devices.filter((device) => device.isUsable && !held.has(device.id)).map((device) => device.id);
}

/** Number of devices that an on-demand rental can have: free ones, and those held by bids. */
export function availableCount({ machine, grants }: Occupancy): number {
  const held = new Set(grants.filter((grant) => !grant.isBid).map((grant) => grant.deviceId));
  return machine.devices.filter((device) => device.isUsable && !held.has(device.id)).length;
}

type Opening = Pick<Machine, "isListed" | "isConnected" | "offerEndAt" | "restsUntilAt">;

/** True when the machine takes new rentals now, without regard to their size. */
export function isOpen(machine: Opening, now: Date): boolean {
  const { fromMs, untilMs } = openTimes(machine);
  return fromMs <= now.getTime() && now.getTime() < untilMs;
}

/** The time in which it is open if nothing changes; an empty interval when it will not be open. */
export function openTimes({ isListed, isConnected, offerEndAt, restsUntilAt }: Opening) {
  return { fromMs: restsUntilAt?.getTime() ?? 0, untilMs: isListed && isConnected ? offerEndAt.getTime() : 0 };
}

/** The part of the machine's cores, memory and disk that comes with this many of its devices. */
export function shareOf({ presentCount }: Pick<Machine, "presentCount">, deviceCount: number): number {
  return Math.min(1, deviceCount / Math.max(1, presentCount));
}

/** Disk space of the machine that is not promised. */
export function freeDiskBytes({ machine }: Pick<Occupancy, "machine">): bigint {
  const free = BigInt(machine.facts.disk_bytes) - machine.promisedDiskBytes;
  return free > 0n ? free : 0n;
}

/** The most disk that a rental of this many devices may take: free space is divided among the available devices. */
export function diskBytesOf(state: Occupancy, deviceCount: number): bigint {
  const available = BigInt(Math.max(deviceCount, availableCount(state), 1));
  return (freeDiskBytes(state) * BigInt(deviceCount)) / available;
}
