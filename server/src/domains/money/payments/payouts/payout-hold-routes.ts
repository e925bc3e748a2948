import { notFound } from "../../../../base/errors.ts";
import { asId, type PayoutHoldId } from "../../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { findUserByEmailOrId, recordAudit, tellAdministrators } from "../../../people/accounts/index.ts";
import { placePayoutHold, releasePayoutHold } from "./payout-hold-service.ts";
import { findOpenPayoutHold, selectOpenHolds } from "./payout-hold-store.ts";
import { ADMIN_TAGS } from "../route-ports.ts";
import {
  AdminPayoutHoldsResponse,
  IdParams,
  PayoutHoldBody,
  PayoutHoldResponse,
  ReleaseHoldBody,
  SuccessResponse,
} from "../schema.ts";
import { viewAdminPayoutHold } from "../views.ts";

/** Routes by which administrators hold payouts of a host, and release holds of every kind. */
export function payoutHoldRoutes(scope: HttpScope): void {
  listRoute(scope);
  holdRoute(scope);
  releaseRoute(scope);
}

function listRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/admin/payout_holds/",
    {
      config: { access: { operation: "api.admin.payout_holds", permission: "admin" } },
      schema: { tags: ADMIN_TAGS, summary: "Show open holds on payouts", response: { 200: AdminPayoutHoldsResponse } },
    },
    async () => ({
      success: true as const,
      holds: (await selectOpenHolds(database.kysely)).map(viewAdminPayoutHold),
    }),
  );
}

function holdRoute({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/admin/payout_holds/",
    {
      config: { access: { operation: "api.admin.hold_payouts", permission: "admin", limit: "money" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Hold the payouts of a host",
        body: PayoutHoldBody,
        response: { 200: PayoutHoldResponse },
      },
    },
    (request) => {
      const { user: named, reason } = request.body;
      const identity = identityOf(request);
      return mutate(request, async (tx) => {
        const user = await findUserByEmailOrId(tx.db, named);
        if (user === undefined) throw notFound("no_such_user", `There is no user ${named}.`);
        const hold = { userId: user.id, kind: "operator", reason, placedBy: identity.userId } as const;
        const { id, isNew } = await placePayoutHold(tx, hold);
        const args = { id, user_id: user.id, reason };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.hold_payouts", args });
        if (isNew) {
          await tellAdministrators(tx, {
            subject: `Payouts of account ${user.id} are held`,
            message: `Administrator ${identity.userId} held the payouts of account ${user.id} (hold ${id}). Reason: ${reason}`,
            key: `payouts_held:${id}`,
          });
        }
        return { success: true as const, id, is_new: isNew };
      });
    },
  );
}

function releaseRoute({ app, mutate }: HttpScope): void {
  app.put(
    "/api/v0/admin/payout_holds/:id/",
    {
      config: { access: { operation: "api.admin.release_payouts", permission: "admin", limit: "money" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Release a hold on payouts",
        params: IdParams,
        body: ReleaseHoldBody,
        response: { 200: SuccessResponse },
      },
    },
    (request) => {
      const id = asId<PayoutHoldId>(request.params.id);
      const { reason } = request.body;
      const identity = identityOf(request);
      return mutate(request, async (tx) => {
        const hold = await findOpenPayoutHold(tx.db, id);
        const release = hold && { userId: hold.userId, kind: hold.kind, reason, releasedBy: identity.userId };
        if (release === undefined || !(await releasePayoutHold(tx, release))) {
          throw notFound("no_such_payout_hold", `There is no open hold ${id} on payouts.`);
        }
        const args = { id, user_id: release.userId, reason };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.release_payouts", args });
        await tellAdministrators(tx, {
          subject: `A hold on payouts of account ${release.userId} is released`,
          message: `Administrator ${identity.userId} released hold ${id} on the payouts of account ${release.userId}. Reason: ${reason}`,
          key: `payouts_released:${id}`,
        });
        return { success: true as const };
      });
    },
  );
}
