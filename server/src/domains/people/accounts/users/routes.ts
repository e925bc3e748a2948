import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { inSnapshot } from "../../../../db/transaction.ts";
import { listAuditEvents } from "../audit-log/store.ts";
import { noSuchUser, resolveUserId } from "./find-user.ts";
import { IP_ADDRESSES_MAX, listIpAccesses } from "../ip-history/store.ts";
import { readOwnRecord } from "./own-record.ts";
import { hashPassword } from "./password.ts";
import { parseNewProfile } from "./profile.ts";
import { ACCOUNT_TAGS, type AccountPorts } from "../route-ports.ts";
import {
  AuditLogsResponse,
  CreateUserBody,
  CreateUserResponse,
  CurrentUserResponse,
  IpHistoryResponse,
  SettingsResponse,
  UpdateUserBody,
  UpdateUserResponse,
  UserIdParams,
} from "../schema.ts";
import { createAccount, resolveParent, signupClosed, updateOwnUser } from "./service.ts";
import { viewAuditRecord, viewIpRecord } from "../views.ts";

/** Events that one answer shows; the contract has no paging for it. */
const AUDIT_EVENTS_MAX = 1_000;

export function userRoutes(scope: HttpScope, ports: AccountPorts): void {
  historyRoutes(scope, ports);
  ownUserRoutes(scope, ports);
  const { app, mutate } = scope;

  app.post(
    "/api/v0/users/",
    {
      config: {
        access: { operation: "api.user.create", permission: "optional", keyPermission: "user_write", limit: "keys" },
      },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Create an account, or a subaccount",
        body: CreateUserBody,
        response: { 200: CreateUserResponse },
      },
    },
    async (request) => {
      const { identity, body, ip: ipAddress } = request;
      const parentId = resolveParent(identity, body.parent_id);
      if (!ports.isSignupOpen && parentId === undefined) throw signupClosed();
      const profile = parseNewProfile(body);
      const passwordHash = await hashPassword(profile.password, ports.random);
      return mutate(request, async (tx) => {
        const input = { profile, passwordHash, parentId, identity, ipAddress, means: ports };
        const { userId, keyId, secret } = await createAccount(tx, input);
        const record = await readOwnRecord(tx.db, userId, { apiKeyId: keyId, isAdmin: false }, ports.factsOf);
        return { ...record, api_key: secret };
      });
    },
  );
}

function ownUserRoutes({ app, database, mutate }: HttpScope, ports: AccountPorts): void {
  for (const name of ["current", "me"]) {
    app.get(
      `/api/v0/users/${name}/`,
      {
        config: { access: { operation: "api.user.show", permission: "user_read", isAlias: name !== "current" } },
        schema: { tags: ACCOUNT_TAGS, summary: "Show own account", response: { 200: CurrentUserResponse } },
      },
      (request) => {
        const identity = identityOf(request);
        return inSnapshot(database, (db) => readOwnRecord(db, identity.userId, identity, ports.factsOf));
      },
    );
  }

  app.put(
    "/api/v0/users/",
    {
      config: {
        access: { operation: "api.user.update", permission: "user_write" },
        nullMembers: ["traffic_limit"],
      },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Change own account",
        body: UpdateUserBody,
        response: { 200: UpdateUserResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const caller = callerOf(request);
        await updateOwnUser(tx, caller, request.body, ports);
        const record = await readOwnRecord(tx.db, caller.identity.userId, caller.identity, ports.factsOf);
        return { success: true as const, msg: "The account was updated.", ...record };
      }),
  );
}

function historyRoutes({ app, database }: HttpScope, { ipHistory, actLog }: AccountPorts): void {
  app.get(
    "/api/v0/users/:user_id/settings/",
    {
      config: { access: { operation: "api.user.settings", permission: "user_read" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Show the settings of own account",
        params: UserIdParams,
        response: { 200: SettingsResponse },
      },
    },
    (request) => {
      const { user_id: text } = request.params;
      if (!["me", "current", String(identityOf(request).userId)].includes(text)) throw noSuchUser(text);
      return { o: null };
    },
  );

  app.get(
    "/api/v0/users/:user_id/ipaddrs/",
    {
      config: { access: { operation: "api.user.ipaddrs", permission: "user_read" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Show the IP addresses from which an account was used",
        params: UserIdParams,
        response: { 200: IpHistoryResponse },
      },
    },
    async (request) => {
      const userId = await resolveUserId(database.kysely, identityOf(request), request.params.user_id);
      await ipHistory.flush();
      const records = await listIpAccesses(database.kysely, userId, IP_ADDRESSES_MAX);
      return { success: true as const, results: records.map(viewIpRecord) };
    },
  );

  app.get(
    "/api/v0/audit_logs/",
    {
      config: { access: { operation: "api.audit_log.list", permission: "misc" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Show the audit log of own account",
        response: { 200: AuditLogsResponse },
      },
    },
    async (request) => {
      await actLog.flush();
      const records = await listAuditEvents(database.kysely, identityOf(request).userId, AUDIT_EVENTS_MAX);
      return records.map(viewAuditRecord);
    },
  );
}
