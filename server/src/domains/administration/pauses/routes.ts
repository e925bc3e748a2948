import { epochSeconds } from "../../../base/clock.ts";
import { callerOf, type HttpScope } from "../../../http/server.ts";
import type { PauseWatch } from "./pause-watch.ts";
import { PauseBody, PausedResponse, PausesResponse } from "./schema.ts";
import { pauseService, resumeService } from "./service.ts";
import { listPauses, type KeptPause } from "./store.ts";

const TAGS = ["Administration"];
const PATH = "/api/v0/admin/pause/";
const LISTED_MAX = 50;

/** Routes by which administrators pause the service. */
export function pauseRoutes({ app, database, clock, mutate }: HttpScope, watch: Pick<PauseWatch, "look">): void {
  app.get(
    PATH,
    {
      config: { access: { operation: "api.admin.pauses", permission: "admin" } },
      schema: { tags: TAGS, summary: "Show pauses of the service", response: { 200: PausesResponse } },
    },
    async () => {
      const pauses = await listPauses(database.kysely, LISTED_MAX);
      const now = clock.now();
      const isPaused = pauses.some(
        ({ startedAt, untilAt, endedAt }) => endedAt === undefined && startedAt <= now && untilAt > now,
      );
      return { success: true as const, is_paused: isPaused, pauses: pauses.map(viewPause) };
    },
  );

  app.put(
    PATH,
    {
      config: { access: { operation: "api.admin.pause.begin", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Pause the service: nothing is rented or changed, what runs goes on",
        body: PauseBody,
        response: { 200: PausedResponse },
      },
    },
    async (request) => {
      const answer = await mutate(request, async (tx) => {
        const id = await pauseService(tx, callerOf(request), request.body);
        return { success: true as const, id };
      });
      // This server keeps to it from its answer on, the others when they are told.
      await watch.look();
      return answer;
    },
  );

  app.delete(
    PATH,
    {
      config: { access: { operation: "api.admin.pause.end", permission: "admin" } },
      schema: { tags: TAGS, summary: "End the pause of the service", response: { 200: PausedResponse } },
    },
    async (request) => {
      const answer = await mutate(request, async (tx) => {
        const id = await resumeService(tx, callerOf(request));
        return { success: true as const, id };
      });
      await watch.look();
      return answer;
    },
  );
}

function viewPause({ id, message, startedAt, untilAt, endedAt, startedBy }: KeptPause) {
  return {
    ...{ id, message, from: epochSeconds(startedAt), until: epochSeconds(untilAt), started_by: startedBy },
    ended_at: endedAt === undefined ? null : epochSeconds(endedAt),
  };
}
