import { epochSeconds } from "../../base/clock.ts";
import { toDollars } from "../../base/money.ts";
import type { MachineDescription } from "../hosts/index.ts";
import { shareOf } from "../market/index.ts";
import type { Mount } from "../volumes/index.ts";
import type { Instance } from "./instance.ts";
import { TRANSITIONS } from "./lifecycle.ts";
import { storageNanosPerHour } from "./pricing.ts";
import { statusOf, SUSPECT_MS } from "./status.ts";

const BYTES_PER_MB = 1_000_000;
const BYTES_PER_GB = 1_000_000_000;

/** Where it is, with what, and when it is looked at. */
type Surroundings = { readonly machine: MachineDescription; readonly mounts: readonly Mount[]; readonly now: Date };

export type InstanceRecord = ReturnType<typeof instanceRecord>;

/** The contract's record of an instance (offer-fields.md §3). Dollars, MB, GB, epoch seconds as there. */
export function instanceRecord(instance: Instance, { machine, mounts, now }: Surroundings) {
  const isReachable = machine.isConnected || now.getTime() - machine.lastSeenAt.getTime() < SUSPECT_MS;
  const status = statusOf(instance, { isReachable });
  return {
    id: instance.id,
    ...status,
    label: instance.label ?? null,
    machine_id: machine.id,
    host_id: machine.hostId,
    bundle_id: machine.id,
    hosting_type: 0,
    template_id: instance.templateId ?? null,
    template_hash_id: instance.templateHashId ?? null,
    template_name: null,
    is_bid: instance.isBid,
    ...timeFields(instance, now),
    rentable: false,
    external: false,
    verification: machine.verification,
    ...launchFields(instance),
    ...accessFields(instance, machine, status.actual_status === "running"),
    ...gpuFields(instance, machine),
    ...boardFields(instance, machine),
    ...priceFields(instance, machine),
    volume_info: mounts.map(toVolumeInfo),
    actions: actionsOf(instance),
  };
}

function timeFields({ createdAt, endAt }: Instance, now: Date) {
  return {
    start_date: epochSeconds(createdAt),
    end_date: epochSeconds(endAt),
    duration: Math.max(0, epochSeconds(endAt) - epochSeconds(now)),
    uptime_mins: null,
    client_run_time: 0,
    host_run_time: 0,
    time_remaining: "",
    time_remaining_isbid: "",
  };
}

function launchFields({ launch }: Instance) {
  return {
    image_uuid: launch.image,
    image_args: [...launch.image_args],
    image_runtype: launch.image_runtype,
    extra_env: launch.extra_env.map(([name, value]) => [name, value]),
    onstart: launch.onstart,
    jupyter_token: "",
  };
}

function accessFields(instance: Instance, { facts }: MachineDescription, isRunning: boolean) {
  return {
    static_ip: facts.has_static_ip,
    ssh_host: facts.public_ipaddr,
    ssh_port: 0,
    ssh_idx: "0",
    machine_dir_ssh_port: 0,
    public_ipaddr: facts.public_ipaddr,
    local_ipaddrs: "",
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
    gpu_util: null,
    gpu_temp: null,
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
    cpu_util: 0,
    mem_limit: Math.round((facts.memory_bytes * share) / BYTES_PER_MB) / 1000,
    mem_usage: null,
    vmem_usage: null,
    disk_space: Number(instance.diskBytes) / BYTES_PER_GB,
    disk_usage: -1,
    disk_util: -1,
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
    score: 0,
    reliability2: 0.99,
    geolocation: facts.geolocation,
    country_code: facts.geolocation.slice(-2),
    logo: "",
    webpage: null,
  };
}

/** How full a volume is, nobody reports yet. */
function toVolumeInfo({ volume_id: id, size_bytes: size }: Mount) {
  return { id, avail_space: size / BYTES_PER_GB, total_space: size / BYTES_PER_GB };
}

/** Present only while running; an empty object otherwise, never null (operations.md §17). */
function portsOf({ observed }: Instance, isRunning: boolean) {
  if (!isRunning || observed === undefined) return {};
  const bound = Object.entries(observed.ports);
  return Object.fromEntries(bound.map(([key, port]) => [key, [{ HostIp: "0.0.0.0", HostPort: String(port) }]]));
}

function priceFields(instance: Instance, machine: MachineDescription) {
  const gpuPerHour = toDollars(instance.priceNanosPerHour);
  const diskPerHour = toDollars(storageNanosPerHour(instance));
  const breakdown = (gpu: number) => ({
    gpuCostPerHour: gpu,
    diskHour: diskPerHour,
    totalHour: gpu + diskPerHour,
    discountTotalHour: 0,
    discountedTotalPerHour: gpu + diskPerHour,
  });
  const isHolding = instance.phase === "starting" || instance.phase === "running";
  return {
    dph_base: gpuPerHour,
    dph_total: gpuPerHour + diskPerHour,
    min_bid: toDollars(machine.priceMinBidNanosPerHour * BigInt(instance.deviceCount)),
    storage_cost: toDollars(instance.storageNanosPerGbMonth),
    storage_total_cost: diskPerHour,
    vram_costperhour: 0,
    inet_up_cost: toDollars(instance.inetUpNanosPerGb),
    inet_down_cost: toDollars(instance.inetDownNanosPerGb),
    internet_up_cost_per_tb: toDollars(instance.inetUpNanosPerGb) * 1024,
    internet_down_cost_per_tb: toDollars(instance.inetDownNanosPerGb) * 1024,
    credit_balance: null,
    credit_discount: null,
    credit_discount_max: machine.creditDiscountMaxPermille / 1000,
    dlperf_per_dphtotal: 0,
    flops_per_dphtotal: 0,
    search: breakdown(gpuPerHour),
    instance: breakdown(isHolding ? gpuPerHour : 0),
  };
}

const REQUESTS = {
  start: "startRequested",
  stop: "stopRequested",
  reboot: "rebootRequested",
  destroy: "destroyRequested",
} as const;

/** What may be asked of it now, from the same table that decides, so that no client restates the rules. */
function actionsOf({ phase }: Instance) {
  const answer = (event: (typeof REQUESTS)[keyof typeof REQUESTS]) => {
    const outcome = TRANSITIONS[phase][event];
    return "reject" in outcome ? { allowed: false, reason: outcome.reject } : { allowed: true };
  };
  return {
    start: answer(REQUESTS.start),
    stop: answer(REQUESTS.stop),
    reboot: answer(REQUESTS.reboot),
    destroy: answer(REQUESTS.destroy),
  };
}
