// The rows of scheduled jobs.
import type { TestCaller } from "../support/fixtures.ts";
import { at, onObject, plain, type Row } from "./row.ts";
import type { World } from "./world.ts";

const PATH = "/api/v0/commands/schedule_job/";

let count = 0;

/** A request that no other job sends. */
const aJob = () => ({
  api_endpoint: `/api/v0/instances/${(count += 1)}/`,
  request_method: "PUT",
  request_body: { state: "stopped" },
  frequency: "DAILY",
  hour_of_the_day: 3,
});

async function aJobId(world: World, user: TestCaller): Promise<number> {
  return Number((await world.done("POST", at(PATH, aJob()), user))["scheduled_job_id"]);
}

const onJob = (needs: "instance_read" | "instance_write", more = "", body?: unknown): Row =>
  onObject(needs, "id", aJobId, (id) => at(`${PATH}${id}/${more}`, body));

export const scheduleEndpoints = {
  "GET /api/v0/commands/schedule_job/": plain("instance_read", PATH),
  "POST /api/v0/commands/schedule_job/": { needs: "instance_write", call: () => at(PATH, aJob()) },
  // Whole, since the caller's key need not be the one that made the job.
  "PUT /api/v0/commands/schedule_job/{id}/": onObject("instance_write", "id", aJobId, (id) =>
    at(`${PATH}${id}/`, aJob()),
  ),
  "DELETE /api/v0/commands/schedule_job/{id}/": onJob("instance_write"),
  "GET /api/v0/commands/schedule_job/{id}/runs/": onJob("instance_read", "runs/"),
} satisfies Readonly<Record<string, Row>>;
