import { hash } from "node:crypto";
import { epochSeconds } from "../../../base/clock.ts";
import type { MachineId, NetworkDiskId, UserId } from "../../../base/ids.ts";
import { mulDivFloor, SECONDS_PER_HOUR, SECONDS_PER_MONTH, toDollars, type Nanos } from "../../../base/money.ts";
import type { MachineDescription } from "../hosts/index.ts";
import { BYTES_PER_GB, freeBytes, toGb, type ListedSpace, type Listing, type Space } from "./offers/rules/listing.ts";
import type { NetworkDisk, NetworkDiskMount } from "./network/store.ts";
import type { NetworkDiskRecord, VolumeOfferRecord, VolumeRecord } from "./schema.ts";
import { deletionAt } from "./rules/volume-end.ts";
import type { Attachment, Volume } from "./volume-store.ts";
import type { Static } from "typebox";

const PPM = 1_000_000;

/** The name of a volume in options and answers: `V.<id>`. */
export function volumeHandle(id: number): string {
  return `V.${id}`;
}

/** The outcome of a request to list space, on one machine. */
export function viewListedSpace({ machineId, offerId, isNew, sizeBytes, extended }: ListedSpace, userId: UserId) {
  return {
    machine_id: machineId,
    user_id: userId,
    extended,
    new_contracts: isNew ? [{ id: offerId, size: toGb(sizeBytes) }] : [],
    upd_contracts: isNew ? [] : [offerId],
  };
}

/** A listing with the other columns of its record. */
export type OfferedSpace = {
  readonly id: number;
  readonly listing: Listing & { readonly createdAt: Date };
  readonly space: Space;
  readonly hostId: UserId;
  /** The machine whose disk it is, or one that mounts it; undefined for a network disk that no machine mounts. */
  readonly machine: MachineDescription | undefined;
};

/** The fields of a record that do not depend on the viewer or the time. */
type LastingRecord = Omit<VolumeOfferRecord, "duration" | "storage_total_cost">;

/** A volume offer or network-volume offer as searches read it. */
export type SpaceRow = { readonly lasting: LastingRecord; readonly priceNanosPerGbMonth: Nanos };

/** Time and size that a search asks for. */
export type Viewpoint = { readonly nowSeconds: number; readonly storageBytes: bigint };

/** The API's record of a volume offer or a network-volume offer. */
export function volumeOfferRecord(row: SpaceRow, viewpoint: Viewpoint): VolumeOfferRecord {
  return {
    ...row.lasting,
    storage_total_cost: storageTotalCost(row, viewpoint),
    duration: durationOf(row, viewpoint),
  };
}

export function storageTotalCost({ priceNanosPerGbMonth }: SpaceRow, { storageBytes }: Viewpoint): number {
  return dollarsPerHour(priceNanosPerGbMonth, storageBytes);
}

export function durationOf({ lasting }: SpaceRow, { nowSeconds }: Viewpoint): number {
  return Math.max(0, lasting.end_date - nowSeconds);
}

export function spaceRow({ id, listing, space, hostId, machine }: OfferedSpace): SpaceRow {
  const facts = machine?.facts;
  const price = listing.priceNanosPerGbMonth;
  const storageCost = toDollars(price);
  const reliability = (machine?.reliabilityPpm ?? 0) / PPM;
  const lasting: LastingRecord = {
    id,
    ask_contract_id: id,
    bundle_id: id,
    ...machineFields(machine, hostId),
    disk_space: toGb(freeBytes(space)),
    disk_bw: facts?.disk_mb_per_s ?? 0,
    storage_cost: storageCost,
    credit_discount_max: listing.creditDiscountMaxPermille / 1000,
    reliability,
    reliability_mult: reliability,
    start_date: epochSeconds(listing.createdAt),
    end_date: epochSeconds(listing.endAt),
    vericode: Number(machine?.verification === "verified"),
    hosting_type: machine?.hostingType ?? 0,
    external: false,
    geolocode: facts === undefined ? null : geolocode(facts.geolocation),
    cpu_ghz: facts?.cpu_ghz ?? 0,
    has_avx: facts?.has_avx === true ? 1 : 0,
    pci_gen: facts?.pci_gen ?? 0,
    pcie_bw: facts?.pcie_gb_per_s ?? 0,
    driver_vers: driverNumber(facts?.driver_version ?? ""),
    gpu_arch: machine?.resourceType === "gpu" ? "nvidia" : "none",
    total_flops: tidy((machine?.gpu?.tflops ?? 0) * (machine?.presentCount ?? 0)),
    vms_enabled: false,
    nw_disk_min_bw: null,
    nw_disk_max_bw: null,
    nw_disk_avg_bw: null,
    // Cheaper and more reliable offers score higher; free space on a machine that is always online scores 100.
    score: reliability / (storageCost + 0.01),
  };
  return { lasting, priceNanosPerGbMonth: price };
}

/** A number that is the same for the same place, on offers of space and of GPUs. */
function geolocode(geolocation: string): number {
  return Number.parseInt(hash("sha1", geolocation).slice(0, 7), 16);
}

/** Drops the digits that multiplication adds. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

/** The API's record of a rented volume. */
export function volumeRecord(
  volume: Volume,
  {
    machine,
    hostId,
    attachments,
    clone,
    actions,
  }: {
    readonly machine: MachineDescription | undefined;
    readonly hostId: UserId;
    readonly attachments: readonly Attachment[];
    /** Status of its filling, while it goes on and after it failed. */
    readonly clone: { readonly status: string; readonly message: string } | undefined;
    readonly actions: VolumeRecord["allowed_actions"];
  },
): VolumeRecord {
  const deletesAt = deletionAt(volume, attachments.length > 0);
  return {
    id: volume.id,
    ...machineFields(machine, hostId),
    label: volume.name === "" ? volumeHandle(volume.id) : volume.name,
    disk_space: toGb(volume.sizeBytes),
    status: clone?.status ?? (attachments.length > 0 ? "attached" : "available"),
    start_date: epochSeconds(volume.createdAt),
    end_date: epochSeconds(volume.endAt),
    deletes_at: deletesAt === undefined ? null : epochSeconds(deletesAt),
    storage_cost: toDollars(volume.priceNanosPerGbMonth),
    storage_total_cost: dollarsPerHour(volume.priceNanosPerGbMonth, volume.sizeBytes),
    instances: attachments.map((attachment) => attachment.instanceId),
    used_space: toGb(volume.usedBytes),
    status_msg: volume.problem || (clone?.message ?? ""),
    public_ipaddr: machine?.facts.public_ipaddr ?? "",
    allowed_actions: actions,
  };
}

/** Disks that the same machines mount at the same paths are one row. */
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

function machineFields(machine: MachineDescription | undefined, hostId: UserId) {
  const facts = machine?.facts;
  return {
    machine_id: machine?.id ?? null,
    host_id: hostId,
    cluster_id: null,
    disk_name: facts?.disk_name ?? "",
    inet_up: facts?.inet_up_mbps ?? 0,
    inet_down: facts?.inet_down_mbps ?? 0,
    reliability2: (machine?.reliabilityPpm ?? 0) / PPM,
    // A machine that lost its verification for a while is shown as unverified; the reason concerns only its host.
    verification: machine?.verification === "verified" ? "verified" : "unverified",
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

/** The agreed price of a rental of this size, under the names that volume offers have. */
export function agreedPrice(listing: Pick<Listing, "priceNanosPerGbMonth" | "endAt">, sizeBytes: bigint) {
  return {
    storage_cost: toDollars(listing.priceNanosPerGbMonth),
    storage_total_cost: dollarsPerHour(listing.priceNanosPerGbMonth, sizeBytes),
    end_date: epochSeconds(listing.endAt),
  };
}

/** The displayed price of this size per hour. */
export function dollarsPerHour(price: Nanos, sizeBytes: bigint): number {
  return toDollars(mulDivFloor(price * sizeBytes, SECONDS_PER_HOUR, SECONDS_PER_MONTH * BigInt(BYTES_PER_GB)));
}

/** A driver version as one number: `535.86.05` is 535086005, three digits for each part after the first. */
function driverNumber(version: string): number {
  const [major = "0", ...rest] = version.split(".");
  const digits = [...rest, "0", "0"].slice(0, 2).map((part) => part.padStart(3, "0"));
  return Number(`${major}${digits.join("")}`) || 0;
}
