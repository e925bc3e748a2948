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
  /** Undefined for a core. */
  readonly gpu: GpuFacts | undefined;
  /** Part of the machine as its host last described it. One that was taken out stays known while a lease names it. */
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
  /** 0 in somebody's room, 1 in a data centre that an operator has seen. */
  readonly hostingType: number;
  /** Measured uptime in millionths. */
  readonly reliabilityPpm: number;
  readonly isListed: boolean;
  readonly isConnected: boolean;
  /** Out of rotation until then, since its last starts failed; undefined when it is not. */
  readonly restsUntilAt: Date | undefined;
  readonly facts: MachineFacts;
  readonly devices: readonly Device[];
  /** How many of them the machine has now. */
  readonly presentCount: number;
  /** What its GPUs are like; undefined for a machine that rents out its cores. */
  readonly gpu: GpuFacts | undefined;
  readonly priceDeviceNanosPerHour: Nanos;
  readonly priceMinBidNanosPerHour: Nanos;
  readonly priceDiskNanosPerGbMonth: Nanos;
  readonly priceInetUpNanosPerGb: Nanos;
  readonly priceInetDownNanosPerGb: Nanos;
  readonly minChunk: number;
  readonly creditDiscountMaxPermille: number;
  readonly offerEndAt: Date;
  /** What renters have been promised of its disk, whether it is written or not. */
  readonly promisedDiskBytes: bigint;
  readonly lastSeenAt: Date;
  readonly createdAt: Date;
};

/** What a machine is like, for those who do not care which of its devices are which. */
export type MachineDescription = Omit<Machine, "devices">;

/** What the schedule has to know of a machine. What it is like is for those who look at it, and costs more to read. */
export type ScheduledMachine = Omit<Machine, "facts" | "gpu" | "devices"> & {
  /** GPU model and memory, cores, number of devices and country in one text: equal as long as the machine is the same. */
  readonly hardware: string;
  readonly facts: Pick<MachineFacts, "disk_bytes">;
  readonly devices: readonly Pick<Device, "id" | "isUsable">[];
};

const machineFacts = Compile(MachineFacts);
const gpuFacts = Compile(GpuFacts);

/** Facts as they were stored; they were checked when the agent told them. */
export function readMachineFacts(stored: unknown): MachineFacts {
  invariant(machineFacts.Check(stored), "stored machine facts keep their shape");
  return stored;
}

export function readGpuFacts(stored: unknown): GpuFacts {
  invariant(gpuFacts.Check(stored), "stored GPU facts keep their shape");
  return stored;
}
