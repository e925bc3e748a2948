import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, type Backend } from "./backend.ts";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import { isMembers, parse, type Members } from "./routed-request.ts";

/** The requests by which the backend is measured. */
export type Benchmark = {
  readonly route: string;
  readonly payload: Members;
  /** Units of one such request. */
  readonly load: number;
  readonly requests: number;
  readonly concurrency: number;
  /** The file that keeps the result; undefined measures at each start. */
  readonly file: string | undefined;
};

export type MeasureParts = {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Part of the key, as another worker with other devices may have a copy or an image of this disk. */
  readonly workerId: number;
};

/** Units a second. An earlier result of this worker holds as long as the benchmark stays the same. */
export async function measure(benchmark: Benchmark, parts: MeasureParts): Promise<number> {
  const { file, ...what } = benchmark;
  const key = createHash("sha256")
    .update(JSON.stringify({ ...what, workerId: parts.workerId }))
    .digest("hex");
  const known = file === undefined ? undefined : await readKnown(file, key);
  if (known !== undefined) return known;
  const perf = await run(benchmark, parts);
  if (file !== undefined) {
    // Without the file the next start measures again, which is no reason to fail this one.
    await keep(file, { key, perf }).catch((error: unknown) => parts.log(`cannot keep ${file}: ${describe(error)}`));
  }
  return perf;
}

async function keep(file: string, known: { readonly key: string; readonly perf: number }): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(known));
}

async function run(benchmark: Benchmark, { backend, clock, signal }: MeasureParts): Promise<number> {
  const { route, payload, load, requests, concurrency } = benchmark;
  // The first request may load data that the others find loaded.
  await backend.work(route, payload, signal);
  const startMs = clock.monotonicMs();
  let left = requests;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await backend.work(route, payload, signal);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, requests) }, lane));
  const seconds = Math.max(clock.monotonicMs() - startMs, 1) / 1000;
  return (requests * load) / seconds;
}

async function readKnown(file: string, key: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const known = parse(text);
  if (!isMembers(known) || known["key"] !== key) return undefined;
  const { perf } = known;
  return typeof perf === "number" && Number.isFinite(perf) && perf > 0 ? perf : undefined;
}
