import { epochSeconds } from "../../../../base/clock.ts";
import { parseId, type HostFlagId } from "../../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { ClearFlagBody, ClearFlagResponse, FlagParams, FlagQuery, FlagsResponse, type Flag } from "./schema.ts";
import { clearHostFlag } from "./service.ts";
import { listFlags, type HostFlag } from "./store.ts";

/** Flags in one answer, the newest. */
const FLAGS_MAX = 500;

/** Routes for flags: a host sees its own; administrators see and clear all. */
export function flagRoutes({ app, database, mutate }: HttpScope): void {
  app.get(
    "/api/v0/hosts/flags/",
    {
      config: { access: { operation: "api.host_flag.list", permission: "machine_read" } },
      schema: { tags: ["Hosts"], summary: "Show own flags", querystring: FlagQuery, response: { 200: FlagsResponse } },
    },
    async (request) => {
      const filter = { hostId: identityOf(request).userId, isOpen: isOpenIn(request.query), limit: FLAGS_MAX };
      return { success: true as const, flags: (await listFlags(database.kysely, filter)).map(viewFlag) };
    },
  );

  app.get(
    "/api/v0/admin/flags/",
    {
      config: { access: { operation: "api.admin.flag.list", permission: "admin" } },
      schema: {
        tags: ["Administration"],
        summary: "Show the flags of all hosts",
        querystring: FlagQuery,
        response: { 200: FlagsResponse },
      },
    },
    async (request) => {
      const flags = await listFlags(database.kysely, { isOpen: isOpenIn(request.query), limit: FLAGS_MAX });
      return { success: true as const, flags: flags.map(viewFlag) };
    },
  );

  app.put(
    "/api/v0/admin/flags/:id/clear/",
    {
      config: { access: { operation: "api.admin.flag.clear", permission: "admin" } },
      schema: {
        tags: ["Administration"],
        summary: "Clear a flag of a host",
        params: FlagParams,
        body: ClearFlagBody,
        response: { 200: ClearFlagResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const caller = callerOf(request);
        const asked = { id: parseId<HostFlagId>(request.params.id), reason: request.body.reason };
        return { success: true as const, flag: viewFlag(await clearHostFlag(tx, caller, asked)) };
      }),
  );
}

function isOpenIn({ open }: { readonly open?: "true" | "false" }): boolean | undefined {
  return open === undefined ? undefined : open === "true";
}

function viewFlag({ id, hostId, machineId, kind, detail, facts, since, lastAt, seenCount, cleared }: HostFlag): Flag {
  return {
    id,
    host_id: hostId,
    machine_id: machineId ?? null,
    kind,
    msg: detail,
    facts: { ...facts },
    since: epochSeconds(since),
    last_at: epochSeconds(lastAt),
    seen_count: seenCount,
    cleared_at: cleared === undefined ? null : epochSeconds(cleared.at),
    cleared_by: cleared?.byId ?? null,
    clear_reason: cleared?.reason ?? null,
  };
}
