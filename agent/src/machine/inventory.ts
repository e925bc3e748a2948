import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { arch, availableParallelism, cpus, hostname, release, totalmem } from "node:os";
import type { GpuFacts, MachineFacts } from "../wire/messages.ts";
import { declaredGpus, type DeclaredModel } from "./declared-gpus.ts";
import type { Clock } from "../base/clock.ts";
import { readDisk } from "./disk-facts.ts";
import { linkMbps } from "./network-facts.ts";
import {
  GPU_QUERY,
  parseCudaVersion,
  parseGpuQuery,
  parseMaxTemperatures,
  parseNvlinks,
  type NvidiaGpus,
} from "./nvidia-smi.ts";
import type { PortRange } from "../instances/ports.ts";

export type Inventory = { readonly machine: MachineFacts; readonly gpus: readonly GpuFacts[] };
export type InventoryInput = {
  readonly hostKey: string;
  readonly clock: Clock;
  /** The folder with the disks of instances. */
  readonly stateDir: string;
  readonly publicIpaddr: string;
  readonly portRange: PortRange;
  readonly geolocation: string;
  readonly declared: readonly DeclaredModel[];
  /**
   * The uplink's speed as the host declares it; undefined means the speed of the interface, which is an upper bound.
   */
  readonly inetUpMbps: number | undefined;
  readonly inetDownMbps: number | undefined;
  readonly allowedRegistries: readonly string[];
};

/** Usable rate of one lane, by generation. */
const PCIE_GB_PER_S_PER_LANE = [0, 0.25, 0.5, 0.985, 1.97, 3.94, 7.56] as const;
const TOOL_TIMEOUT_MS = 20_000;
const NO_GPUS: NvidiaGpus & { cuda: number } = { gpus: [], driverVersion: "", pciGen: 0, cuda: 0 };

/** The facts of this machine, at the start and whenever its GPUs have changed. What cannot be found out is empty or zero, never guessed. */
export async function takeInventory(input: InventoryInput): Promise<Inventory> {
  const [cpu, os, disk, uplinkMbps, board, nvidia] = await Promise.all([
    readCpu(),
    readText("/etc/os-release"),
    readDisk(input.stateDir, input.clock),
    linkMbps(),
    readText("/sys/class/dmi/id/board_name"),
    askNvidia(),
  ]);
  const lanes = nvidia.gpus[0]?.pciLanes ?? 0;
  const machine: MachineFacts = {
    hostname: hostname().slice(0, 255),
    isSimulated: false,
    cpuName: cpu.name.slice(0, 255),
    cpuArch: arch() === "arm64" ? "arm64" : "amd64",
    cpuCores: usableCores(),
    cpuGhz: cpu.ghz,
    hasAvx: cpu.hasAvx,
    memoryBytes: usableMemory(totalmem(), process.constrainedMemory()),
    diskBytes: disk.bytes,
    diskName: disk.name,
    diskMbPerS: disk.mbPerS,
    inetUpMbps: input.inetUpMbps ?? uplinkMbps,
    inetDownMbps: input.inetDownMbps ?? uplinkMbps,
    publicIpaddr: input.publicIpaddr,
    hasStaticIp: false,
    directPortStart: input.portRange.first,
    directPortEnd: input.portRange.last,
    geolocation: input.geolocation,
    osVersion: parseOsVersion(os).slice(0, 64),
    kernelVersion: release().slice(0, 128),
    moboName: board.trim().slice(0, 255),
    pciGen: nvidia.pciGen,
    pcieGbPerS: Math.round((PCIE_GB_PER_S_PER_LANE[nvidia.pciGen] ?? 0) * lanes * 10) / 10,
    driverVersion: nvidia.driverVersion.slice(0, 64),
    cudaMaxGood: nvidia.cuda,
    ...(input.allowedRegistries.length === 0 ? {} : { allowedRegistries: [...input.allowedRegistries] }),
  };
  return { machine, gpus: [...nvidia.gpus, ...declaredGpus(input.hostKey, input.declared, nvidia.gpus.length)] };
}

/** Cores that this agent, and what it starts, may use: an affinity and a quota of its control group count. */
function usableCores(): number {
  return Math.max(1, Math.min(cpus().length || availableParallelism(), availableParallelism()));
}

/** Memory for the system, Docker and the agent, which must live when renters use up all that they rent. */
const MEMORY_RESERVE_SHARE = 0.05;
const [MEMORY_RESERVE_LEAST_BYTES, MEMORY_RESERVE_MOST_BYTES] = [0.75e9, 8e9];

/**
 * Memory in bytes that renters may be promised. A limit of the agent's control group counts; 0, or more than the
 * memory, is no limit.
 */
export function usableMemory(totalBytes: number, limitBytes: number): number {
  const whole = limitBytes > 0 ? Math.min(totalBytes, limitBytes) : totalBytes;
  const wanted = Math.max(MEMORY_RESERVE_LEAST_BYTES, whole * MEMORY_RESERVE_SHARE);
  return Math.floor(Math.max(whole / 2, whole - Math.min(wanted, MEMORY_RESERVE_MOST_BYTES)));
}

/** `VERSION_ID` of an os-release file, without its quotes; empty when there is none. */
export function parseOsVersion(text: string): string {
  return /^VERSION_ID="?([^"\n]*)"?$/m.exec(text)?.[1] ?? "";
}

export type CpuFacts = { readonly name: string; readonly ghz: number; readonly hasAvx: boolean };

/** Reads /proc/cpuinfo; `maxKhz` is what the frequency driver says is possible, 0 if it says nothing. */
export function parseCpuInfo(text: string, maxKhz: number): CpuFacts {
  const name = /^(?:model name|Processor)\s*:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? "";
  const presentMhz = Number(/^cpu MHz\s*:\s*([\d.]+)$/m.exec(text)?.[1] ?? 0);
  const ghz = (maxKhz > 0 ? maxKhz / 1000 : presentMhz) / 1000;
  return { name, ghz: Math.round(ghz * 100) / 100, hasAvx: /^flags\s*:.*\bavx\b/m.test(text) };
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
  const temperatures = parseMaxTemperatures((await run("nvidia-smi", ["-q", "-d", "TEMPERATURE"])) ?? "");
  const gpus = found.gpus.map((gpu) => {
    const maxTempC = temperatures.get(gpu.index);
    const measured = { ...gpu, nvlinkGbPerS: links.get(gpu.uuid) ?? 0 };
    return maxTempC === undefined ? measured : { ...measured, maxTempC };
  });
  return { ...found, gpus, cuda: parseCudaVersion((await run("nvidia-smi", [])) ?? "") };
}

/** The tool's output; undefined when it is missing or does not succeed. */
function run(tool: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(tool, [...args], { timeout: TOOL_TIMEOUT_MS, killSignal: "SIGKILL" }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    );
  });
}

/** The text of a file; empty when there is none or it may not be read. */
function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
