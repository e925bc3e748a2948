import type { EndpointGroupId, InstanceId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { listInstanceFacts, listSites, type InstanceFacts, type Site } from "../../rental/instances/for-serverless.ts";
import { measuredPerf } from "../autoscaling/rules/worker-perf.ts";
import { recordEvents, type NewEndpointEvent } from "../autoscaling/event-store.ts";
import { failWorker } from "../autoscaling/failure-service.ts";
import { notifyEndpoints } from "../endpoints/store.ts";
import { recordPerformance } from "./benchmark-service.ts";
import { readAddress, type Address } from "./worker-address.ts";
import type { WorkerReport } from "./rules/worker-report.ts";
import { inWords } from "../autoscaling/worker-standing.ts";
import { lockWorkers, updateHeard, type Heard, type Worker, type WorkerChange } from "./store.ts";

export type News = {
  readonly instanceId: InstanceId;
  readonly report: WorkerReport;
  /** Its measured performance; undefined until it was measured for long enough. */
  readonly observedPerf: number | undefined;
};

export type NewsOutcome =
  | {
      readonly kind: "stored";
      readonly url: string;
      /** True if it was known to be ready before, in the present run. */
      readonly wasReady: boolean;
    }
  /** The instance is no worker any more. */
  | { readonly kind: "gone" }
  /** The url is not the worker's address, or its address is not known yet: then nothing of the report is stored. */
  | { readonly kind: "foreign_url" | "private_url" | "unknown_url" };

/** Stores reports with news, of many workers at once; returns the answer to each, in order. */
export async function recordNews(tx: Tx, batch: readonly News[]): Promise<readonly NewsOutcome[]> {
  const ids = [...new Set(batch.map(({ instanceId }) => instanceId))];
  const workers = new Map((await lockWorkers(tx, ids)).map((worker) => [worker.instanceId, worker]));
  const instances = await listInstanceFacts(tx.db, ids);
  const sites = await listSites(
    tx.db,
    ids.filter((id) => workers.has(id)),
  );
  const changed = new Set<EndpointGroupId>();
  const outcomes: NewsOutcome[] = [];
  const arrivals: Arrival[] = [];
  for (const news of batch) {
    const worker = workers.get(news.instanceId);
    const instance = instances.get(news.instanceId);
    if (worker === undefined || instance === undefined || isLeaving(instance)) {
      outcomes.push({ kind: "gone" });
      continue;
    }
    const address = addressOf(news, worker, sites.get(news.instanceId));
    if (address.kind !== "own") {
      outcomes.push({ kind: `${address.kind}_url` });
      continue;
    }
    const arrival = readArrival(tx.now, { ...news, worker, instance, url: address.url });
    arrivals.push(arrival);
    const { after } = arrival;
    // A worker may have sent several reports meanwhile: the next one builds on this one.
    workers.set(news.instanceId, after);
    changed.add(worker.endpointGroupId);
    outcomes.push({ kind: "stored", url: after.url, wasReady: isKnownReady(worker, instance) });
  }
  await storeArrivals(tx, arrivals);
  await notifyEndpoints(tx, [...changed]);
  return outcomes;
}

function isLeaving({ phase }: InstanceFacts): boolean {
  return phase === "ending" || phase === "ended";
}

function addressOf({ report }: News, worker: Worker, site: Site | undefined): Address {
  // A failure may be reported before the worker knows its address.
  if (report.failure !== "" || site === undefined) return { kind: "own", url: worker.url };
  if (report.url !== "") return readAddress(report.url, site);
  if (report.loadSeconds === 0 || worker.url === "") return { kind: "own", url: worker.url };
  // A new process may have other ports, and the ports of the last one may belong to another instance by now.
  const kept = readAddress(worker.url, site);
  return kept.kind === "own" || kept.kind === "unknown" ? kept : { kind: "own", url: "" };
}

type Arrived = News & { readonly worker: Worker; readonly instance: InstanceFacts; readonly url: string };

/** The changes that follow from a report. */
type Arrival = {
  readonly heard: Heard;
  readonly events: readonly NewEndpointEvent[];
  /** True if the report tells or changes how much the worker serves. */
  readonly isMeasured: boolean;
  /** The failure, if the report is the first to name it. */
  readonly failure: string | undefined;
  /** The worker after all changes are stored. */
  readonly after: Worker;
};

function readArrival(now: Date, arrived: Arrived): Arrival {
  const { worker, report } = arrived;
  const { currentLoad, workingCount, addedDiskGb } = report;
  const change = { ...changeOf(now, arrived), reportedAt: now };
  const heard = { ...worker, ...change, currentLoad, workingCount };
  const isFailing = report.failure !== "" && worker.failure === "";
  return {
    heard: { worker: heard, addedDiskGb, isActive: report.newLoad > 0 || workingCount > 0 },
    events: eventsOf(now, arrived, change),
    isMeasured: report.failure === "" && ("claimedPerf" in change || "observedPerf" in change),
    failure: isFailing ? `it says: ${report.failure}` : undefined,
    after: isFailing ? { ...heard, failure: report.failure, failedAt: now, readyAt: undefined } : heard,
  };
}

/** Stores all changes in few statements, as thousands of workers may become ready at once. */
async function storeArrivals(tx: Tx, arrivals: readonly Arrival[]): Promise<void> {
  await updateHeard(
    tx,
    arrivals.map(({ heard }) => heard),
  );
  await recordEvents(
    tx,
    arrivals.flatMap(({ events }) => events),
  );
  for (const { heard, failure } of arrivals) {
    if (failure !== undefined) await failWorker(tx, heard.worker, { reason: failure, isCounted: true });
  }
  // A benchmark refers to instance and machine, which are locked after worker groups.
  await recordPerformance(
    tx,
    arrivals.flatMap(({ heard, isMeasured }) => (isMeasured ? [heard.worker] : [])),
  );
}

function changeOf(now: Date, { worker, instance, report, url, observedPerf }: Arrived): WorkerChange {
  return {
    ...(url === worker.url ? {} : { url }),
    ...(report.version === "" || report.version === worker.version ? {} : { version: report.version }),
    ...(report.claimedPerf === undefined ? {} : { claimedPerf: report.claimedPerf }),
    ...(observedPerf === undefined || observedPerf === worker.observedPerf ? {} : { observedPerf }),
    ...readyChange(now, { worker, instance, report }),
  };
}

function isKnownReady(worker: Worker, { generation }: InstanceFacts): boolean {
  return worker.readyAt !== undefined && worker.readyGeneration === generation;
}

/** The change for a report of being ready in the present run; its duration is counted from our order. */
function readyChange(
  now: Date,
  { worker, instance, report }: Pick<Arrived, "worker" | "instance" | "report">,
): WorkerChange {
  const isUp = instance.phase === "starting" || instance.phase === "running";
  if (report.loadSeconds === 0 || !isUp || isKnownReady(worker, instance) || worker.failure !== "") return {};
  const startedAt = worker.startedAt ?? instance.phaseSinceAt;
  const tookMs = Math.max(0, now.getTime() - startedAt.getTime());
  return {
    startedAt,
    // Clocks of servers may differ: the order always counts as earlier.
    readyAt: now < startedAt ? startedAt : now,
    readyGeneration: instance.generation,
    ...(worker.firstStartMs === undefined ? { firstStartMs: tookMs } : { warmStartMs: tookMs }),
  };
}

function eventsOf(now: Date, { worker, report }: Arrived, change: WorkerChange): readonly NewEndpointEvent[] {
  const { instanceId, endpointGroupId, workerGroupId } = worker;
  const about = { endpointGroupId, workerGroupId, instanceId, kind: "worker" as const };
  const events: NewEndpointEvent[] = [];
  const tookMs = change.firstStartMs ?? change.warmStartMs;
  if (change.readyAt !== undefined && tookMs !== undefined) {
    const claimed = report.claimedPerf ?? worker.claimedPerf;
    const perf = claimed === undefined ? "" : ` and says that it serves ${toText(claimed)} units a second`;
    const sentence = `Worker ${instanceId} is ready ${inWords(tookMs)} after it was ordered to start${perf}.`;
    events.push({ ...about, level: 0, sentence, detail: { start_ms: tookMs, claimed_perf: claimed ?? null } });
  }
  const lie = lieOf({ ...worker, ...change });
  if (lie !== undefined && lieOf(worker) === undefined) {
    const { claimed, observed } = lie;
    const sentence =
      `Worker ${instanceId} says that it serves ${toText(claimed)} units a second, but served ${toText(observed)} ` +
      "while it never ran out of work: what was seen counts.";
    events.push({ ...about, level: 0, sentence, detail: { claimed_perf: claimed, observed_perf: observed } });
  }
  return events;
}

/** Its claim and its measurement, if they contradict each other. */
function lieOf({ claimedPerf: claimed, observedPerf: observed }: Pick<Worker, "claimedPerf" | "observedPerf">) {
  if (claimed === undefined || observed === undefined || claimed === observed) return undefined;
  return measuredPerf({ claimedPerf: claimed, observedPerf: observed }) === observed
    ? { claimed, observed }
    : undefined;
}

function toText(perf: number): string {
  return String(Number(perf.toPrecision(3)));
}
