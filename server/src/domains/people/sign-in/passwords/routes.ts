import { Type } from "typebox";
import { callerOf, type HttpScope } from "../../../../http/server.ts";
import { refuseOtherSite } from "../../../../http/callers/same-origin.ts";
import { hashPassword } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { MessageResponse } from "../schema.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import { proofOf } from "../tfa/requests.ts";
import { resultOf } from "../tfa/verify.ts";
import { requireGoodPassword } from "./rules.ts";
import { changePassword, isPresentPassword, requestReset, resetPassword } from "./service.ts";

const Password = Type.String({ maxLength: 1024 });
const ResetBody = Type.Object({ email: Type.String() });
const ConfirmResetBody = Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }), password: Password });
const ChangePasswordBody = Type.Object({
  new_password: Password,
  password: Type.Optional(Password),
  code: Type.Optional(Type.String({ maxLength: 32 })),
  backup_code: Type.Optional(Type.String({ maxLength: 64 })),
});

/** Routes by which a person gets another password. */
export function passwordRoutes(scope: HttpScope, means: SignInMeans): void {
  const { app, database, clock, mutate } = scope;
  resetRoutes(scope, means);

  app.put(
    "/api/v0/users/current/password/",
    {
      config: { access: { operation: "api.user.change_password", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Change own password",
        body: ChangePasswordBody,
        response: { 200: MessageResponse },
      },
    },
    async (request) => {
      const { new_password: password, password: present, code, backup_code: backupCode } = request.body;
      requireGoodPassword(password, [], "new_password");
      const caller = callerOf(request);
      const hasFactor = code !== undefined || backupCode !== undefined;
      const isPresent = !hasFactor && (await isPresentPassword({ database, clock }, caller, present));
      const hash = await hashPassword(password, means.random);
      const factor = hasFactor ? proofOf({ ...request.body, tfa_method: "totp" }) : undefined;
      const asked = { password, hash, isPresent, factor };
      resultOf(await mutate(request, (tx) => changePassword(tx, caller, asked, means)));
      return { success: true as const, msg: "The password is changed, and your other sessions have ended." };
    },
  );
}

function resetRoutes({ app, database, clock }: HttpScope, means: SignInMeans): void {
  app.post(
    "/api/v0/auth/browser/reset/",
    {
      config: { access: { operation: "api.browser.request_reset", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Have a link mailed that resets a password",
        body: ResetBody,
        response: { 200: MessageResponse },
      },
    },
    async (request) => {
      refuseOtherSite(request);
      const { body, ip: ipAddress } = request;
      await requestReset({ database, clock }, { email: body.email, ipAddress }, means);
      return { success: true as const, msg: "If an account has proven this address, a link is on its way there." };
    },
  );

  app.post(
    "/api/v0/auth/browser/reset/confirm/",
    {
      config: { access: { operation: "api.browser.reset_password", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Reset a password with the link that was mailed",
        body: ConfirmResetBody,
        response: { 200: MessageResponse },
      },
    },
    async (request) => {
      refuseOtherSite(request);
      await resetPassword({ database, clock }, { ...request.body, ipAddress: request.ip }, means);
      return { success: true as const, msg: "The password is changed, and all sessions have ended. Sign in." };
    },
  );
}
