import { createHash } from "node:crypto";
import { AppError, invalid } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { findPasswordHash, isPasswordOf } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import {
  AuthorizeBody,
  AuthorizeResponse,
  ConfirmMethodBody,
  ConfirmMethodResponse,
  FinishAuthorizationBody,
  MessageResponse,
  SetUpAppResponse,
  UpdateMethodBody,
  UpdateMethodResponse,
} from "../schema.ts";
import { countAttempt } from "../sessions/attempt-store.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import { beginAuthorization, confirmMethod, finishAuthorization, setUpApp } from "./add-method.ts";
import { refuseTeam } from "./challenges.ts";
import { delivered } from "./code-routes.ts";
import { methodIdOf, readLabel, readPhone } from "./requests.ts";
import { updateMethod } from "./use-factor.ts";
import { resultOf, type Attempt } from "./verify.ts";

const PASSWORD_ATTEMPTS = 10;
const OPENED = "You may add methods for 30 minutes.";

/** Routes that set second factors up. */
export function methodRoutes(scope: HttpScope, means: SignInMeans): void {
  authorization(scope, means);
  confirmation(scope, means);
  const { app, mutate } = scope;

  app.put(
    "/api/v0/tfa/update/",
    {
      config: { access: { operation: "api.tfa.update", permission: "user_write" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Change the label of a second factor, or the primary one",
        body: UpdateMethodBody,
        response: { 200: UpdateMethodResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { body } = request;
        const asked = {
          methodId: methodIdOf(body.tfa_method_id),
          kind: body.tfa_method,
          label: readLabel(body.label),
          isPrimary: body.is_primary,
        };
        const method = await updateMethod(tx, callerOf(request), asked, means);
        return { success: true as const, msg: "The method was changed.", method };
      }),
  );
}

function authorization(scope: HttpScope, means: SignInMeans): void {
  const { app, mutate } = scope;
  app.post(
    "/api/v0/tfa/authorize-new-method/",
    {
      config: { access: { operation: "api.tfa.authorize", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Begin to authorize another second factor",
        body: AuthorizeBody,
        response: { 200: AuthorizeResponse },
      },
    },
    async (request) => {
      const { body } = request;
      const asked = {
        channel: body.tfa_method,
        methodId: methodIdOf(body.tfa_method_id),
        backupCode: body.backup_code,
        isPasswordRight: await checkPassword(scope, identityOf(request), body.password),
      };
      const secret = await delivered(scope, request, means, async (note) => {
        const outcome = await mutate(request, async (tx): Promise<Attempt<{ secret: string }>> => {
          const begun = await beginAuthorization(tx, callerOf(request), asked, means);
          if ("refused" in begun) return begun;
          return { done: begun.done.kind === "sent" ? note(begun.done.sent) : { secret: "" } };
        });
        return resultOf(outcome);
      });
      if (secret === "") return { success: true as const, msg: OPENED };
      return { success: true as const, msg: "Send the code with this secret.", secret };
    },
  );

  app.put(
    "/api/v0/tfa/authorize-new-method/",
    {
      config: { access: { operation: "api.tfa.finish_authorization", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Authorize another second factor with a code",
        body: FinishAuthorizationBody,
        response: { 200: MessageResponse },
      },
    },
    async (request) => {
      const { code, secret } = request.body;
      resultOf(await mutate(request, (tx) => finishAuthorization(tx, callerOf(request), { code, secret }, means)));
      return { success: true as const, msg: OPENED };
    },
  );
}

/** True for the account's own password, false when none was sent; throws for a wrong one. Attempts are counted first. */
async function checkPassword(
  { database, clock }: HttpScope,
  identity: Identity,
  password: string | undefined,
): Promise<boolean> {
  if (password === undefined) return false;
  refuseTeam(identity);
  const sha256 = createHash("sha256")
    .update(JSON.stringify(["account", identity.userId]))
    .digest();
  const fullUntil = await withTransaction(database, clock, (tx) =>
    countAttempt(tx, [{ sha256, max: PASSWORD_ATTEMPTS }]),
  );
  if (fullUntil !== undefined) {
    const message = "There were too many attempts with a password. Try again in 15 minutes.";
    const waitMs = fullUntil.getTime() - clock.now().getTime();
    const extra = { success: false, error: "sign_in_locked", detail: message, retry_after_ms: waitMs };
    throw new AppError("rate_limited", "sign_in_locked", message, { extra });
  }
  if (await isPasswordOf(password, await findPasswordHash(database.kysely, identity.userId))) return true;
  throw invalid("password", "password is wrong", "2fa_verification_failed");
}

function confirmation({ app, mutate }: HttpScope, means: SignInMeans): void {
  app.post(
    "/api/v0/tfa/totp-setup/",
    {
      config: { access: { operation: "api.tfa.totp_setup", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Make a secret for an authenticator app",
        response: { 200: SetUpAppResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { secret, uri } = await setUpApp(tx, callerOf(request), means);
        return { success: true as const, secret, provisioning_uri: uri };
      }),
  );

  for (const path of ["confirm-new", "test-submit"] as const) {
    const isAlias = path !== "confirm-new";
    app.post(
      `/api/v0/tfa/${path}/`,
      {
        config: { access: { operation: "api.tfa.confirm_new", permission: "user_write", limit: "keys", isAlias } },
        schema: {
          tags: SIGN_IN_TAGS,
          summary: "Add a second factor with its first code",
          body: ConfirmMethodBody,
          response: { 200: ConfirmMethodResponse },
        },
      },
      async (request) => {
        const { body } = request;
        const asked = {
          kind: body.tfa_method ?? "sms",
          code: body.code,
          secret: body.secret,
          phoneNumber: readPhone(body.phone_number),
          label: readLabel(body.label) ?? "",
        };
        const { backupCodes } = resultOf(
          await mutate(request, (tx) => confirmMethod(tx, callerOf(request), asked, means)),
        );
        const isFirst = backupCodes.length > 0;
        const msg = isFirst
          ? "Two-factor sign-in is on. Keep the backup codes where you find them without your phone."
          : "The method was added.";
        return { success: true as const, msg, ...(isFirst ? { backup_codes: [...backupCodes] } : {}) };
      },
    );
  }
}
