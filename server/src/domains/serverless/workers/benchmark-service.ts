import type { Tx } from "../../../db/transaction.ts";
import { listWorkloads } from "../../rental/instances/for-serverless.ts";
import { listPublicHashes } from "../../rental/templates/for-serverless.ts";
import { storeWorkerBenchmarks, type MeasuredWorker } from "../../supply/benchmarks/for-serverless.ts";
import { measuredPerf } from "../autoscaling/rules/worker-perf.ts";
import type { Worker } from "./store.ts";

type Measured = Pick<Worker, "instanceId" | "claimedPerf" | "observedPerf">;

/** Stores the performance of these workers as benchmarks; of several reports of a worker the last one counts. */
export async function recordPerformance(tx: Tx, workers: readonly Measured[]): Promise<void> {
  const perfs = new Map(workers.map((worker) => [worker.instanceId, measuredPerf(worker)]));
  const workloads = await listWorkloads(tx.db, [...perfs.keys()]);
  const templateIds = workloads.flatMap(({ templateId }) => (templateId === undefined ? [] : [templateId]));
  const publicHashes = await listPublicHashes(tx.db, templateIds);
  const measured = workloads.flatMap(({ id, templateHashId: templateHash, ...workload }): readonly MeasuredWorker[] => {
    const value = perfs.get(id);
    if (value === undefined) return [];
    // An earlier version of a template may have been private.
    const isTemplatePublic = templateHash !== undefined && publicHashes.has(templateHash);
    return [{ ...workload, instanceId: id, templateHash, isTemplatePublic, value }];
  });
  await storeWorkerBenchmarks(tx, measured);
}
