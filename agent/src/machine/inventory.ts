import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { arch, availableParallelism, cpus, hostname, release, totalmem } from "node:os";
import type { GpuFacts, MachineFacts } from "../../../protocol/index.ts";
import { declaredGpus, type DeclaredModel } from "./declared-gpus.ts";
import type { Clock } from "../base/clock.ts";
import { readDisk } from "./disk-facts.ts";
import { linkMbps } from "./network-facts.ts";
import { GPU_QUERY, parseCudaVersion, parseGpuQuery, parseNvlinks, type NvidiaGpus } from "./nvidia-smi.ts";
import type { PortRange } from "../instances/ports.ts";

export type Inventory = { readonly machine: MachineFacts; readonly gpus: readonly GpuFacts[] };
export type InventoryInput = {
  readonly host_key: string;
  readonly clock: Clock;
  /** Where the disks of instances lie. */
  readonly state_dir: string;
  readonly public_ipaddr: string;
  readonly port_range: PortRange;
  readonly geolocation: string;
  readonly declared: readonly DeclaredModel[];
  /** What the host says that its line reaches; undefined means the speed of the interface, which is an upper bound. */
  readonly inet_up_mbps: number | undefined;
  readonly inet_down_mbps: number | undefined;
  readonly allowed_registries: readonly string[];
};

/** Usable rate of one lane, by generation. */
const PCIE_GB_PER_S_PER_LANE = [0, 0.25, 0.5, 0.985, 1.97, 3.94, 7.56] as const;
const TOOL_TIMEOUT_MS = 20_000;
const NO_GPUS: NvidiaGpus & { cuda: number } = { gpus: [], driver_version: "", pci_gen: 0, cuda: 0 };

/** The facts of this machine, at the start and whenever its GPUs have changed. What cannot be found out is empty or zero, never guessed. */
export async function takeInventory(input: InventoryInput): Promise<Inventory> {
  const [cpu, os, disk, link_mbps, board, nvidia] = await Promise.all([
    readCpu(),
    readText("/etc/os-release"),
    readDisk(input.state_dir, input.clock),
    linkMbps(),
    readText("/sys/class/dmi/id/board_name"),
    askNvidia(),
  ]);
  const lanes = nvidia.gpus[0]?.pci_lanes ?? 0;
  const machine: MachineFacts = {
    hostname: hostname().slice(0, 255),
    is_simulated: false,
    cpu_name: cpu.name.slice(0, 255),
    cpu_arch: arch() === "arm64" ? "arm64" : "amd64",
    cpu_cores: usableCores(),
    cpu_ghz: cpu.ghz,
    has_avx: cpu.has_avx,
    memory_bytes: usableMemory(totalmem(), process.constrainedMemory()),
    disk_bytes: disk.bytes,
    disk_name: disk.name,
    disk_mb_per_s: disk.mb_per_s,
    inet_up_mbps: input.inet_up_mbps ?? link_mbps,
    inet_down_mbps: input.inet_down_mbps ?? link_mbps,
    public_ipaddr: input.public_ipaddr,
    has_static_ip: false,
    direct_port_start: input.port_range.first,
    direct_port_end: input.port_range.last,
    geolocation: input.geolocation,
    os_version: parseOsVersion(os).slice(0, 64),
    kernel_version: release().slice(0, 128),
    mobo_name: board.trim().slice(0, 255),
    pci_gen: nvidia.pci_gen,
    pcie_gb_per_s: Math.round((PCIE_GB_PER_S_PER_LANE[nvidia.pci_gen] ?? 0) * lanes * 10) / 10,
    driver_version: nvidia.driver_version.slice(0, 64),
    cuda_max_good: nvidia.cuda,
    ...(input.allowed_registries.length === 0 ? {} : { allowed_registries: [...input.allowed_registries] }),
  };
  return { machine, gpus: [...nvidia.gpus, ...declaredGpus(input.host_key, input.declared, nvidia.gpus.length)] };
}

/** Cores that this agent, and what it starts, may use: an affinity and a quota of its control group count. */
function usableCores(): number {
  return Math.max(1, Math.min(cpus().length || availableParallelism(), availableParallelism()));
}

/** For the system, Docker and the agent: renters who use up all that they rent must not have these killed. */
const MEMORY_RESERVE_SHARE = 0.05;
const [MEMORY_RESERVE_LEAST_BYTES, MEMORY_RESERVE_MOST_BYTES] = [0.75e9, 8e9];

/**
 * What renters may be promised. A limit of the agent's control group counts; 0 or something larger than the memory is
 * none.
 */
export function usableMemory(total_bytes: number, limit_bytes: number): number {
  const whole = limit_bytes > 0 ? Math.min(total_bytes, limit_bytes) : total_bytes;
  const wanted = Math.max(MEMORY_RESERVE_LEAST_BYTES, whole * MEMORY_RESERVE_SHARE);
  return Math.floor(Math.max(whole / 2, whole - Math.min(wanted, MEMORY_RESERVE_MOST_BYTES)));
}

/** `VERSION_ID` of an os-release file, without its quotes; empty when there is none. */
export function parseOsVersion(text: string): string {
  return /^VERSION_ID="?([^"\n]*)"?$/m.exec(text)?.[1] ?? "";
}

export type CpuFacts = { readonly name: string; readonly ghz: number; readonly has_avx: boolean };

/** Reads /proc/cpuinfo; `max_khz` is what the frequency driver says is possible, 0 if it says nothing. */
export function parseCpuInfo(text: string, max_khz: number): CpuFacts {
  const name = /^(?:model name|Processor)\s*:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? "";
  const present_mhz = Number(/^cpu MHz\s*:\s*([\d.]+)$/m.exec(text)?.[1] ?? 0);
  const ghz = (max_khz > 0 ? max_khz / 1000 : present_mhz) / 1000;
  return { name, ghz: Math.round(ghz * 100) / 100, has_avx: /^flags\s*:.*\bavx\b/m.test(text) };
}

async function readCpu(): Promise<CpuFacts> {
  const [text, max] = await Promise.all([
    readText("/proc/cpuinfo"),
    readText("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"),
  ]);
  return parseCpuInfo(text, Number(max.trim()) || 0);
}

async function askNvidia(): Promise<NvidiaGpus & { cuda: number }> {
  const query = await run("nvidia-smi", [`--query-gpu=${GPU_QUERY}`, "--format=csv,noheader,nounits"]);
  if (query === undefined) return NO_GPUS;
  const found = parseGpuQuery(query);
  if (found.gpus.length === 0) return NO_GPUS;
  const links = parseNvlinks((await run("nvidia-smi", ["nvlink", "--status"])) ?? "");
  const gpus = found.gpus.map((gpu) => ({ ...gpu, nvlink_gb_per_s: links.get(gpu.uuid) ?? 0 }));
  return { ...found, gpus, cuda: parseCudaVersion((await run("nvidia-smi", [])) ?? "") };
}

/** Undefined when the tool is missing or does not succeed. */
function run(tool: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(tool, [...args], { timeout: TOOL_TIMEOUT_MS, killSignal: "SIGKILL" }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    );
  });
}

/** Empty when there is no such file or it may not be read. */
function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
