// Preloaded into a process that is measured: on SIGUSR2 it collects garbage and writes what it uses to a file.
import { renameSync, writeFileSync } from "node:fs";

const COLLECTIONS = 3;
const file = process.env["BERTH_BENCH_MEMORY_FILE"];

process.on("SIGUSR2", () => {
  if (file === undefined || globalThis.gc === undefined) return;
  // Memory that finalizers let go is collected by the next collection.
  for (let count = 0; count < COLLECTIONS; count += 1) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  writeFileSync(`${file}.new`, JSON.stringify({ heapBytes: heapUsed + external, residentBytes: rss }));
  renameSync(`${file}.new`, file);
});
