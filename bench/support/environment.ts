import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { quantile, rounded } from "./figures.ts";

const SYNC_COUNT = 200;
const BLOCK_BYTES = 8192;

/** The median of what the disk takes to sync 8 kB, in milliseconds: no durable figure means anything without it. */
function measureSyncMs(directory: string): number {
  const folder = mkdtempSync(path.join(directory, "berth-bench-sync-"));
  const file = openSync(path.join(folder, "block"), "w");
  const block = Buffer.alloc(BLOCK_BYTES, 1);
  const times = Array.from({ length: SYNC_COUNT }, () => {
    writeSync(file, block, 0, BLOCK_BYTES, 0);
    const startMs = performance.now();
    fdatasyncSync(file);
    return performance.now() - startMs;
  });
  closeSync(file);
  rmSync(folder, { recursive: true });
  return quantile(times, 0.5);
}

/** The sentences that stand above every result: what ran where, and what the figures cannot say. */
export function describeEnvironment(directory: string): string {
  const cpus = os.cpus();
  const load = os.loadavg()[0] ?? 0;
  return [
    `${cpus.length} × ${cpus[0]?.model.trim() ?? "unknown processor"}, Linux ${os.release()}, Node ${process.versions.node}.`,
    `Load generator, server and PostgreSQL share these processors; load average at the start ${load.toFixed(2)}.`,
    `fdatasync of 8 kB: ${rounded(measureSyncMs(directory) * 1000)} µs (median of ${SYNC_COUNT}); users' disks take longer.`,
    "Compare ratios to the control of the same run rather than figures of different runs.",
  ].join("\n");
}
