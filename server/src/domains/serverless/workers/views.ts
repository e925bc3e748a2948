import { epochSeconds } from "../../../base/clock.ts";
import { toDollars } from "../../../base/money.ts";
import type { InstanceFacts, Site } from "../../rental/instances/for-serverless.ts";
import { measuredPerf } from "../autoscaling/rules/worker-perf.ts";
import { SILENT_AFTER_MS } from "../routing/routed-group.ts";
import type { WorkerRecord } from "./schema.ts";
import { phaseOf, type WorkerFacts } from "../autoscaling/worker-standing.ts";

export type ListedWorker = {
  readonly worker: WorkerFacts;
  readonly instance: InstanceFacts;
  readonly site: Site | undefined;
  /** Load that this server gave it and that is not reported as done. */
  readonly given: { readonly load: number; readonly requestCount: number };
  readonly nowMs: number;
};

/** The published record of a worker. */
export function workerRecord({ worker, instance, site, given, nowMs }: ListedWorker): WorkerRecord {
  const perf = measuredPerf(worker);
  const isUp = instance.phase === "starting" || instance.phase === "running" || instance.phase === "stopping";
  return {
    id: worker.instanceId,
    status: statusOf(worker, instance, nowMs),
    created_at: epochSeconds(worker.createdAt),
    // The last report is some seconds old; the load that this server gave it since is known here.
    cur_load: Math.max(worker.currentLoad, given.load),
    reqs_working: Math.max(worker.workingCount, given.requestCount),
    dph_total: toDollars((isUp ? instance.deviceNanosPerHour : 0n) + instance.diskNanosPerHour),
    disk_usage: worker.diskUsageGb,
    machine_id: instance.machineId,
    ...(perf === undefined ? {} : { perf }),
    ...(worker.claimedPerf === undefined ? {} : { measured_perf: worker.claimedPerf }),
    ...(worker.observedPerf === undefined ? {} : { cur_perf: worker.observedPerf }),
    ...(site === undefined ? {} : { dlperf: site.dlperf, reliability: site.reliability }),
    ...(site?.gpuName === undefined ? {} : { gpu_name: site.gpuName }),
    ...(worker.startedAt === undefined ? {} : { started_at: epochSeconds(worker.startedAt) }),
    ...(worker.readyAt === undefined ? {} : { loaded_at: epochSeconds(worker.readyAt) }),
    ...(worker.url === "" ? {} : { url: worker.url }),
    ...(worker.workerGroupId === undefined ? {} : { workergroup_id: worker.workerGroupId }),
    ...(worker.failure === "" ? {} : { error_msg: worker.failure }),
  };
}

/** The record of a worker that is only waiting to be removed. */
export function removedRecord({ id, createdAt }: { readonly id: number; readonly createdAt: Date }): WorkerRecord {
  return { id, status: "destroying", created_at: epochSeconds(createdAt) };
}

/** The status of a worker in the words that published clients know. */
function statusOf(worker: WorkerFacts, instance: InstanceFacts, nowMs: number): string {
  if (instance.phase === "ending" || instance.phase === "ended") return "destroying";
  switch (phaseOf(worker, instance)) {
    case "failed":
      return "error";
    case "ordered":
      return instance.phase === "scheduled" ? "creating" : "loading";
    case "loading":
      return "model_loading";
    case "starting":
      return instance.phase === "running" ? "model_loading" : "starting";
    case "ready":
      return readyStatusOf(worker, nowMs);
    case "stopping":
      return "stopping";
    case "stopped":
      return "stopped";
  }
}

function readyStatusOf({ draining, reportedAt, readyAt }: WorkerFacts, nowMs: number): string {
  switch (draining?.to) {
    case "stop":
      return "stopping";
    case "destroy":
      return "destroying";
    case "update":
      return "update_ready";
    default: {
      const heardMs = Math.max(reportedAt?.getTime() ?? 0, readyAt?.getTime() ?? 0);
      return nowMs - heardMs > SILENT_AFTER_MS ? "unavail" : "idle";
    }
  }
}
