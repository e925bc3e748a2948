import { parseId, type AgentCredentialId, type JoinTokenId } from "../../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { createJoinToken, joinAgent, removeJoinToken, revokeHost, type RandomBytes } from "./service.ts";
import { listCredentials, listJoinTokens } from "./store.ts";
import {
  CreateJoinTokenBody,
  CreateJoinTokenResponse,
  CredentialsResponse,
  Done,
  IdParams,
  JoinBody,
  JoinResponse,
  JoinTokensResponse,
} from "./schema.ts";
import { epochSeconds, viewCredential, viewJoinToken } from "./views.ts";

export type HostPorts = { readonly random: RandomBytes; readonly secret: Buffer };

const TAGS = ["Hosts"];
const TOKENS_MAX = 1_000;
const DEFAULT_EXPIRY_SECONDS = 86_400;

/** Routes by which machines join, and by which their owner lists and revokes credentials. */
export function hostRoutes(scope: HttpScope, ports: HostPorts): void {
  joinTokenRoutes(scope, ports);
  credentialRoutes(scope);
  const { app, mutate } = scope;

  app.post(
    "/api/v0/agent/join/",
    {
      config: { access: { operation: "api.agent.join", permission: "public", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Exchange a join token for an agent credential",
        body: JoinBody,
        response: { 200: JoinResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { token, host_key: hostKey, fingerprint, nonce, name = "" } = request.body;
        const join = { token, hostKey, fingerprint, nonce, name: name || hostKey, ipAddress: request.ip };
        return { success: true as const, credential: await joinAgent(tx, ports.secret, join) };
      }),
  );
}

function joinTokenRoutes({ app, database, mutate }: HttpScope, { random }: HostPorts): void {
  app.post(
    "/api/v0/hosts/tokens/",
    {
      config: { access: { operation: "api.host_token.create", permission: "machine_write", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Create a join token, with which one machine can join",
        body: CreateJoinTokenBody,
        response: { 200: CreateJoinTokenResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { name = "", expires_in_s: expiresInSeconds = DEFAULT_EXPIRY_SECONDS } = request.body;
        const made = await createJoinToken(tx, callerOf(request), { name, expiresInSeconds }, random);
        return { success: true as const, id: made.id, token: made.token, expires_at: epochSeconds(made.expiresAt) };
      }),
  );

  app.get(
    "/api/v0/hosts/tokens/",
    {
      config: { access: { operation: "api.host_token.list", permission: "machine_read" } },
      schema: { tags: TAGS, summary: "Show own join tokens", response: { 200: JoinTokensResponse } },
    },
    async (request) => {
      const tokens = await listJoinTokens(database.kysely, identityOf(request).userId, TOKENS_MAX);
      return { success: true as const, tokens: tokens.map(viewJoinToken) };
    },
  );

  app.delete(
    "/api/v0/hosts/tokens/:id/",
    {
      config: { access: { operation: "api.host_token.delete", permission: "machine_write", limit: "keys" } },
      schema: { tags: TAGS, summary: "Delete a join token", params: IdParams, response: { 200: Done } },
    },
    (request) =>
      mutate(request, async (tx) => {
        await removeJoinToken(tx, callerOf(request), parseId<JoinTokenId>(request.params.id));
        return { success: true as const, msg: `Join token ${request.params.id} is deleted.` };
      }),
  );
}

function credentialRoutes({ app, database, mutate }: HttpScope): void {
  app.get(
    "/api/v0/hosts/credentials/",
    {
      config: { access: { operation: "api.host.list", permission: "machine_read" } },
      schema: { tags: TAGS, summary: "Show own agents and their machines", response: { 200: CredentialsResponse } },
    },
    async (request) => {
      const credentials = await listCredentials(database.kysely, identityOf(request).userId);
      return { success: true as const, credentials: credentials.map(viewCredential) };
    },
  );

  app.delete(
    "/api/v0/hosts/credentials/:id/",
    {
      config: { access: { operation: "api.host.revoke", permission: "machine_write", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Revoke the credential of a machine that joined",
        params: IdParams,
        response: { 200: Done },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        await revokeHost(tx, callerOf(request), parseId<AgentCredentialId>(request.params.id));
        return { success: true as const, msg: `Agent credential ${request.params.id} is revoked.` };
      }),
  );
}
