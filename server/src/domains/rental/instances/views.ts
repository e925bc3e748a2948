import { epochSeconds } from "../../../base/clock.ts";
import { storageNanosPerHour } from "../../../base/hourly-price.ts";
import { nanos, toDollars } from "../../../base/money.ts";
import type { InstanceSshKey } from "../../people/accounts/for-instances.ts";
import type { Maintenance, MachineDescription } from "../../supply/hosts/index.ts";
import { shareOf, type Rank } from "../../supply/market/for-instances.ts";
import type { Filling } from "../../supply/volumes/for-instances.ts";
import type { InstanceId } from "../../../base/ids.ts";
import type { Instance } from "./instance.ts";
import { viewInterruption, viewWaiting } from "./bids/rules/interruption-view.ts";
import { TRANSITIONS } from "./lifecycle/rules/lifecycle.ts";
import { deletesAt, endNote, timeRemaining } from "./rentals/rules/rental-end.ts";
import type { RunRecord, Usage } from "./counting/run-store.ts";
import type { OpenedInstance } from "./settings/encrypted-settings.ts";
import { allowedActions } from "./rules/allowed-actions.ts";
import { viewPull } from "./rules/pull.ts";
import { isReachable, statusOf } from "./rules/status.ts";

const BYTES_PER_MB = 1_000_000;
const BYTES_PER_GB = 1_000_000_000;
const MB_PER_GB = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The facts around an instance that its record needs: its machine, its access and the time of reading. */
type Surroundings = {
  readonly machine: MachineDescription;
  /** Maintenance windows of its machine, the next one first. */
  readonly maintenances: readonly Maintenance[];
  readonly volumes: readonly Filling[];
  readonly now: Date;
  readonly access: Access;
  /** The times of its runs, and the use of the present one. */
  readonly run: RunRecord | undefined;
  /** The name of the template that it was rented from; undefined without one. */
  readonly templateName: string | undefined;
  /** The rest of its deposit; undefined for an instance that is not reserved. */
  readonly depositNanos: bigint | undefined;
  /** The note on its tasks, for the status message. */
  readonly note: string | undefined;
  /** The rank in the schedule of its machine; undefined for an instance without a claim that could be taken from it. */
  readonly rank: Rank | undefined;
};

/** Access to the instance beside its own ports. Only its owner sees the record, and so the token. */
export type Access = {
  readonly proxyHost: string;
  /** The first of its pair of proxy ports; undefined when it has none. */
  readonly proxyPort: number | undefined;
  readonly jupyterToken: string;
  /** The address by name of a published TCP port; undefined where this service has no names for ports. */
  readonly portUrl: PortUrl | undefined;
};

export type PortUrl = (instanceId: InstanceId, port: number) => string;

export type InstanceRecord = ReturnType<typeof instanceRecord>;

/** Views of an instance's SSH keys. Keys without a comment are named by their fingerprint. */
export function viewInstanceKeys(keys: readonly InstanceSshKey[]) {
  return keys.map(({ id, publicKey, fingerprint }) => {
    const comment = publicKey.split(" ").slice(2).join(" ");
    return { id, name: comment || fingerprint, public_key: publicKey };
  });
}

/** The API's record of an instance, in dollars, MB, GB and seconds since 1970. */
export function instanceRecord(instance: OpenedInstance, surroundings: Surroundings) {
  const { machine, volumes, now, access, note, rank } = surroundings;
  const sight = { isReachable: isReachable(machine, now), now };
  const status = statusOf(instance, { ...sight, note, rank });
  const isRunning = status.actual_status === "running";
  return {
    id: instance.id,
    ...status,
    status_msg: [status.status_msg, endNote(instance, now)].filter(Boolean).join("; ") || status.status_msg,
    pull: status.actual_status === "loading" ? viewPull(instance) : null,
    label: instance.label ?? null,
    machine_id: machine.id,
    host_id: machine.hostId,
    bundle_id: instance.bundleId ?? null,
    host_last_seen: epochSeconds(machine.lastSeenAt),
    hosting_type: machine.hostingType,
    template_id: instance.templateId ?? null,
    template_hash_id: instance.templateHashId ?? null,
    template_name: surroundings.templateName ?? null,
    is_bid: instance.isBid,
    is_reserved: instance.discountPpm > 0,
    ...timeFields(instance, now),
    ...runFields(surroundings.run, { isRunning, now }),
    rentable: false,
    external: false,
    verification: machine.verification,
    ...launchFields(instance),
    ...sshFields(instance, machine, { ...access, isRunning }),
    ...accessFields(instance, machine, { isRunning, portUrl: access.portUrl }),
    ...gpuFields(instance, machine),
    ...boardFields(instance, machine),
    ...usageFields(instance, machine, isRunning ? surroundings.run?.usage : undefined),
    ...priceFields(instance, surroundings),
    interruption: viewInterruption(instance, rank),
    waiting_for: viewWaiting(instance, machine.isConnected, rank),
    maintenance: surroundings.maintenances.map(toMaintenance),
    volume_info: volumes.map(toVolumeInfo),
    actions: actionsOf(instance),
    allowed_actions: allowedActions(instance, { ...sight, discountMaxPermille: machine.creditDiscountMaxPermille }),
  };
}

function timeFields({ createdAt, endAt, isBid }: Instance, now: Date) {
  return {
    start_date: epochSeconds(createdAt),
    end_date: epochSeconds(endAt),
    deletes_at: epochSeconds(deletesAt({ endAt })),
    duration: Math.max(0, epochSeconds(endAt) - epochSeconds(now)),
    time_remaining: isBid ? "" : timeRemaining({ endAt }, now),
    time_remaining_isbid: isBid ? timeRemaining({ endAt }, now) : "",
  };
}

/** Uptime up to now, and the hours of all runs as of the last report. */
function runFields(
  run: RunRecord | undefined,
  { isRunning, now }: { readonly isRunning: boolean; readonly now: Date },
) {
  const sinceAt = isRunning ? run?.meteredFromAt : undefined;
  return {
    uptime_mins:
      sinceAt === undefined ? null : Math.max(0, Math.floor((now.getTime() - sinceAt.getTime()) / MINUTE_MS)),
    client_run_time: round(Number(run?.countedMs ?? 0n) / HOUR_MS),
    host_run_time: round(Number(run?.heardMs ?? 0n) / HOUR_MS),
  };
}

function launchFields({ launch }: OpenedInstance) {
  return {
    image_uuid: launch.image,
    image_args: [...launch.image_args],
    image_runtype: launch.image_runtype,
    extra_env: launch.extra_env.map(([name, value]) => [name, value]),
    onstart: launch.onstart,
  };
}

/**
 * Without a way through the proxy, as on a simulated host, host and port are those of the container's port 22. The port
 * is 0 when there is neither, and after the end.
 */
function sshFields(
  { observed }: Instance,
  { facts }: MachineDescription,
  { isRunning, ...access }: Access & { readonly isRunning: boolean },
) {
  const direct = isRunning ? observed?.ports["22/tcp"] : undefined;
  return {
    ssh_host: access.proxyPort === undefined ? facts.public_ipaddr : access.proxyHost,
    ssh_port: access.proxyPort ?? direct ?? 0,
    ssh_idx: access.proxyPort === undefined ? "0" : "1",
    ssh_host_key: observed?.sshHostKey ?? null,
    jupyter_token: access.jupyterToken,
  };
}

function accessFields(
  instance: OpenedInstance,
  { facts }: MachineDescription,
  { isRunning, portUrl }: Pick<Access, "portUrl"> & { readonly isRunning: boolean },
) {
  return {
    port_urls: facts.opens_ports === true ? portUrlsOf(instance, isRunning, portUrl) : {},
    static_ip: facts.has_static_ip,
    machine_dir_ssh_port: 0,
    public_ipaddr: facts.public_ipaddr,
    ports: portsOf(instance, isRunning),
    direct_port_count: instance.launch.ports.length,
    direct_port_start: -1,
    direct_port_end: -1,
  };
}

function gpuFields({ deviceCount }: Instance, machine: MachineDescription) {
  const { gpu } = machine;
  const numGpus = gpu === undefined ? 0 : deviceCount;
  const totalRam = (gpu?.memory_mb ?? 0) * numGpus;
  return {
    num_gpus: numGpus,
    gpu_name: gpu?.name ?? "CPU",
    gpu_is_declared: gpu?.is_declared ?? false,
    gpu_arch: gpu === undefined ? "none" : "nvidia",
    gpu_frac: shareOf(machine, deviceCount),
    gpu_lanes: gpu?.pci_lanes ?? 0,
    gpu_mem_bw: gpu?.memory_gb_per_s ?? 0,
    bw_nvlink: gpu?.nvlink_gb_per_s ?? 0,
    gpu_ram: gpu?.memory_mb ?? 0,
    gpu_totalram: totalRam,
    gpu_total_ram: totalRam,
    dlperf: (gpu?.dlperf ?? 0) * numGpus,
    total_flops: (gpu?.tflops ?? 0) * numGpus,
  };
}

function boardFields(instance: Instance, machine: MachineDescription) {
  const { facts } = machine;
  const share = shareOf(machine, instance.deviceCount);
  return {
    is_simulated: facts.is_simulated,
    cpu_cores: facts.cpu_cores,
    cpu_cores_effective: facts.cpu_cores * share,
    cpu_name: facts.cpu_name,
    cpu_arch: facts.cpu_arch,
    cpu_ram: Math.round(facts.memory_bytes / BYTES_PER_MB),
    mem_limit: Math.round((facts.memory_bytes * share) / BYTES_PER_MB) / 1000,
    disk_space: Number(instance.diskBytes) / BYTES_PER_GB,
    disk_bw: facts.disk_mb_per_s,
    disk_name: facts.disk_name,
    inet_up: facts.inet_up_mbps,
    inet_down: facts.inet_down_mbps,
    mobo_name: facts.mobo_name,
    os_version: facts.os_version,
    pci_gen: facts.pci_gen,
    pcie_bw: facts.pcie_gb_per_s,
    driver_version: facts.driver_version,
    cuda_max_good: facts.cuda_max_good,
    geolocation: facts.geolocation,
    country_code: facts.geolocation.slice(-2),
    logo: "",
    webpage: null,
  };
}

/** The host's last measurements. A fully used processor core counts 100 in `cpuPercent`. */
function usageFields({ diskBytes, deviceCount }: Instance, machine: MachineDescription, usage: Usage | undefined) {
  const cores = machine.facts.cpu_cores * shareOf(machine, deviceCount);
  const cpu = (usage?.cpuPercent ?? 0) / 100 / Math.max(1, cores);
  const disk = usage?.diskBytes;
  return {
    gpu_util: usage?.gpuPercent ?? null,
    gpu_temp: usage?.gpuTemperatureC ?? null,
    cpu_util: round(Math.min(1, cpu)),
    mem_usage: usage?.memoryBytes === undefined ? null : round(usage.memoryBytes / BYTES_PER_GB),
    local_ipaddrs: usage?.ipAddress ?? "",
    vmem_usage: usage?.gpuMemoryMb === undefined ? null : round(usage.gpuMemoryMb / MB_PER_GB),
    disk_usage: disk === undefined ? -1 : round(disk / BYTES_PER_GB),
    disk_util: disk === undefined ? -1 : round(Math.min(1, disk / Math.max(1, Number(diskBytes)))),
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function toMaintenance({ startAt, endAt, category, reason }: Maintenance) {
  return {
    start_time: epochSeconds(startAt),
    end_time: epochSeconds(endAt),
    maintenance_category: category,
    maintenance_reason: reason,
  };
}

function toVolumeInfo({ volumeId, sizeBytes, usedBytes }: Filling) {
  const [size, used] = [Number(sizeBytes), Number(usedBytes)];
  return { id: volumeId, avail_space: Math.max(0, size - used) / BYTES_PER_GB, total_space: size / BYTES_PER_GB };
}

/** Addresses by name of the TCP ports of a running instance, but those that speak no HTTP: SSH, and Jupyter with its own TLS. */
function portUrlsOf({ id, observed, launch }: Instance, isRunning: boolean, portUrl: PortUrl | undefined) {
  if (!isRunning || observed === undefined || portUrl === undefined) return {};
  const others = launch.runtype.mode === "jupyter" ? ["22/tcp", "8080/tcp"] : ["22/tcp"];
  const ports = Object.keys(observed.ports).filter((key) => key.endsWith("/tcp") && !others.includes(key));
  return Object.fromEntries(ports.map((key) => [key, portUrl(id, Number.parseInt(key, 10))]));
}

/** The port map of a running instance; an empty object otherwise, never null, since clients read into it. */
function portsOf({ observed }: Instance, isRunning: boolean) {
  if (!isRunning || observed === undefined) return {};
  const bound = Object.entries(observed.ports);
  return Object.fromEntries(bound.map(([key, port]) => [key, [{ HostIp: "0.0.0.0", HostPort: String(port) }]]));
}

function perUnit(value: number, units: number): number {
  return units === 0 ? 0 : value / units;
}

function priceFields(
  instance: Instance,
  { machine, depositNanos, rank }: Pick<Surroundings, "machine" | "depositNanos" | "rank">,
) {
  const { gpu } = machine;
  const discountRate = instance.discountPpm / 1e6;
  const gpuPerHour = toDollars(instance.priceNanosPerHour);
  const diskPerHour = toDollars(storageNanosPerHour(instance));
  const breakdown = (gpu: number) => ({
    gpuCostPerHour: gpu,
    diskHour: diskPerHour,
    totalHour: gpu + diskPerHour,
    discountTotalHour: gpu * discountRate,
    discountedTotalPerHour: gpu * (1 - discountRate) + diskPerHour,
  });
  const reliability = machine.reliabilityPpm / 1e6;
  const dlperfPerDollar = perUnit((gpu?.dlperf ?? 0) * instance.deviceCount, gpuPerHour + diskPerHour);
  const isHolding = instance.phase === "starting" || instance.phase === "running" || instance.phase === "yielding";
  return {
    dph_base: gpuPerHour,
    dph_total: gpuPerHour + diskPerHour,
    min_bid: toDollars(rank?.bidToRunNanos ?? machine.priceMinBidNanosPerHour * BigInt(instance.deviceCount)),
    storage_cost: toDollars(instance.storageNanosPerGbMonth),
    storage_total_cost: diskPerHour,
    vram_costperhour: perUnit(gpuPerHour, ((gpu?.memory_mb ?? 0) * instance.deviceCount) / 1000),
    inet_up_cost: toDollars(instance.inetUpNanosPerGb),
    inet_down_cost: toDollars(instance.inetDownNanosPerGb),
    internet_up_cost_per_tb: toDollars(instance.inetUpNanosPerGb) * 1024,
    internet_down_cost_per_tb: toDollars(instance.inetDownNanosPerGb) * 1024,
    ...trafficFields(instance),
    credit_balance: depositNanos === undefined ? null : toDollars(depositNanos),
    credit_discount: depositNanos === undefined ? null : discountRate,
    credit_discount_max: machine.creditDiscountMaxPermille / 1000,
    dlperf_per_dphtotal: dlperfPerDollar,
    score: dlperfPerDollar * reliability,
    reliability2: reliability,
    flops_per_dphtotal: perUnit((gpu?.tflops ?? 0) * instance.deviceCount, gpuPerHour + diskPerHour),
    search: breakdown(gpuPerHour),
    instance: breakdown(isHolding ? gpuPerHour : 0),
  };
}

const REQUESTS = {
  start: "startRequested",
  stop: "stopRequested",
  reboot: "rebootRequested",
  recycle: "renewalRequested",
  destroy: "destroyRequested",
} as const;

/** The actions that are possible now, from the table that also decides, so that clients do not restate the rules. */
function actionsOf({ phase }: Instance) {
  const answer = (event: (typeof REQUESTS)[keyof typeof REQUESTS]) => {
    const outcome = TRANSITIONS[phase][event];
    return "reject" in outcome ? { allowed: false, reason: outcome.reject } : { allowed: true };
  };
  return {
    start: answer(REQUESTS.start),
    stop: answer(REQUESTS.stop),
    reboot: answer(REQUESTS.reboot),
    recycle: answer(REQUESTS.recycle),
    destroy: answer(REQUESTS.destroy),
  };
}

/** The limit is the charged costs plus those still allowed; for a budget as of the last settlement. */
function trafficFields({ traffic: { limitNanos, spentNanos, leftNanos, isReached } }: Instance) {
  return {
    traffic_cost: toDollars(spentNanos),
    traffic_limit: toDollars(limitNanos ?? nanos(spentNanos + (leftNanos ?? 0n))),
    traffic_limit_source: limitNanos === undefined ? ("budget" as const) : ("renter" as const),
    traffic_limit_reached: isReached,
  };
}
