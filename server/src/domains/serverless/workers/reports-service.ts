import { createHash, timingSafeEqual } from "node:crypto";
import { AppError, invalid, unauthenticated } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import type { EndpointGroupId, InstanceId } from "../../../base/ids.ts";
import { MicroBatcher } from "../../../base/micro-batcher.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { addServing, NOTHING_SEEN, observedPerfOf, type PerfWindow } from "./rules/perf-window.ts";
import { recordNews, type News, type NewsOutcome } from "./report-news-service.ts";
import type { Routers } from "../routing/routers.ts";
import { keptForm } from "./worker-address.ts";
import type { Speaker, WorkerReport } from "./rules/worker-report.ts";
import { listWorkersById, updateReported, type Reported, type Worker } from "./store.ts";

export type ReportPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly routers: Pick<Routers, "of" | "finish">;
  /** Milliseconds for which reports without news are gathered before they are stored together. */
  readonly gatherMs: number;
  /** Called for endpoints in which a worker became busy or idle; of news the database notifies all servers. */
  readonly onTurn: (endpointId: EndpointGroupId) => void;
};

const PER_BATCH = 500;
/** Reports without news are stored this often: often enough to show other servers that the worker lives. */
const STORED_EVERY_MS = 5_000;
/** A report of a worker that became busy or idle is stored sooner. */
const STORED_EVERY_WHEN_TURNED_MS = 1_000;
/** A claim that changed by less than this part counts as unchanged. */
const SAME_PART = 0.001;
/** A measurement that changed by less than this part counts as unchanged. */
const SEEN_SAME_PART = 0.1;
const FORGOTTEN_AFTER_MS = 300_000;
const FORGET_EVERY_MS = 60_000;

/** This server's knowledge of a worker that reports to it. */
type Known = {
  readonly endpointGroupId: EndpointGroupId;
  readonly tokenSha256: Buffer;
  url: string;
  version: string;
  failure: string;
  /** The start duration of its last report. */
  loadSeconds: number;
  /** True if it repeats in each report that it is ready. */
  isRepeating: boolean;
  claimedPerf: number | undefined;
  observedPerf: number | undefined;
  perf: PerfWindow;
  storedAtMs: number;
  wasBusy: boolean;
  /** GB added since the stored report. */
  addedDiskGb: number;
  isActive: boolean;
  heardAtMs: number;
};

/**
 * Takes the reports of workers. Routers learn them at once, in memory; the database gets news at once and the rest
 * now and then, for many workers together, so that ten thousand of them cost little.
 */
export class WorkerReports {
  readonly #ports: ReportPorts;
  readonly #known = new Map<InstanceId, Known>();
  readonly #lookups: MicroBatcher<InstanceId, Worker | undefined>;
  readonly #news: MicroBatcher<News, NewsOutcome>;
  readonly #repeats: MicroBatcher<Reported, { readonly isReady: boolean } | undefined>;
  #forgotAtMs = 0;

  constructor(ports: ReportPorts) {
    this.#ports = ports;
    const { database, clock, gatherMs } = ports;
    this.#lookups = new MicroBatcher({
      maxBatch: PER_BATCH,
      run: async (ids) => {
        const workers = new Map((await listWorkersById(database.kysely, ids)).map((one) => [one.instanceId, one]));
        return ids.map((id) => workers.get(id));
      },
    });
    this.#news = new MicroBatcher({
      maxBatch: PER_BATCH,
      run: (batch) => withTransaction(database, clock, (tx) => recordNews(tx, batch)),
    });
    this.#repeats = new MicroBatcher({
      maxBatch: PER_BATCH,
      ...(gatherMs === 0 ? {} : { gather: () => clock.sleep(gatherMs) }),
      run: async (batch) => {
        const stored = await withTransaction(database, clock, (tx) => updateReported(tx, ofEachWorker(batch)));
        return batch.map(({ instanceId }) => stored.get(instanceId));
      },
    });
  }

  /** Throws unless the speaker is a worker. Unknown workers and wrong tokens get the same error. */
  async requireWorker(speaker: Speaker): Promise<void> {
    await this.#recognise(speaker);
  }

  /** Takes a report of a worker, or throws the reason for its refusal. */
  async report(speaker: Speaker, report: WorkerReport): Promise<void> {
    const { clock, routers } = this.#ports;
    const known = await this.#recognise(speaker);
    const { instanceId } = speaker;
    const nowMs = clock.now().getTime();
    known.heardAtMs = clock.monotonicMs();
    const serving = {
      atMs: clock.monotonicMs(),
      servedLoad: report.servedLoad,
      currentLoad: report.currentLoad,
    };
    if (isNews(known, report)) {
      await this.#storeNews(known, { instanceId, report });
    } else {
      known.perf = addServing(known.perf, serving, known.claimedPerf);
      known.addedDiskGb += report.addedDiskGb;
      known.isActive ||= report.newLoad > 0 || report.workingCount > 0;
      if (report.loadSeconds === 0) [known.loadSeconds, known.isRepeating] = [0, false];
      routers.of(known.endpointGroupId)?.report(instanceId, report, nowMs);
      await this.#storeRepeat(known, instanceId, report);
      return;
    }
    known.perf = addServing(known.perf, serving, known.claimedPerf);
    routers.of(known.endpointGroupId)?.report(instanceId, report, nowMs);
  }

  /** Removes requests that a worker has finished from its load. */
  async finish(speaker: Speaker, requestIdxs: readonly number[]): Promise<void> {
    const known = await this.#recognise(speaker);
    this.#ports.routers.finish(known.endpointGroupId, speaker.instanceId, requestIdxs);
  }

  async idle(): Promise<void> {
    await Promise.all([this.#lookups.idle(), this.#news.idle(), this.#repeats.idle()]);
  }

  async #recognise({ instanceId, token }: Speaker): Promise<Known> {
    this.#forgetSilent();
    let known = this.#known.get(instanceId);
    if (known === undefined && instanceId > 0) {
      const worker = await this.#lookups.submit(instanceId);
      // Another report of the worker may have come first.
      known = this.#known.get(instanceId) ?? (worker && toKnown(worker));
      if (known !== undefined && isTokenOf(known, token)) this.#known.set(instanceId, known);
    }
    if (!isTokenOf(known, token) || known === undefined) {
      throw unauthenticated("id and mtoken are not those of a worker.");
    }
    return known;
  }

  async #storeNews(known: Known, { instanceId, report }: Pick<News, "instanceId" | "report">): Promise<void> {
    const { addedDiskGb } = known;
    const observedPerf = known.observedPerf;
    const whole = { ...report, addedDiskGb: report.addedDiskGb + addedDiskGb };
    const outcome = await this.#news.submit({ instanceId, report: whole, observedPerf });
    switch (outcome.kind) {
      case "gone":
        this.#known.delete(instanceId);
        throw unauthenticated("id and mtoken are not those of a worker.");
      case "foreign_url":
        throw invalid(
          "url",
          `url is not the address of worker ${instanceId}: its host's address and a port that is mapped to it`,
        );
      case "private_url":
        throw invalid(
          "url",
          `url: the host of worker ${instanceId} says that it is in a private network; only machines that the operator verified by hand may`,
        );
      case "unknown_url":
        throw new AppError(
          "unavailable",
          "address_unknown",
          `The host of worker ${instanceId} has not said yet by which ports it is reached. Report again.`,
        );
      case "stored":
        break;
    }
    known.addedDiskGb -= addedDiskGb;
    known.url = outcome.url;
    known.version = report.version === "" ? known.version : report.version;
    known.failure = report.failure;
    known.claimedPerf = report.claimedPerf ?? known.claimedPerf;
    known.isActive = false;
    // The process is new, and perhaps its recipe: the measurement of the last one is over.
    if (isOfNewStart(known, report)) [known.perf, known.observedPerf] = [NOTHING_SEEN, undefined];
    known.isRepeating = outcome.wasReady && report.loadSeconds > 0 && report.loadSeconds === known.loadSeconds;
    known.loadSeconds = report.loadSeconds;
    this.#noteStored(known, report);
  }

  async #storeRepeat(known: Known, instanceId: InstanceId, report: WorkerReport): Promise<void> {
    const sinceMs = this.#ports.clock.monotonicMs() - known.storedAtMs;
    const isTurned = known.wasBusy !== report.workingCount > 0;
    if (sinceMs < (isTurned ? STORED_EVERY_WHEN_TURNED_MS : STORED_EVERY_MS)) return;
    const seenPerf = observedPerfOf(known.perf);
    const isSeen = seenPerf !== undefined && isOther(seenPerf, known.observedPerf, SEEN_SAME_PART);
    if (isSeen) {
      known.observedPerf = seenPerf;
      await this.#storeNews(known, { instanceId, report: { ...report, addedDiskGb: 0 } });
      return;
    }
    const { addedDiskGb, isActive } = known;
    [known.addedDiskGb, known.isActive] = [0, false];
    const { currentLoad, workingCount } = report;
    this.#noteStored(known, report);
    const reported = { instanceId, currentLoad, workingCount, addedDiskGb, isActive, observedPerf: undefined };
    const stored = await this.#repeats.submit(reported);
    if (stored === undefined) {
      this.#known.delete(instanceId);
      throw unauthenticated("id and mtoken are not those of a worker.");
    }
    // It was ordered to start again meanwhile: its next report of being ready may be about that start.
    if (!stored.isReady) known.isRepeating = false;
    if (isTurned) this.#ports.onTurn(known.endpointGroupId);
  }

  #noteStored(known: Known, { workingCount }: WorkerReport): void {
    known.storedAtMs = this.#ports.clock.monotonicMs();
    known.wasBusy = workingCount > 0;
  }

  #forgetSilent(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#forgotAtMs < FORGET_EVERY_MS) return;
    this.#forgotAtMs = nowMs;
    for (const [id, known] of this.#known) if (nowMs - known.heardAtMs > FORGOTTEN_AFTER_MS) this.#known.delete(id);
  }
}

/** Merges a batch per worker: the newest present state, and the sum of all counts. */
function ofEachWorker(batch: readonly Reported[]): readonly Reported[] {
  const all = new Map<InstanceId, Reported>();
  for (const next of batch) {
    const before = all.get(next.instanceId);
    const addedDiskGb = (before?.addedDiskGb ?? 0) + next.addedDiskGb;
    all.set(next.instanceId, { ...next, addedDiskGb, isActive: next.isActive || before?.isActive === true });
  }
  return [...all.values()];
}

function toKnown(worker: Worker): Known | undefined {
  if (worker.tokenSha256 === undefined) return undefined;
  return {
    endpointGroupId: worker.endpointGroupId,
    tokenSha256: worker.tokenSha256,
    url: worker.url,
    version: worker.version,
    failure: worker.failure,
    loadSeconds: 0,
    isRepeating: false,
    claimedPerf: worker.claimedPerf,
    observedPerf: worker.observedPerf,
    perf: NOTHING_SEEN,
    storedAtMs: -Infinity,
    wasBusy: worker.workingCount > 0,
    addedDiskGb: 0,
    isActive: false,
    heardAtMs: 0,
  };
}

/** Unknown speakers are compared with this, so that the response time reveals nothing. */
const NOBODYS = Buffer.alloc(32);

function isTokenOf(known: Known | undefined, token: string): boolean {
  const given = createHash("sha256").update(token).digest();
  return timingSafeEqual(given, known?.tokenSha256 ?? NOBODYS) && known !== undefined;
}

/** News must be durable before the worker gets its answer, since it reports them once. */
function isNews(known: Known, report: WorkerReport): boolean {
  if (isOfNewStart(known, report) || report.failure !== known.failure) return true;
  if (report.url !== "" && report.url !== known.url && keptForm(report.url) !== known.url) return true;
  if (report.version !== "" && report.version !== known.version) return true;
  return report.claimedPerf !== undefined && isOther(report.claimedPerf, known.claimedPerf, SAME_PART);
}

/**
 * True if the worker reports to be ready for the first time since it began. Two starts may take the same time: only
 * after a worker repeated its duration within one run is the same duration taken for a repetition.
 */
function isOfNewStart(known: Known, { loadSeconds }: WorkerReport): boolean {
  return loadSeconds > 0 && !(known.isRepeating && loadSeconds === known.loadSeconds);
}

function isOther(value: number, known: number | undefined, part: number): boolean {
  return known === undefined || Math.abs(value - known) > part * Math.max(value, known);
}
