import type { Encryption } from "../../../../base/encryption.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { ACCOUNT_TAGS, type AccountPorts } from "../route-ports.ts";
import { MessageResponse, SecretBody, SecretNameBody, SecretsResponse } from "../schema.ts";
import { changeSecret, createSecret, removeSecret } from "./service.ts";
import { listSecretNames } from "./store.ts";

const PATH = "/api/v0/secrets/";
/** A fixed length hides the length of the value. */
const MASK = "*****";

/** Environment variables of all of a user's containers; no route shows their values again. */
export function secretRoutes(scope: HttpScope, { encryption }: Pick<AccountPorts, "encryption">): void {
  listRoute(scope);
  storeRoutes(scope, encryption);
  deleteRoute(scope);
}

function listRoute({ app, database }: HttpScope): void {
  app.get(
    PATH,
    {
      config: { access: { operation: "api.secret.list", permission: "user_read" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Show own environment variables, masked",
        response: { 200: SecretsResponse },
      },
    },
    async (request) => {
      const names = await listSecretNames(database.kysely, identityOf(request).userId);
      return { success: true as const, secrets: Object.fromEntries(names.map((name) => [name, MASK])) };
    },
  );
}

function storeRoutes({ app, mutate }: HttpScope, encryption: Encryption): void {
  app.post(
    PATH,
    {
      config: { access: { operation: "api.secret.create", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Add an environment variable for own containers",
        body: SecretBody,
        response: { 200: MessageResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const name = await createSecret(tx, callerOf(request), request.body, encryption);
        return { success: true as const, msg: `${name} is set in every container that starts from now on.` };
      }),
  );

  app.put(
    PATH,
    {
      config: { access: { operation: "api.secret.update", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Change an environment variable for own containers",
        body: SecretBody,
        response: { 200: MessageResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const name = await changeSecret(tx, callerOf(request), request.body, encryption);
        return { success: true as const, msg: `${name} is changed in every container that starts from now on.` };
      }),
  );
}

function deleteRoute({ app, mutate }: HttpScope): void {
  app.delete(
    PATH,
    {
      config: { access: { operation: "api.secret.delete", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Delete an environment variable for own containers",
        body: SecretNameBody,
        response: { 200: MessageResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const name = await removeSecret(tx, callerOf(request), request.body.key);
        return {
          success: true as const,
          msg: `${name} is deleted; running containers keep it until they start again.`,
        };
      }),
  );
}
