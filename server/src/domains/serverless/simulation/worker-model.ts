import { invalid } from "../../../base/errors.ts";
import { nanos, parseDollars, type Nanos } from "../../../base/money.ts";
import type { InstanceFacts } from "../../rental/instances/for-serverless.ts";
import { measuredPerf, median } from "../autoscaling/rules/worker-perf.ts";
import type { SimulateBody } from "./schema.ts";
import type { WorkerModel } from "./types.ts";
import type { Worker } from "../workers/store.ts";

const SECOND_MS = 1_000;

/** Measurements of the endpoint's workers; each is undefined without a measured worker. */
type Measured = {
  readonly perf: number | undefined;
  readonly priceNanosPerHour: Nanos | undefined;
  readonly coldPriceNanosPerHour: Nanos | undefined;
  readonly firstStartMs: number | undefined;
  readonly warmStartMs: number | undefined;
};

/** The median of each figure over the measured workers. */
export function measureWorkers(
  workers: readonly Worker[],
  instances: ReadonlyMap<number, Pick<InstanceFacts, "deviceNanosPerHour" | "diskNanosPerHour">>,
): Measured {
  const measured = workers.filter((worker) => measuredPerf(worker) !== undefined);
  const prices = measured.flatMap(({ instanceId }) => instances.get(instanceId) ?? []);
  return {
    perf: median(measured.flatMap((worker) => measuredPerf(worker) ?? [])),
    priceNanosPerHour: middle(prices.map((price) => price.deviceNanosPerHour + price.diskNanosPerHour)),
    coldPriceNanosPerHour: middle(prices.map((price) => price.diskNanosPerHour)),
    firstStartMs: median(workers.flatMap((worker) => worker.firstStartMs ?? [])),
    warmStartMs: median(workers.flatMap((worker) => worker.warmStartMs ?? [])),
  };
}

/**
 * The given description of workers, completed by the measurements; throws `invalid` naming the figures that both
 * lack.
 */
export function workerModel(said: SimulateBody["worker"] = {}, measured: Measured): WorkerModel {
  const perf = said.perf ?? measured.perf;
  const price = toNanos(said.price_per_hour) ?? measured.priceNanosPerHour;
  const coldPrice = toNanos(said.storage_per_hour) ?? measured.coldPriceNanosPerHour;
  const firstStartMs = toMs(said.first_start_s) ?? measured.firstStartMs;
  if (perf === undefined || price === undefined || coldPrice === undefined || firstStartMs === undefined) {
    const known = { perf, price_per_hour: price, storage_per_hour: coldPrice, first_start_s: firstStartMs };
    const missing = Object.entries(known).flatMap(([name, value]) => (value === undefined ? name : []));
    throw invalid(
      "worker",
      `worker: this endpoint has no measured worker, so these fields are needed: ${missing.join(", ")}`,
      "no_measured_worker",
      { extra: { missing } },
    );
  }
  return {
    ...{ perf, parallelCount: said.parallel_requests ?? 1, firstStartsMs: [firstStartMs] },
    warmStartsMs: [toMs(said.warm_start_s) ?? measured.warmStartMs ?? firstStartMs],
    ...{ priceNanosPerHour: price, coldPriceNanosPerHour: coldPrice },
  };
}

function toNanos(dollars: number | undefined): Nanos | undefined {
  return dollars === undefined ? undefined : parseDollars(dollars);
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * SECOND_MS);
}

function middle(amounts: readonly bigint[]): Nanos | undefined {
  const sorted = amounts.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
  const found = sorted[Math.floor((sorted.length - 1) / 2)];
  return found === undefined ? undefined : nanos(found);
}
