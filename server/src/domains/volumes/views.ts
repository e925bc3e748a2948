import { epochSeconds } from "../../base/clock.ts";
import type { MachineId, NetworkDiskId, UserId } from "../../base/ids.ts";
import { mulDivFloor, SECONDS_PER_HOUR, SECONDS_PER_MONTH, toDollars, type Nanos } from "../../base/money.ts";
import type { Machine } from "../hosts/index.ts";
import { BYTES_PER_GB, freeBytes, toGb, type Listing, type Space } from "./listing.ts";
import type { NetworkDisk, NetworkDiskMount } from "./network-store.ts";
import type { NetworkDiskRecord, VolumeOfferRecord, VolumeRecord } from "./schema.ts";
import type { Attachment, Volume } from "./volume-store.ts";
import type { Static } from "typebox";

/** Machines are not scored yet; a client that wants a good one must still find some. */
const RELIABILITY = 0.99;

/** `V.<id>`: how a volume is named in options and answers (semantics.md §16.1). */
export function volumeHandle(id: number): string {
  return `V.${id}`;
}

/** An open listing with what its record shows beside it. */
export type OfferedSpace = {
  readonly id: number;
  readonly listing: Listing & { readonly createdAt: Date };
  readonly space: Space;
  readonly hostId: UserId;
  /** The machine whose disk it is, or one that mounts it; undefined for a network disk that no machine mounts. */
  readonly machine: Machine | undefined;
};

/** The contract's record of a volume offer or a network-volume offer (offer-fields.md §2). */
export function volumeOfferRecord(
  { id, listing, space, hostId, machine }: OfferedSpace,
  { now, storageGb }: { readonly now: Date; readonly storageGb: number },
): VolumeOfferRecord {
  const price = listing.priceNanosPerGbMonth;
  const endDate = epochSeconds(listing.endAt);
  const facts = machine?.facts;
  const storageCost = toDollars(price);
  return {
    id,
    ask_contract_id: id,
    bundle_id: id,
    ...machineFields(machine, hostId),
    disk_space: toGb(freeBytes(space)),
    disk_bw: facts?.disk_mb_per_s ?? 0,
    storage_cost: storageCost,
    storage_total_cost: dollarsPerHour(price, BigInt(Math.round(storageGb * BYTES_PER_GB))),
    credit_discount_max: listing.creditDiscountMaxPermille / 1000,
    reliability: RELIABILITY,
    duration: Math.max(0, endDate - epochSeconds(now)),
    start_date: epochSeconds(listing.createdAt),
    end_date: endDate,
    vericode: machine?.verification === "verified" ? 1 : 0,
    hosting_type: 0,
    external: false,
    cpu_ghz: facts?.cpu_ghz ?? 0,
    has_avx: facts?.has_avx === true ? 1 : 0,
    pci_gen: facts?.pci_gen ?? 0,
    pcie_bw: facts?.pcie_gb_per_s ?? 0,
    driver_vers: driverNumber(facts?.driver_version ?? ""),
    gpu_arch: machine?.resourceType === "gpu" ? "nvidia" : "none",
    total_flops: (machine?.devices ?? []).reduce((sum, device) => sum + (device.gpu?.tflops ?? 0), 0),
    vms_enabled: false,
    nw_disk_min_bw: null,
    nw_disk_max_bw: null,
    nw_disk_avg_bw: null,
    // The cheaper the better; free space scores 100.
    score: 1 / (storageCost + 0.01),
  };
}

/** The contract's record of a rented volume (offer-fields.md §4). */
export function volumeRecord(
  volume: Volume,
  {
    machine,
    hostId,
    attachments,
  }: {
    readonly machine: Machine | undefined;
    readonly hostId: UserId;
    readonly attachments: readonly Attachment[];
  },
): VolumeRecord {
  return {
    id: volume.id,
    ...machineFields(machine, hostId),
    label: volume.name === "" ? volumeHandle(volume.id) : volume.name,
    disk_space: toGb(volume.sizeBytes),
    status: attachments.length > 0 ? "attached" : "available",
    start_date: epochSeconds(volume.createdAt),
    end_date: epochSeconds(volume.endAt),
    storage_cost: toDollars(volume.priceNanosPerGbMonth),
    storage_total_cost: dollarsPerHour(volume.priceNanosPerGbMonth, volume.sizeBytes),
    instances: attachments.map((attachment) => attachment.instanceId),
    used_space: toGb(volume.usedBytes),
    status_msg: volume.problem,
    public_ipaddr: machine?.facts.public_ipaddr ?? "",
  };
}

/** Disks that the same machines mount in the same places are one row (operations.md §5.1). */
export function networkDiskRecords(
  disks: readonly NetworkDisk[],
  mounts: readonly NetworkDiskMount[],
  rented: ReadonlyMap<NetworkDiskId, bigint>,
): Static<typeof NetworkDiskRecord>[] {
  const mountsOf = Map.groupBy(mounts, (mount) => mount.networkDiskId);
  const placeOf = ({ id }: NetworkDisk): Record<string, string> =>
    Object.fromEntries((mountsOf.get(id) ?? []).map((mount) => [String(mount.machineId), mount.mountPath]));
  const groups = Map.groupBy(disks, (disk) => JSON.stringify(placeOf(disk)));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return {
      cluster_id: null,
      network_disks: group.map(({ id, sizeBytes }) => ({
        network_disk_id: id,
        free_space: toGb(freeBytes({ sizeBytes, rentedBytes: rented.get(id) ?? 0n })),
        total_space: toGb(sizeBytes),
      })),
      machine_ids: (mountsOf.get(first.id) ?? []).map((mount): MachineId => mount.machineId),
      mounts: placeOf(first),
    };
  });
}

function machineFields(machine: Machine | undefined, hostId: UserId) {
  const facts = machine?.facts;
  return {
    machine_id: machine?.id ?? null,
    host_id: hostId,
    cluster_id: null,
    disk_name: facts?.disk_name ?? "",
    inet_up: facts?.inet_up_mbps ?? 0,
    inet_down: facts?.inet_down_mbps ?? 0,
    reliability2: RELIABILITY,
    verification: machine?.verification ?? "unverified",
    geolocation: facts?.geolocation ?? null,
    static_ip: facts?.has_static_ip ?? false,
    cuda_max_good: facts?.cuda_max_good ?? 0,
    cpu_arch: facts?.cpu_arch ?? "",
    cpu_name: facts?.cpu_name ?? "",
    mobo_name: facts?.mobo_name ?? "",
    os_version: facts?.os_version ?? "",
    driver_version: facts?.driver_version ?? "",
    is_simulated: facts?.is_simulated ?? false,
  };
}

/** For display: what so much space costs in an hour. */
function dollarsPerHour(price: Nanos, sizeBytes: bigint): number {
  return toDollars(mulDivFloor(price * sizeBytes, SECONDS_PER_HOUR, SECONDS_PER_MONTH * BigInt(BYTES_PER_GB)));
}

/** `535.86.05` is 535086005: each part after the first has three digits (offer-fields.md §1.7). */
function driverNumber(version: string): number {
  const [major = "0", ...rest] = version.split(".");
  const digits = [...rest, "0", "0"].slice(0, 2).map((part) => part.padStart(3, "0"));
  return Number(`${major}${digits.join("")}`) || 0;
}
