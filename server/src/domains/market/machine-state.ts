import type { DeviceId } from "../../base/ids.ts";
import type { Machine, ScheduledMachine } from "../hosts/index.ts";
import type { LiveLease, LiveOffer } from "./store.ts";

/** One machine as the schedule sees it, read under the machine's row lock. */
export type MachineState = {
  readonly machine: ScheduledMachine;
  readonly leases: readonly LiveLease[];
  readonly offers: readonly LiveOffer[];
};

/** Devices that nobody holds, in the order of their places in the machine. */
export function freeDevices({ machine, leases }: Pick<MachineState, "machine" | "leases">): readonly DeviceId[] {
  const held = new Set(leases.map((lease) => lease.deviceId));
  return machine.devices.filter((device) => device.isUsable && !held.has(device.id)).map((device) => device.id);
}

/** How many devices an on-demand rental can have: what is free, and what bids hold. */
export function availableCount({ machine, leases }: Pick<MachineState, "machine" | "leases">): number {
  const held = new Set(leases.filter((lease) => !lease.isBid).map((lease) => lease.deviceId));
  return machine.devices.filter((device) => device.isUsable && !held.has(device.id)).length;
}

/** Whether new rentals of this machine are possible now, whatever their size. */
export function isOpen(machine: Pick<Machine, "isListed" | "isConnected" | "offerEndAt">, now: Date): boolean {
  return machine.isListed && machine.isConnected && machine.offerEndAt > now;
}

/** The part of the machine that comes with so many of its devices: of its cores, its memory and its disk. */
export function shareOf({ presentCount }: Pick<Machine, "presentCount">, deviceCount: number): number {
  return Math.min(1, deviceCount / Math.max(1, presentCount));
}
