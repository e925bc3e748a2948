import { readdirSync, readFileSync } from "node:fs";

/** The kernel counts processor time in ticks of 10 ms (USER_HZ is 100 on all Linux systems that node supports). */
const MS_PER_TICK = 10;

type Stat = { readonly parentPid: number; readonly ownMs: number; readonly endedChildrenMs: number };

/** The content; undefined when the process ended meanwhile, as short-lived ones of PostgreSQL and agents do. */
function readOf(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}

function readStat(pid: number): Stat | undefined {
  const text = readOf(pid, "stat");
  if (text === undefined) return undefined;
  // The name in parentheses may hold blanks; everything is counted from behind it.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const at = (index: number) => Number(fields[index]);
  return {
    parentPid: at(1),
    ownMs: (at(11) + at(12)) * MS_PER_TICK,
    endedChildrenMs: (at(13) + at(14)) * MS_PER_TICK,
  };
}

/** Processor time that a process used itself, in milliseconds. */
export function processorMs(pid: number): number {
  return readStat(pid)?.ownMs ?? 0;
}

/** Processor time of a process with its children, those that ended included. */
export function processorMsWithChildren(pid: number): number {
  const own = readStat(pid);
  if (own === undefined) return 0;
  return childrenOf(pid).reduce((sum, child) => sum + processorMs(child), own.ownMs + own.endedChildrenMs);
}

export function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((other) => Number.isInteger(other) && readStat(other)?.parentPid === pid);
}

/** Resident memory and the part of it that is this process's in fair division (PSS), in bytes; 0 of one that ended. */
export function memoryOf(pid: number): { readonly residentBytes: number; readonly proportionalBytes: number } {
  const text = readOf(pid, "smaps_rollup") ?? "";
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);
  return { residentBytes: kilobytes("Rss") * 1024, proportionalBytes: kilobytes("Pss") * 1024 };
}

/** The words of a process's command line; none of one that ended. */
export function commandOf(pid: number): string {
  return (readOf(pid, "cmdline") ?? "").split("\0").join(" ").trim();
}
