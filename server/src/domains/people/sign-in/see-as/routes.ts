import { Type } from "typebox";
import { epochSeconds } from "../../../../base/clock.ts";
import { forbidden, notFound } from "../../../../base/errors.ts";
import { parseId, type UserId } from "../../../../base/ids.ts";
import { refuseCrossSite } from "../../../../http/callers/same-origin.ts";
import { callerOf, type HttpScope } from "../../../../http/server.ts";
import { callerByCookie } from "../browser/routes.ts";
import type { SignInMeans } from "../means.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import { beginView, endView } from "./service.ts";

const MINUTES = 15;
const SeeAsBody = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 500, pattern: "\\S" }),
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
});
const SeeAsResponse = Type.Object({ success: Type.Literal(true), user_id: Type.Integer(), ends_at: Type.Number() });
const LeftResponse = Type.Object({
  success: Type.Literal(true),
  user_id: Type.Union([Type.Integer(), Type.Null()]),
});

/** Routes by which an administrator sees the console as another person, and leaves that view. */
export function seeAsRoutes(scope: HttpScope, means: SignInMeans): void {
  const { app, mutate } = scope;

  app.post(
    "/api/v0/admin/users/:user_id/see_as/",
    {
      config: { access: { operation: "api.admin.user.see_as", permission: "admin", limit: "keys" } },
      schema: {
        tags: ["Administration"],
        summary: "See the console as another account, without changing anything",
        params: Type.Object({ user_id: Type.String() }),
        body: SeeAsBody,
        response: { 200: SeeAsResponse },
      },
    },
    (request) => {
      const caller = callerOf(request);
      if (!request.isByCookie || caller.identity.session === undefined) {
        throw forbidden("Only the session of a browser sees the console as somebody.", "session_needed");
      }
      const { user_id: text } = request.params;
      const userId = parseId<UserId>(text);
      if (userId === undefined) throw notFound("no_such_user", `There is no user ${text}.`);
      const { reason, minutes = MINUTES } = request.body;
      return mutate(request, async (tx) => {
        const endsAt = await beginView(tx, caller, { userId, reason: reason.trim(), minutes }, means);
        return { success: true as const, user_id: userId, ends_at: epochSeconds(endsAt) };
      });
    },
  );

  app.delete(
    "/api/v0/auth/browser/view/",
    {
      config: { access: { operation: "api.browser.leave_view", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Leave the view of another account",
        response: { 200: LeftResponse },
      },
    },
    async (request) => {
      const identity = await callerByCookie(request, means);
      if (identity === undefined) return { success: true as const, user_id: null };
      refuseCrossSite(request);
      const userId = await mutate(request, (tx) => endView(tx, identity, means));
      return { success: true as const, user_id: userId ?? null };
    },
  );
}
