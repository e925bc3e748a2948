import { callerOf, identityOf, type HttpScope } from "../../../http/server.ts";
import {
  CreateJobBody,
  DeletedJob,
  JobList,
  JobParams,
  RunList,
  RunsQuery,
  StoredJob,
  UpdateJobBody,
} from "./schema.ts";
import { changeJob, createJob, listJobRecords, listRunRecords, removeJob, type SchedulePorts } from "./service.ts";

const TAGS = ["Scheduled jobs"];
const PATH = "/api/v0/commands/schedule_job/";
/** Null has a meaning in some requests: a bid of null makes an instance on-demand. */
const NULL_MEMBERS = ["request_body.*"];

/** Routes of jobs that call an operation at times of their own (docs/schedules.md). */
export function scheduleRoutes(scope: HttpScope, { encryption }: Pick<SchedulePorts, "encryption">): void {
  const ports: SchedulePorts = { encryption, accessOf: scope.accessOf };
  readingRoutes(scope, ports);
  const { app, mutate } = scope;
  app.post(
    PATH,
    {
      config: {
        access: { operation: "api.schedule.create", permission: "instance_write" },
        nullMembers: NULL_MEMBERS,
      },
      schema: { tags: TAGS, summary: "Schedule a request", body: CreateJobBody, response: { 200: StoredJob } },
    },
    (request) => {
      const caller = callerOf(request);
      return mutate(request, async (tx) => {
        const id = await createJob(tx, caller, request.body, ports);
        return { success: true as const, scheduled_job_id: id, msg: `Scheduled job ${id} is created.` };
      });
    },
  );
  app.put(
    `${PATH}:id/`,
    {
      config: {
        access: { operation: "api.schedule.update", permission: "instance_write" },
        nullMembers: NULL_MEMBERS,
      },
      schema: {
        tags: TAGS,
        summary: "Change a scheduled job",
        params: JobParams,
        body: UpdateJobBody,
        response: { 200: StoredJob },
      },
    },
    (request) => {
      const caller = callerOf(request);
      const { id } = request.params;
      return mutate(request, async (tx) => {
        await changeJob(tx, caller, { id, body: request.body }, ports);
        return { success: true as const, scheduled_job_id: id, msg: `Scheduled job ${id} is changed.` };
      });
    },
  );
  app.delete(
    `${PATH}:id/`,
    {
      config: { access: { operation: "api.schedule.delete", permission: "instance_write" } },
      schema: { tags: TAGS, summary: "Delete a scheduled job", params: JobParams, response: { 200: DeletedJob } },
    },
    (request) => {
      const caller = callerOf(request);
      const { id } = request.params;
      return mutate(request, async (tx) => {
        await removeJob(tx, caller, id);
        return { success: true as const, msg: `Scheduled job ${id} is deleted.` };
      });
    },
  );
}

function readingRoutes({ app, database }: HttpScope, { encryption }: SchedulePorts): void {
  app.get(
    PATH,
    {
      config: { access: { operation: "api.schedule.list", permission: "instance_read" } },
      schema: { tags: TAGS, summary: "List scheduled jobs", response: { 200: JobList } },
    },
    async (request) => [...(await listJobRecords(database.kysely, identityOf(request), encryption))],
  );
  app.get(
    `${PATH}:id/runs/`,
    {
      config: { access: { operation: "api.schedule.runs", permission: "instance_read" } },
      schema: {
        tags: TAGS,
        summary: "List the runs of a scheduled job",
        params: JobParams,
        querystring: RunsQuery,
        response: { 200: RunList },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const { id } = request.params;
      return [...(await listRunRecords(database.kysely, userId, { id, limit: request.query.limit }))];
    },
  );
}
