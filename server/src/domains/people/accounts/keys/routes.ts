import { parseId, type ApiKeyId } from "../../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { createKey, deleteKey, noSuchKey, resetKey } from "./service.ts";
import { findApiKey, listApiKeys } from "./store.ts";
import { ACCOUNT_TAGS, type AccountPorts } from "../route-ports.ts";
import {
  ApiKeyRecord,
  ApiKeysResponse,
  CreateKeyBody,
  CreateKeyResponse,
  DeleteKeyResponse,
  KeyIdParams,
  ResetKeyResponse,
} from "../schema.ts";
import { viewApiKey, viewPermissions } from "../views.ts";

export function keyRoutes(scope: HttpScope, { identities, random, refuseNewKeys }: AccountPorts): void {
  keyReads(scope);
  const { app, mutate } = scope;

  app.post(
    "/api/v0/auth/apikeys/",
    {
      config: { access: { operation: "api.apikey.create", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Create an API key",
        body: CreateKeyBody,
        response: { 200: CreateKeyResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        await refuseNewKeys(tx, identityOf(request), request.body.team_id);
        const { id, secret, permissions } = await createKey(tx, callerOf(request), request.body, random);
        return { success: true as const, id, key: secret, permissions: viewPermissions(permissions) };
      }),
  );

  app.delete(
    "/api/v0/auth/apikeys/:id/",
    {
      config: { access: { operation: "api.apikey.delete", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Delete an API key",
        params: KeyIdParams,
        response: { 200: DeleteKeyResponse },
      },
    },
    async (request, reply) => {
      const answer = await mutate(request, async (tx) => {
        await deleteKey(tx, callerOf(request), parseId<ApiKeyId>(request.params.id), identities);
        return "Successfully Deleted API Key" as const;
      });
      // The contract's answer is a JSON string, which the framework would send as plain text.
      return reply.type("application/json").serializer(JSON.stringify).send(answer);
    },
  );

  app.put(
    "/api/v0/commands/reset_apikey/",
    {
      config: { access: { operation: "api.apikey.reset", permission: "user_write", limit: "keys" } },
      schema: { tags: ACCOUNT_TAGS, summary: "Replace the calling API key", response: { 200: ResetKeyResponse } },
    },
    (request) =>
      mutate(request, async (tx) => {
        const secret = await resetKey(tx, callerOf(request), { identities, random });
        return { success: true as const, new_api_key: secret };
      }),
  );
}

function keyReads({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/auth/apikeys/",
    {
      config: { access: { operation: "api.apikey.list", permission: "user_read" } },
      schema: { tags: ACCOUNT_TAGS, summary: "Show own API keys", response: { 200: ApiKeysResponse } },
    },
    async (request) => {
      const keys = await listApiKeys(database.kysely, identityOf(request));
      return { apikeys: keys.map(viewApiKey) };
    },
  );

  app.get(
    "/api/v0/auth/apikeys/:id/",
    {
      config: { access: { operation: "api.apikey.show", permission: "user_read" } },
      schema: { tags: ACCOUNT_TAGS, summary: "Show one API key", params: KeyIdParams, response: { 200: ApiKeyRecord } },
    },
    async (request) => {
      const id = parseId<ApiKeyId>(request.params.id);
      const key = id === undefined ? undefined : await findApiKey(database.kysely, identityOf(request), id);
      if (key === undefined) throw noSuchKey();
      return viewApiKey(key);
    },
  );
}
