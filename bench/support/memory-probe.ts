import { readFileSync, rmSync } from "node:fs";
import path from "node:path";

/** Memory of a process after a garbage collection: JavaScript objects with their buffers, and all its pages. */
export type MemoryUse = { readonly heapBytes: number; readonly residentBytes: number };

const PRELOADED = path.join(import.meta.dirname, "report-memory.ts");
const WAIT_MS = 120_000;
const LOOK_MS = 20;

/** How node has to be started so that `readMemory` can ask it. */
export const MEASURABLE = ["--expose-gc", "--import", PRELOADED] as const;

/** Asks a process that was started with `MEASURABLE` and with the file in BERTH_BENCH_MEMORY_FILE. */
export async function readMemory(processId: number, file: string): Promise<MemoryUse> {
  rmSync(file, { force: true });
  process.kill(processId, "SIGUSR2");
  for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += LOOK_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    try {
      return JSON.parse(readFileSync(file, "utf8")) as MemoryUse;
    } catch {
      // Not written yet.
    }
  }
  throw new Error("the process does not say how much memory it uses");
}

/** The memory of one of `count` things that were added. */
export function perOne(before: MemoryUse, after: MemoryUse, count: number): MemoryUse {
  return {
    heapBytes: (after.heapBytes - before.heapBytes) / count,
    residentBytes: (after.residentBytes - before.residentBytes) / count,
  };
}
