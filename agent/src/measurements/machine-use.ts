import { readFile, statfs } from "node:fs/promises";
import type { MachineUse } from "./measurer.ts";

/** The kernel's unit of processor time, which is the same on every Linux that programs see. */
const TICK_MS = 10;
const BYTES_PER_KIB = 1024;

/** The use of this machine, and of the disk that holds the folder. */
export async function readMachineUse(folder: string): Promise<MachineUse> {
  const read = (path: string) => readFile(path, "utf8").catch(() => "");
  const [stat, meminfo, routes, devices, disk] = await Promise.all([
    read("/proc/stat"),
    read("/proc/meminfo"),
    read("/proc/net/route"),
    read("/proc/net/dev"),
    statfs(folder).catch(() => undefined),
  ]);
  return {
    busyMs: parseBusyMs(stat),
    memoryBytes: parseUsedMemory(meminfo),
    diskBytes: disk === undefined ? null : (disk.blocks - disk.bfree) * disk.bsize,
    ...parseTraffic(devices, parseUplinks(routes)),
  };
}

/** Time that processors worked since the boot: all but idle time and waiting for disks. */
export function parseBusyMs(stat: string): number | null {
  const words = /^cpu +(.+)$/m.exec(stat)?.[1]?.split(" ").map(Number);
  if (words === undefined || words.length < 5 || words.some((ticks) => !Number.isFinite(ticks))) return null;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = words;
  return (user + nice + system + irq + softirq + steal) * TICK_MS;
}

/** Memory that programs hold and cannot be had without taking it from them. */
export function parseUsedMemory(meminfo: string): number | null {
  const kib = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(meminfo)?.[1] ?? Number.NaN);
  const used = kib("MemTotal") - kib("MemAvailable");
  return Number.isFinite(used) ? Math.max(0, used) * BYTES_PER_KIB : null;
}

/** Interfaces that lead to the internet: those of default routes. Traffic of containers would count twice on others. */
export function parseUplinks(routes: string): ReadonlySet<string> {
  const names = routes.split("\n").flatMap((line) => {
    const [name, destination] = line.trim().split(/\s+/);
    return name !== undefined && destination === "00000000" ? [name] : [];
  });
  return new Set(names);
}

export function parseTraffic(
  devices: string,
  uplinks: ReadonlySet<string>,
): Pick<MachineUse, "receivedBytes" | "sentBytes"> {
  const sums = { receivedBytes: 0, sentBytes: 0 };
  let isKnown = false;
  for (const line of devices.split("\n")) {
    const [name = "", figures = ""] = line.split(":").map((part) => part.trim());
    if (!uplinks.has(name)) continue;
    const words = figures.split(/\s+/).map(Number);
    const [received = Number.NaN, sent = Number.NaN] = [words[0], words[8]];
    if (!Number.isFinite(received) || !Number.isFinite(sent)) continue;
    isKnown = true;
    sums.receivedBytes += received;
    sums.sentBytes += sent;
  }
  return isKnown ? sums : { receivedBytes: null, sentBytes: null };
}
