import { refuseOperation, type RouteAccess } from "../../../base/access.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { AppError, invalid, notFound } from "../../../base/errors.ts";
import type { Caller, Identity } from "../../../base/identity.ts";
import { asId, type InstanceId, type ScheduledJobId, type UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { actingIdentity } from "./acting-key.ts";
import { lockUser, recordAudit, requireRoom } from "../accounts/index.ts";
import { firstDueAt, readTimetable, refuseRequest, textOfJob, type Job, type JobRequest } from "./rules/job.ts";
import type { Timetable } from "./rules/timetable.ts";
import { findLastRuns, listRuns } from "./run-store.ts";
import {
  countActive,
  deleteJob,
  deleteOldestClosed,
  findSame,
  hasJob,
  insertJob,
  listJobs,
  lockJobOf,
  updateJob,
  type StoredJob,
} from "./store.ts";
import type { CreateJobBody, ScheduledJobRecord, ScheduledRunRecord, UpdateJobBody } from "./schema.ts";
import { viewJob, viewRun } from "./views.ts";

/** Jobs of an account that go on. */
const ACTIVE_JOBS_MAX = 500;
/** Jobs of an account that are over and can still be read. */
const CLOSED_JOBS_MAX = 500;
/** The published limit of the list. */
const LISTED_MAX = 2_048;
const RUNS_DEFAULT = 100;

export type SchedulePorts = {
  readonly encryption: Encryption;
  /** The access of the route that answers such a request; undefined when there is no such route. */
  readonly accessOf: (method: string, path: string) => RouteAccess | undefined;
};

/** Creates a job of the caller's key, or of the named one, and returns its id. 422 `job_exists` when the account has the same one. */
export async function createJob(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: CreateJobBody,
  ports: SchedulePorts,
): Promise<ScheduledJobId> {
  const request = { method: body.request_method, endpoint: body.api_endpoint, body: body.request_body ?? {} };
  const acting = await actingIdentity(tx, identity, body.api_key_id);
  requireAllowed(acting, request, ports);
  const timetable = readTimetable(body, tx.now);
  const dueAt = firstDueAt(timetable, tx.now);
  const { userId } = identity;
  await requireRoomForJob(tx, userId);
  const job = storedOf(tx, { identity: acting, request, timetable, instanceId: instanceIn(body), dueAt }, ports);
  await refuseSame(tx, job);
  const id = await insertJob(tx, job);
  await deleteOldestClosed(tx, userId, CLOSED_JOBS_MAX);
  await recordAudit(tx, identity, { ipAddress, action: "api.schedule.create", args: argsOf(id, job) });
  return id;
}

/**
 * Changes the named fields of a job, which acts with the caller's key, or the named one, from then on. Another key than
 * the job's has to state the whole request: it must neither learn nor redirect what the other key was to send.
 */
export async function changeJob(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, body }: { readonly id: number; readonly body: UpdateJobBody },
  ports: SchedulePorts,
): Promise<void> {
  const { userId } = identity;
  if (FIELDS.every((field) => body[field] === undefined)) {
    throw new AppError("invalid", "missing_input", `Name at least one of ${FIELDS.join(", ")}.`);
  }
  await lockUser(tx, userId);
  const job = await lockJobOf(tx, userId, asId<ScheduledJobId>(id));
  if (job === undefined) throw noSuchJob(id);
  const request = requestIn(body, job, { identity, encryption: ports.encryption });
  const acting = await actingIdentity(tx, identity, body.api_key_id);
  requireAllowed(acting, request, ports);
  const timetable = readTimetable(body, tx.now, job.timetable);
  const dueAt = firstDueAt(timetable, tx.now);
  if (job.dueAt === undefined) await requireRoomForJob(tx, userId);
  const instanceId = instanceIn(body) ?? job.instanceId;
  const changed = storedOf(tx, { identity: acting, request, timetable, instanceId, dueAt }, ports);
  await refuseSame(tx, changed, job.id);
  await updateJob(tx, job.id, changed);
  await recordAudit(tx, identity, { ipAddress, action: "api.schedule.update", args: argsOf(job.id, changed) });
}

/** Deletes a job of the account. A run that has begun goes on to its end. */
export async function removeJob(tx: Tx, { identity, ipAddress }: Caller, id: number): Promise<void> {
  if (!(await deleteJob(tx, identity.userId, asId<ScheduledJobId>(id)))) throw noSuchJob(id);
  await recordAudit(tx, identity, { ipAddress, action: "api.schedule.delete", args: { id } });
}

export async function listJobRecords(
  db: Reader,
  identity: Identity,
  encryption: Encryption,
): Promise<readonly ScheduledJobRecord[]> {
  const jobs = await listJobs(db, identity.userId, LISTED_MAX);
  const lastRuns = await findLastRuns(
    db,
    jobs.map(({ id }) => id),
  );
  return jobs.map((job) => {
    const body = job.apiKeyId === identity.apiKeyId ? openBody(job, encryption) : undefined;
    return viewJob(job, { lastRun: lastRuns.get(job.id), body });
  });
}

export async function listRunRecords(
  db: Reader,
  userId: UserId,
  { id, limit = RUNS_DEFAULT }: { readonly id: number; readonly limit?: number | undefined },
): Promise<readonly ScheduledRunRecord[]> {
  const jobId = asId<ScheduledJobId>(id);
  if (!(await hasJob(db, userId, jobId))) throw noSuchJob(id);
  return (await listRuns(db, jobId, limit)).map(viewRun);
}

/** The body of a job's request; undefined when it was encrypted under another secret. */
export function openBody(
  job: Pick<Job, "userId" | "digest" | "encryptedBody">,
  encryption: Encryption,
): JobRequest["body"] | undefined {
  const text = encryption.decrypt(job.encryptedBody, contextOf(job));
  return text === undefined ? undefined : (JSON.parse(text) as JobRequest["body"]);
}

const FIELDS = [
  "api_endpoint",
  "request_method",
  "request_body",
  "frequency",
  "day_of_the_week",
  "hour_of_the_day",
  "min_of_the_hour",
  "start_time",
  "end_time",
  "instance_id",
  "api_key_id",
] as const satisfies readonly (keyof UpdateJobBody)[];

function requestIn(
  body: UpdateJobBody,
  job: Job,
  { identity, encryption }: { readonly identity: Identity; readonly encryption: Encryption },
): JobRequest {
  const { api_endpoint: endpoint, request_method: method, request_body: said } = body;
  const isWhole = endpoint !== undefined && method !== undefined && said !== undefined;
  if (job.apiKeyId !== identity.apiKeyId && !isWhole) {
    const message = `Job ${job.id} acts with another key. Name api_endpoint, request_method and request_body: it acts with yours, or with the one in api_key_id, from then on.`;
    throw invalid("request_body", message);
  }
  const kept = said ?? openBody(job, encryption);
  if (kept === undefined)
    throw invalid("request_body", "request_body is needed: the stored one cannot be read any more");
  return { method: method ?? job.method, endpoint: endpoint ?? job.endpoint, body: kept };
}

/** Throws for a request that the key may not make now. Each run asks again: a job may do what its key may do then. */
function requireAllowed(identity: Identity, request: JobRequest, { accessOf }: SchedulePorts): void {
  const [path = ""] = request.endpoint.split("?");
  const access = accessOf(request.method, path);
  const refused = refuseRequest(request, access) ?? (access && refuseOperation(identity, access));
  if (refused !== undefined) throw refused;
}

function storedOf(
  tx: Tx,
  {
    identity,
    request,
    timetable,
    instanceId,
    dueAt,
  }: {
    readonly identity: Identity;
    readonly request: JobRequest;
    readonly timetable: Timetable;
    readonly instanceId: InstanceId | undefined;
    readonly dueAt: Date;
  },
  { encryption }: SchedulePorts,
): StoredJob {
  const { userId, apiKeyId } = identity;
  const digest = tx.digest(textOfJob(request, timetable));
  const encryptedBody = encryption.encrypt(JSON.stringify(request.body), contextOf({ userId, digest }));
  const { method, endpoint } = request;
  return { userId, apiKeyId, instanceId, method, endpoint, encryptedBody, digest, timetable, dueAt };
}

async function refuseSame(tx: Tx, { userId, digest }: StoredJob, except?: ScheduledJobId): Promise<void> {
  const same = await findSame(tx, userId, digest);
  if (same === undefined || same === except) return;
  const message = `Scheduled job ${same} sends the same request at the same times.`;
  throw new AppError("unprocessable", "job_exists", message, { extra: { scheduled_job_id: same } });
}

function requireRoomForJob(tx: Tx, userId: UserId): Promise<void> {
  const count = () => countActive(tx, userId);
  return requireRoom(tx, userId, { count, max: ACTIVE_JOBS_MAX, field: "api_endpoint", what: "scheduled jobs" });
}

function instanceIn({ instance_id: id }: UpdateJobBody): InstanceId | undefined {
  return id === undefined ? undefined : asId<InstanceId>(id);
}

function argsOf(id: ScheduledJobId, { method, endpoint, timetable: { frequency } }: StoredJob) {
  const [path = ""] = endpoint.split("?");
  return { id, request_method: method, api_endpoint: path, frequency };
}

function contextOf({ userId, digest }: Pick<Job, "userId" | "digest">): string {
  return `scheduled job ${userId} ${digest}`;
}

function noSuchJob(id: number): AppError {
  return notFound("not_found", `There is no scheduled job ${id}.`);
}
