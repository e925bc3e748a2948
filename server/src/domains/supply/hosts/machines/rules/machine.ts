import { Compile } from "typebox/compile";
import { GpuFacts, MachineFacts } from "../../../../../../../protocol/index.ts";
import type { DeviceId, MachineId, UserId } from "../../../../../base/ids.ts";
import { invariant } from "../../../../../base/invariant.ts";
import type { Nanos } from "../../../../../base/money.ts";

export type Device = {
  readonly id: DeviceId;
  readonly uuid: string;
  readonly kind: "gpu" | "cpu_core";
  readonly position: number;
  /** The facts of a GPU; undefined for a core. */
  readonly gpu: GpuFacts | undefined;
  /**
   * True while the device is part of the machine by its host's last description. A removed device stays stored while a
   * GPU grant names it.
   */
  readonly isPresent: boolean;
  /** Present and healthy: it may be given to a renter. */
  readonly isUsable: boolean;
};

/** A machine as the market sees it. */
export type Machine = {
  readonly id: MachineId;
  readonly hostId: UserId;
  readonly engineKind: "docker" | "simulated";
  readonly resourceType: "gpu" | "cpu";
  readonly verification: "verified" | "unverified" | "deverified";
  /** 0 in a private home, 1 in a data centre that an operator has verified. */
  readonly hostingType: number;
  /** Measured uptime in millionths. */
  readonly reliabilityPpm: number;
  readonly isListed: boolean;
  readonly isConnected: boolean;
  /** Until then the machine rests, since its last starts failed; undefined when it does not rest. */
  readonly restsUntilAt: Date | undefined;
  readonly facts: MachineFacts;
  readonly devices: readonly Device[];
  /** Number of its devices that are part of the machine now. */
  readonly presentCount: number;
  /** Facts about its GPUs; undefined for a machine that rents out its cores. */
  readonly gpu: GpuFacts | undefined;
  readonly priceDeviceNanosPerHour: Nanos;
  readonly priceMinBidNanosPerHour: Nanos;
  readonly priceDiskNanosPerGbMonth: Nanos;
  readonly priceInetUpNanosPerGb: Nanos;
  readonly priceInetDownNanosPerGb: Nanos;
  readonly minChunk: number;
  readonly creditDiscountMaxPermille: number;
  readonly offerEndAt: Date;
  /** Disk space promised to renters, written or not. */
  readonly promisedDiskBytes: bigint;
  readonly lastSeenAt: Date;
  readonly createdAt: Date;
};

/** A machine without its single devices. */
export type MachineDescription = Omit<Machine, "devices">;

/** The columns of a machine that the schedule needs. Its description costs more to read. */
export type ScheduledMachine = Omit<Machine, "facts" | "gpu" | "devices"> & {
  /**
   * GPU model and memory, cores, number of devices and country in one text: equal as long as the hardware is unchanged.
   */
  readonly hardware: string;
  readonly facts: Pick<MachineFacts, "disk_bytes">;
  readonly devices: readonly Pick<Device, "id" | "isUsable">[];
};

const machineFacts = Compile(MachineFacts);
const gpuFacts = Compile(GpuFacts);

/** Facts as stored; they were checked when the agent sent them. */
export function readMachineFacts(stored: unknown): MachineFacts {
  invariant(machineFacts.Check(stored), "stored machine facts keep their shape");
  return stored;
}

export function readGpuFacts(stored: unknown): GpuFacts {
  invariant(gpuFacts.Check(stored), "stored GPU facts keep their shape");
  return stored;
}
