import { asId, type AccountFreezeId } from "../../../base/ids.ts";
import { callerOf, type HttpScope } from "../../../http/server.ts";
import { listFreezes } from "../accounts/for-freezes.ts";
import type { Identities } from "../accounts/index.ts";
import {
  FreezeBody,
  FreezeParams,
  FreezeQuery,
  FreezeResponse,
  FreezesResponse,
  LiftBody,
  LiftResponse,
} from "./schema.ts";
import { freezeAccount, liftFreeze } from "./service.ts";
import { viewFreeze } from "./views.ts";

export type FreezePorts = {
  readonly identities: Pick<Identities, "forgetAll">;
  /** Wakes the loop that stops what frozen accounts run; without it that happens at the loop's next run. */
  readonly wakeEnforcer: () => void;
};

const TAGS = ["Administration"];
/** Freezes in one answer, the newest. */
const FREEZES_MAX = 500;

/** Routes by which administrators freeze accounts and lift freezes (docs/administration.md). */
export function freezeRoutes(scope: HttpScope, ports: FreezePorts): void {
  listRoute(scope);
  freezeRoute(scope, ports);
  liftRoute(scope, ports);
}

function listRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/admin/freezes/",
    {
      config: { access: { operation: "api.admin.freezes", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Show freezes of accounts",
        querystring: FreezeQuery,
        response: { 200: FreezesResponse },
      },
    },
    async ({ query }) => {
      const freezes = await listFreezes(database.kysely, { isOpen: query.all !== "true", limit: FREEZES_MAX });
      return { success: true as const, freezes: freezes.map(viewFreeze) };
    },
  );
}

function freezeRoute({ app, mutate }: HttpScope, { identities, wakeEnforcer }: FreezePorts): void {
  app.post(
    "/api/v0/admin/freezes/",
    {
      config: { access: { operation: "api.admin.freeze_account", permission: "admin", limit: "money" } },
      schema: {
        tags: TAGS,
        summary: "Freeze an account with its subaccounts",
        body: FreezeBody,
        response: { 200: FreezeResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const caller = callerOf(request);
        const { id, isNew, userIds, teamIds } = await freezeAccount(tx, caller, request.body);
        tx.afterCommit(() => {
          identities.forgetAll();
          wakeEnforcer();
        });
        return { success: true as const, id, is_new: isNew, user_ids: [...userIds], team_ids: [...teamIds] };
      }),
  );
}

function liftRoute({ app, mutate }: HttpScope, { identities }: FreezePorts): void {
  app.put(
    "/api/v0/admin/freezes/:id/",
    {
      config: { access: { operation: "api.admin.lift_freeze", permission: "admin", limit: "money" } },
      schema: {
        tags: TAGS,
        summary: "Lift a freeze of an account",
        params: FreezeParams,
        body: LiftBody,
        response: { 200: LiftResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const caller = callerOf(request);
        const id = asId<AccountFreezeId>(request.params.id);
        const userIds = await liftFreeze(tx, caller, { id, reason: request.body.reason });
        tx.afterCommit(() => identities.forgetAll());
        return { success: true as const, user_ids: [...userIds] };
      }),
  );
}
