import { Type } from "typebox";
import { notFound } from "../../../../base/errors.ts";
import type { Caller } from "../../../../base/identity.ts";
import { parseId, type UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { callerOf, type HttpScope } from "../../../../http/server.ts";
import { lockUser, recordAudit, requireUser } from "../../accounts/index.ts";
import type { SignInMeans } from "../means.ts";
import { RemovedMethodResponse } from "../schema.ts";
import { forgetFactors } from "./forget-factors.ts";
import { deleteMethod, listMethods } from "./method-store.ts";

/** The way back for a person who has lost phone and backup codes: an administrator who knows them. */
export function adminTfaRoutes({ app, mutate }: HttpScope, means: SignInMeans): void {
  app.delete(
    "/api/v0/admin/users/:user_id/tfa/",
    {
      config: { access: { operation: "api.admin.user.remove_tfa", permission: "admin", limit: "keys" } },
      schema: {
        tags: ["Administration"],
        summary: "Delete the second factors of an account",
        params: Type.Object({ user_id: Type.String() }),
        response: { 200: RemovedMethodResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const userId = parseId<UserId>(request.params.user_id);
        if (userId === undefined) throw notFound("no_such_user", `There is no user ${request.params.user_id}.`);
        await removeAll(tx, callerOf(request), userId, means);
        const msg = `Account ${userId} has no second factor any more.`;
        return { success: true as const, msg, remaining_methods: 0 };
      }),
  );
}

async function removeAll(tx: Tx, { identity, ipAddress }: Caller, userId: UserId, means: SignInMeans): Promise<void> {
  await lockUser(tx, userId);
  await requireUser(tx.db, userId);
  for (const { id } of await listMethods(tx.db, userId)) await deleteMethod(tx, id);
  await forgetFactors(tx, userId, means);
  const event = { ipAddress, action: "api.admin.user.remove_tfa", args: { user_id: userId } };
  await recordAudit(tx, identity, event);
  // The person sees it in their own log as well.
  if (identity.userId !== userId) await recordAudit(tx, { userId }, event);
}
