import type { DeviceId } from "../../../../base/ids.ts";
import type { Machine, ScheduledMachine } from "../../hosts/index.ts";
import type { LiveLease, PromisedOffer } from "../store.ts";

/** One machine as the schedule sees it, read under the machine's row lock. */
export type MachineState = {
  readonly machine: ScheduledMachine;
  readonly leases: readonly LiveLease[];
  readonly offers: readonly PromisedOffer[];
};

/** Who holds what of a machine, as the schedule reads it or as the table of offers does. */
export type Occupancy = {
  readonly machine: Omit<ScheduledMachine, "hardware">;
  readonly leases: readonly LiveLease[];
};

/** Devices that nobody holds, in the order of their places in the machine. */
export function freeDevices({ machine, leases }: Occupancy): readonly DeviceId[] {
  const held = new Set(leases.map((lease) => lease.deviceId));
  return machine.devices.filter((device) => device.isUsable && !held.has(device.id)).map((device) => device.id);
}

/** How many devices an on-demand rental can have: what is free, and what bids hold. */
export function availableCount({ machine, leases }: Occupancy): number {
  const held = new Set(leases.filter((lease) => !lease.isBid).map((lease) => lease.deviceId));
  return machine.devices.filter((device) => device.isUsable && !held.has(device.id)).length;
}

type Opening = Pick<Machine, "isListed" | "isConnected" | "offerEndAt" | "restsUntilAt">;

/** Whether new rentals of this machine are possible now, whatever their size. */
export function isOpen(machine: Opening, now: Date): boolean {
  const { fromMs, untilMs } = openTimes(machine);
  return fromMs <= now.getTime() && now.getTime() < untilMs;
}

/** From when and until when it is open if nothing changes; an empty stretch when it is not going to be. */
export function openTimes({ isListed, isConnected, offerEndAt, restsUntilAt }: Opening) {
  return { fromMs: restsUntilAt?.getTime() ?? 0, untilMs: isListed && isConnected ? offerEndAt.getTime() : 0 };
}

/** The part of the machine that comes with so many of its devices: of its cores, its memory and its disk. */
export function shareOf({ presentCount }: Pick<Machine, "presentCount">, deviceCount: number): number {
  return Math.min(1, deviceCount / Math.max(1, presentCount));
}

/** What nobody has been promised of the machine's disk. */
export function freeDiskBytes({ machine }: Pick<Occupancy, "machine">): bigint {
  const free = BigInt(machine.facts.disk_bytes) - machine.promisedDiskBytes;
  return free > 0n ? free : 0n;
}

/** The most that a rental of so many devices may take of the disk: what is free is divided among what is available. */
export function diskBytesOf(state: Occupancy, deviceCount: number): bigint {
  const available = BigInt(Math.max(deviceCount, availableCount(state), 1));
  return (freeDiskBytes(state) * BigInt(deviceCount)) / available;
}
