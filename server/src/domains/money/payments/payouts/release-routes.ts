import { invalid, notFound } from "../../../../base/errors.ts";
import { parseDollars, toDollars } from "../../../../base/money.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { findUserByEmailOrId, recordAudit } from "../../../people/accounts/index.ts";
import { releaseGrantedEarnings } from "./payable-service.ts";
import { ADMIN_TAGS } from "../route-ports.ts";
import { ReleaseEarningsBody, ReleaseEarningsResponse } from "../schema.ts";

/** The route by which an administrator lets a host be paid for earnings of granted credit. */
export function releaseRoute({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/admin/earnings/release/",
    {
      config: { access: { operation: "api.admin.release_earnings", permission: "admin", limit: "money" } },
      schema: {
        tags: ADMIN_TAGS,
        summary: "Release earnings of granted credit",
        body: ReleaseEarningsBody,
        response: { 200: ReleaseEarningsResponse },
      },
    },
    (request) => {
      const { email, user_id: id, amount: dollars, reason } = request.body;
      const named = email ?? id;
      if (named === undefined) throw invalid("email", "email or user_id is required");
      const amount = dollars === undefined ? undefined : parseDollars(dollars);
      if (dollars !== undefined && amount === undefined) throw invalid("amount", "amount must be a number of dollars");
      const identity = identityOf(request);
      return mutate(request, async (tx) => {
        const user = await findUserByEmailOrId(tx.db, String(named));
        if (user === undefined) throw notFound("no_such_user", `There is no user ${named}.`);
        const actorId = identity.userId;
        const released = toDollars(await releaseGrantedEarnings(tx, { userId: user.id, amount, reason, actorId }));
        const args = { user_id: user.id, amount: released, reason };
        await recordAudit(tx, identity, { ipAddress: request.ip, action: "api.admin.release_earnings", args });
        return { success: true as const, user_id: user.id, released };
      });
    },
  );
}
