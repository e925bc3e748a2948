import { epochSeconds } from "../../../../base/clock.ts";
import { invalid, notFound } from "../../../../base/errors.ts";
import { asId, type ApiKeyId } from "../../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { recordAudit } from "../../accounts/index.ts";
import {
  endSessions,
  listSessions,
  listTeamSessions,
  type StoredSession,
  type TeamSession,
} from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import {
  EndSessionsBody,
  MessageResponse,
  SessionsResponse,
  SignInBody,
  SignInResponse,
  SignOutResponse,
  TeamSessionsResponse,
} from "../schema.ts";
import { SIGN_IN_TAGS } from "../tags.ts";
import { recordOf } from "./account-record.ts";
import { signIn } from "./sign-in-service.ts";
import { viewPending } from "./views.ts";

export function sessionRoutes(scope: HttpScope, means: SignInMeans): void {
  signInAndOut(scope, means);
  sessionReads(scope);
  const { app, mutate } = scope;

  app.delete(
    "/api/v0/auth/sessions/",
    {
      config: { access: { operation: "api.session.delete", permission: "user_write", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "End own sessions",
        body: EndSessionsBody,
        response: { 200: MessageResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { identity, ipAddress } = callerOf(request);
        const { all = false, key_id: keyId } = request.body;
        const which = all ? "all" : keyId === undefined ? undefined : asId<ApiKeyId>(keyId);
        if (which === undefined) throw invalid("key_id", "key_id is required, or all: true", "missing_input");
        const ended = await endSessions(tx, identity, which);
        // Sessions that these opened ended with them.
        tx.afterCommit(() => means.identities.forgetUser(identity.userId));
        if (ended.length > 0)
          await recordAudit(tx, identity, { ipAddress, action: "api.session.delete", args: { ids: ended } });
        const msg = ended.length === 0 ? "There was no such session." : `Sessions ended: ${ended.length}.`;
        return { success: true as const, msg };
      }),
  );
}

function signInAndOut({ app, database, clock, mutate }: HttpScope, means: SignInMeans): void {
  app.put(
    "/api/v0/users/current/",
    {
      config: { access: { operation: "api.session.create", permission: "public", limit: "keys" } },
      schema: {
        tags: SIGN_IN_TAGS,
        summary: "Sign in with a password",
        body: SignInBody,
        response: { 200: SignInResponse },
      },
    },
    async ({ body, ip: ipAddress }) => {
      const result = await signIn({ database, clock }, { body, ipAddress }, means);
      if (result.kind === "open") {
        const record = await recordOf({ database }, result.opened, means);
        return { ...record, api_key: result.opened.secret };
      }
      return viewPending(result.pending);
    },
  );

  app.delete(
    "/api/v0/users/current/",
    {
      config: { access: { operation: "api.session.end", permission: "user_read" } },
      schema: { tags: SIGN_IN_TAGS, summary: "Sign out", response: { 200: SignOutResponse } },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { identity, ipAddress } = callerOf(request);
        // An API key is deleted by name only: a program that signs out should not lose it.
        if (identity.session === undefined) return { success: true as const, sid: "" };
        const id = identity.apiKeyId;
        await endSessions(tx, identity, id);
        tx.afterCommit(() => means.identities.forgetUser(identity.userId));
        await recordAudit(tx, identity, { ipAddress, action: "api.session.end", args: { id } });
        return { success: true as const, sid: String(id) };
      }),
  );
}

function sessionReads({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/auth/sessions/",
    {
      config: { access: { operation: "api.session.list", permission: "user_read" } },
      schema: { tags: SIGN_IN_TAGS, summary: "Show own sessions", response: { 200: SessionsResponse } },
    },
    async (request) => {
      const identity = identityOf(request);
      const sessions = await listSessions(database.kysely, identity, clock.now());
      if (sessions.length === 0) throw notFound("not_found", "No session is open.");
      return {
        success: true as const,
        sessions: sessions.map((session) => ({
          ...viewSession(session),
          deleted_at: null,
          has_tfa: session.kind === "tfa",
          is_current: session.id === identity.apiKeyId,
        })),
      };
    },
  );

  app.get(
    "/api/v0/team/sessions/",
    {
      config: { access: { operation: "api.team.sessions", permission: "team_write" } },
      schema: {
        tags: ["Teams"],
        summary: "Show the sessions in which members act for a team",
        response: { 200: TeamSessionsResponse },
      },
    },
    async (request) => {
      const { userId, memberId } = identityOf(request);
      if (memberId === undefined) throw notFound("not_found", "This key belongs to no team.");
      const sessions = (await listTeamSessions(database.kysely, userId, clock.now())).map(viewTeamSession);
      const none = sessions.length === 0 ? { msg: "Nobody is signed in for this team." } : {};
      return { success: sessions.length > 0, ...none, sessions_found: sessions.length, sessions };
    },
  );
}

function viewSession({ id, ipAddress, browser, system, createdAt, lastUsedAt, expiresAt }: StoredSession) {
  return {
    id,
    key_type: "session" as const,
    last_ipaddr: ipAddress,
    // Berth asks nobody where an address is.
    location: "",
    browser: browser ?? null,
    system: system ?? null,
    last_used_at: epochSeconds(lastUsedAt),
    created_at: epochSeconds(createdAt),
    expires_at: epochSeconds(expiresAt),
  };
}

function viewTeamSession(session: TeamSession) {
  const { personId, username, roleName } = session;
  return { ...viewSession(session), user_id: personId, username, role_name: roleName };
}
