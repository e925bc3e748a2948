import type { GpuFacts, MachineFacts } from "../../../protocol/index.ts";
import {
  asId,
  type DeviceId,
  type InstanceId,
  type MachineId,
  type OfferId,
  type UserId,
} from "../../../server/src/base/ids.ts";
import { nanos } from "../../../server/src/base/money.ts";
import type { Machine } from "../../../server/src/domains/supply/hosts/index.ts";
import type { OfferedMachine } from "../../../server/src/domains/supply/market/search/rules/offer-fields.ts";
import { FACTS } from "./machines.ts";

/** A number above the devices of any machine here, so that ids made from two numbers never meet. */
const STRIDE = 100;
const CREATED = new Date("2026-01-01T00:00:00.000Z");

const GPU: GpuFacts = {
  uuid: "GPU",
  index: 0,
  name: "RTX 4090",
  memory_mb: 24_576,
  compute_cap: 890,
  memory_gb_per_s: 1008,
  max_power_w: 450,
  tflops: 82,
  dlperf: 100,
  pci_lanes: 16,
  nvlink_gb_per_s: 0,
  is_declared: false,
};

export type MachineChoice = {
  readonly id: number;
  readonly hostId?: number;
  /** Number of GPUs; 0 for a machine that rents out its cores. */
  readonly gpus?: number;
  readonly gpu?: Partial<GpuFacts>;
  readonly facts?: Partial<MachineFacts>;
  readonly machine?: Partial<Machine>;
  /** Sizes that are offered; every possible size unless given. */
  readonly sizes?: readonly number[];
  /** The devices that somebody holds, by place; a price makes it a bid. */
  readonly held?: Readonly<Record<number, "on-demand" | number>>;
  readonly broken?: readonly number[];
  readonly volume?: OfferedMachine["volume"];
};

/** A machine as the offer table reads it, without a database. */
export function anOfferedMachine(choice: MachineChoice): OfferedMachine {
  const { id, hostId = 1, gpus = 2, facts = {}, held = {}, broken = [], volume } = choice;
  const machineId = asId<MachineId>(id);
  const deviceId = (place: number) => asId<DeviceId>(id * STRIDE + place);
  const gpu = gpus === 0 ? undefined : { ...GPU, ...choice.gpu };
  const count = gpus === 0 ? 4 : gpus;
  const devices = Array.from({ length: count }, (_, position) => ({
    id: deviceId(position),
    uuid: `${id}-${position}`,
    kind: gpu === undefined ? ("cpu_core" as const) : ("gpu" as const),
    position,
    gpu,
    isPresent: true,
    isUsable: !broken.includes(position),
  }));
  const machine: Machine = {
    id: machineId,
    hostId: asId<UserId>(hostId),
    engineKind: "simulated",
    resourceType: gpu === undefined ? "cpu" : "gpu",
    verification: "verified",
    hostingType: 0,
    reliabilityPpm: 990_000,
    isListed: true,
    isConnected: true,
    restsUntilAt: undefined,
    facts: { ...FACTS, ...facts },
    devices,
    presentCount: count,
    gpu,
    priceDeviceNanosPerHour: nanos(300_000_000n),
    priceMinBidNanosPerHour: nanos(150_000_000n),
    priceDiskNanosPerGbMonth: nanos(150_000_000n),
    priceInetUpNanosPerGb: nanos(10_000_000n),
    priceInetDownNanosPerGb: nanos(5_000_000n),
    minChunk: 1,
    creditDiscountMaxPermille: 400,
    offerEndAt: new Date(CREATED.getTime() + 90 * 86_400_000),
    promisedDiskBytes: 0n,
    lastSeenAt: CREATED,
    createdAt: CREATED,
    ...choice.machine,
  };
  const sizes = choice.sizes ?? Array.from({ length: count }, (_, index) => index + 1);
  return {
    machine,
    volume,
    offers: sizes.map((deviceCount) => ({
      id: asId<OfferId>(id * STRIDE + deviceCount),
      machineId,
      deviceCount,
    })),
    grants: Object.entries(held).map(([place, price]) => ({
      deviceId: deviceId(Number(place)),
      machineId,
      instanceId: asId<InstanceId>(id * STRIDE + Number(place)),
      isBid: price !== "on-demand",
      priceNanosPerDeviceHour: price === "on-demand" ? 300_000_000n : BigInt(price),
    })),
  };
}
