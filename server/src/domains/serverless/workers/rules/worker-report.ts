import { MAX_ID, asId, type InstanceId } from "../../../../base/ids.ts";

/** The sender of a report, and the token that proves its identity. */
export type Speaker = { readonly instanceId: InstanceId; readonly token: string };

/** A worker's report about itself. Counts are those since its last accepted report. */
export type WorkerReport = {
  readonly url: string;
  readonly version: string;
  /**
   * Seconds that its start took, above 0 once it is ready; 0 while it is not. Workers report it once, or in each
   * report from then on: a repeated value tells nothing new.
   */
  readonly loadSeconds: number;
  /** Units a second by its benchmark; undefined when the report has none. */
  readonly claimedPerf: number | undefined;
  readonly servedLoad: number;
  readonly newLoad: number;
  readonly currentLoad: number;
  readonly workingCount: number;
  readonly workingRequestIdxs: readonly number[];
  /** GB; below 0 where it needs less than before. */
  readonly addedDiskGb: number;
  /** The reason of its failure; empty while it has not failed. */
  readonly failure: string;
};

const TEXT_LENGTH_MAX = 2_000;
const URL_LENGTH_MAX = 300;
const VERSION_LENGTH_MAX = 100;
const NUMBER_MAX = 1e15;
const DISK_GB_MAX = 1e6;
const REQUESTS_MAX = 100_000;

type Members = Readonly<Record<string, unknown>>;

/** Reads the sender. An unreadable id becomes 0, which no worker has, so it is refused like an unknown worker. */
export function readSpeaker(body: Members, idName: "id" | "worker_id"): Speaker {
  const { mtoken } = body;
  const given = body[idName];
  const id = typeof given === "string" && /^\d{1,10}$/.test(given) ? Number(given) : given;
  const isId = typeof id === "number" && Number.isInteger(id) && id >= 1 && id <= MAX_ID;
  return { instanceId: asId<InstanceId>(isId ? id : 0), token: typeof mtoken === "string" ? mtoken : "" };
}

/** Reads the known members: early failures send less, and other releases send more. */
export function readReport(body: Members): WorkerReport {
  const failure = readText(body["error_msg"], TEXT_LENGTH_MAX).trim();
  const claimed = readNumber(body["max_perf"], NUMBER_MAX);
  const currentLoad = readNumber(body["cur_load"], NUMBER_MAX);
  const workingRequestIdxs = readRequestIdxs(body["working_request_idxs"]);
  const working = readNumber(body["num_requests_working"], NUMBER_MAX);
  return {
    url: readText(body["url"], URL_LENGTH_MAX),
    version: readText(body["version"], VERSION_LENGTH_MAX),
    loadSeconds: failure === "" ? readNumber(body["loadtime"], NUMBER_MAX) : 0,
    claimedPerf: claimed > 0 ? claimed : undefined,
    servedLoad: readNumber(body["cur_perf"], NUMBER_MAX),
    newLoad: readNumber(body["new_load"], NUMBER_MAX),
    currentLoad,
    workingCount: Math.min(Math.max(Math.round(working), workingRequestIdxs.length), MAX_ID),
    workingRequestIdxs,
    addedDiskGb: readWithin(body["additional_disk_usage"], -DISK_GB_MAX, DISK_GB_MAX),
    failure,
  };
}

/** The requests that a worker has finished, in either of the published forms. */
export function readFinished(body: Members): readonly number[] {
  const { requests, request_idxs: older } = body;
  if (!Array.isArray(requests)) return readRequestIdxs(older);
  return readRequestIdxs(
    requests.map((request: unknown) =>
      typeof request === "object" && request !== null && "request_idx" in request ? request.request_idx : undefined,
    ),
  );
}

function readRequestIdxs(value: unknown): readonly number[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, REQUESTS_MAX)
    .flatMap((idx: unknown) => (typeof idx === "number" && Number.isSafeInteger(idx) && idx > 0 ? [idx] : []));
}

/** A number from zero up to a bound; any other value counts as absent. */
function readNumber(value: unknown, max: number): number {
  return readWithin(value, 0, max);
}

function readWithin(value: unknown, min: number, max: number): number {
  return typeof value === "number" && Number.isFinite(value) ? Math.min(Math.max(value, min), max) : 0;
}

function readText(value: unknown, lengthMax: number): string {
  return typeof value === "string" ? value.replaceAll("\0", "").slice(0, lengthMax).toWellFormed() : "";
}
