import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { AppError } from "../../../../base/errors.ts";
import type { SignInMeans } from "../means.ts";
import {
  BackupCodesResponse,
  FactorBody,
  RemovedMethodResponse,
  RemoveMethodBody,
  RenewBody,
  SignInResponse,
  TfaStatusResponse,
} from "../schema.ts";
import { recordOf } from "../sessions/account-record.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import { methodIdOf, proofOf } from "./requests.ts";
import { readStatus, removeMethod, renewBackupCodes, signInWithFactor } from "./use-factor.ts";
import { resultOf } from "./verify.ts";

/** Routes that take a second factor. */
export function factorRoutes(scope: HttpScope, means: SignInMeans): void {
  changes(scope, means);
  const { app, database, clock, mutate } = scope;

  app.get(
    "/api/v0/tfa/status/",
    {
      config: { access: { operation: "api.tfa.status", permission: "user_read" } },
      schema: { tags: SIGN_IN_TAGS, summary: "Show own second factors", response: { 200: TfaStatusResponse } },
    },
    async (request) => {
      const asked = { identity: identityOf(request), now: clock.now() };
      const status = await readStatus(database.kysely, asked, means);
      return {
        success: true as const,
        tfa_enabled: status.isEnabled,
        methods: [...status.methods],
        backup_codes_remaining: status.backupCodeCount,
        new_method_authorized: status.isAuthorized,
      };
    },
  );

  app.post(
    "/api/v0/tfa/",
    {
      config: {
        access: { operation: "api.tfa.login", permission: "optional", keyPermission: "user_write", limit: "keys" },
      },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Sign in with a second factor",
        body: FactorBody,
        response: { 200: SignInResponse },
      },
    },
    async (request) => {
      const { identity, body, ip: ipAddress } = request;
      const asked = { identity, secret: body.secret, ipAddress };
      const signedIn = resultOf(await mutate(request, (tx) => signInWithFactor(tx, asked, proofOf(body), means)));
      const { isByKey, backupCodesLeft, secret } = signedIn;
      return {
        ...(await recordOf({ database }, signedIn, means)),
        ...(isByKey ? {} : { api_key: secret }),
        ...(backupCodesLeft === null || backupCodesLeft === 0 ? {} : { backup_codes_remaining: backupCodesLeft }),
      };
    },
  );
}

function changes({ app, mutate }: HttpScope, means: SignInMeans): void {
  app.delete(
    "/api/v0/tfa/",
    {
      config: { access: { operation: "api.tfa.delete", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Delete a second factor",
        body: RemoveMethodBody,
        response: { 200: RemovedMethodResponse },
      },
    },
    async (request) => {
      const { body } = request;
      if (body.delete_legacy === true) throw noLegacy();
      const asked = { secret: body.secret, proof: proofOf(body), targetId: methodIdOf(body.target_id) };
      const { remaining } = resultOf(await mutate(request, (tx) => removeMethod(tx, callerOf(request), asked, means)));
      const msg = remaining === 0 ? "2FA Successfully Disabled" : "The method was deleted.";
      return { success: true as const, msg, remaining_methods: remaining };
    },
  );

  app.put(
    "/api/v0/tfa/regen-backup-codes/",
    {
      config: { access: { operation: "api.tfa.regen_backup_codes", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Replace own backup codes",
        body: RenewBody,
        response: { 200: BackupCodesResponse },
      },
    },
    async (request) => {
      const { body } = request;
      const asked = { secret: body.secret, proof: proofOf(body) };
      const codes = resultOf(await mutate(request, (tx) => renewBackupCodes(tx, callerOf(request), asked, means)));
      const msg = "These codes replace all earlier ones. Keep them where you find them without your phone.";
      return { success: true as const, msg, backup_codes: [...codes] };
    },
  );
}

function noLegacy(): AppError {
  const message = "This account has no old-style method: delete_legacy does not apply.";
  return new AppError("invalid", "tfa_method_not_configured", message, { extra: { field: "delete_legacy" } });
}
