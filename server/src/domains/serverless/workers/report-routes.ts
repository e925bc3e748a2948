import { Type } from "typebox";
import { rateLimited } from "../../../http/error-response.ts";
import { RateLimiter, type Limit } from "../../../http/rate-limit.ts";
import type { HttpScope } from "../../../http/server.ts";
import { asParameters } from "../../../base/access.ts";
import type { WorkerReports } from "./reports-service.ts";
import { readFinished, readReport, readSpeaker } from "./rules/worker-report.ts";

const TAG = ["Serverless"];

/** Unknown members are ignored: other releases send more, and early failures send less. */
const ReportBody = Type.Object(
  {
    id: Type.Optional(Type.Unknown()),
    mtoken: Type.Optional(Type.Unknown()),
    version: Type.Optional(Type.Unknown()),
    url: Type.Optional(Type.Unknown()),
    loadtime: Type.Optional(Type.Unknown()),
    max_perf: Type.Optional(Type.Unknown()),
    cur_perf: Type.Optional(Type.Unknown()),
    new_load: Type.Optional(Type.Unknown()),
    cur_load: Type.Optional(Type.Unknown()),
    num_requests_working: Type.Optional(Type.Unknown()),
    working_request_idxs: Type.Optional(Type.Unknown()),
    additional_disk_usage: Type.Optional(Type.Unknown()),
    error_msg: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

const FinishedBody = Type.Object(
  {
    worker_id: Type.Optional(Type.Unknown()),
    mtoken: Type.Optional(Type.Unknown()),
    requests: Type.Optional(Type.Unknown()),
    request_idxs: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

/**
 * Workers report once a second at most: endless news from one would fill the log and keep the deciding servers busy.
 */
const REPORT_LIMIT: Limit = { perSecond: 2, burst: 60 };

/**
 * Published workers send all finished requests that were not taken yet in one list, again and again until it is
 * taken, and it grows each time: a list that is refused as too long would never arrive.
 */
const FINISHED_BYTES_MAX = 4 * 1_048_576;

const Taken = Type.Object({ success: Type.Literal(true) });

/** Reports of workers about themselves, with the worker's token in the body. */
export function reportRoutes({ app, clock }: HttpScope, reports: WorkerReports): void {
  const limiter = new RateLimiter();
  app.post(
    "/worker_status/",
    {
      config: { access: { operation: "api.worker.report", permission: "public" } },
      schema: { tags: TAG, summary: "Report how a worker does", body: ReportBody, response: { 200: Taken } },
    },
    async (request) => {
      const body = asParameters(request.body);
      const speaker = readSpeaker(body, "id");
      // The worker is known first: nobody is slowed down by strangers that use its name.
      await reports.requireWorker(speaker);
      const decision = limiter.take(String(speaker.instanceId), REPORT_LIMIT, clock.monotonicMs());
      if (!decision.allowed) throw rateLimited(1 / REPORT_LIMIT.perSecond, decision.retryAfterMs);
      await reports.report(speaker, readReport(body));
      return { success: true as const };
    },
  );

  app.post(
    "/delete_requests/",
    {
      config: { access: { operation: "api.worker.finish", permission: "public" } },
      bodyLimit: FINISHED_BYTES_MAX,
      schema: { tags: TAG, summary: "Report requests as done", body: FinishedBody, response: { 200: Taken } },
    },
    async (request) => {
      const body = asParameters(request.body);
      await reports.finish(readSpeaker(body, "worker_id"), readFinished(body));
      return { success: true as const };
    },
  );
}
