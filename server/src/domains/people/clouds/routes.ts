import { epochSeconds } from "../../../base/clock.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { asId, type CloudConnectionId } from "../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../http/server.ts";
import {
  ConnectAnswer,
  ConnectBody,
  ConnectionsAnswer,
  DisconnectAnswer,
  DisconnectBody,
  StoredConnectionsAnswer,
} from "./schema.ts";
import { connect, disconnect } from "./service.ts";
import { listConnections, type CloudConnection } from "./store.ts";

const PATH = "/api/v0/users/cloud/";
const TAGS = ["Accounts"];

/** Connections to cloud storage; no route shows their keys again. */
export function cloudRoutes(scope: HttpScope, { encryption }: { readonly encryption: Encryption }): void {
  listRoutes(scope);
  const { app, mutate } = scope;
  app.post(
    PATH,
    {
      config: { access: { operation: "api.cloud.connect", permission: "user_write", limit: "keys" } },
      schema: { tags: TAGS, summary: "Connect a cloud storage", body: ConnectBody, response: { 200: ConnectAnswer } },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { id, name } = await connect(tx, callerOf(request), request.body, encryption);
        return { success: true as const, msg: `Cloud connection ${id} (${name}) is stored.`, id };
      }),
  );
  app.delete(
    PATH,
    {
      config: { access: { operation: "api.cloud.disconnect", permission: "user_write", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Delete a cloud connection",
        body: DisconnectBody,
        response: { 200: DisconnectAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { id } = request.body;
        await disconnect(tx, callerOf(request), asId<CloudConnectionId>(id));
        const msg = `Cloud connection ${id} is deleted with its keys. Files in the storage stay as they are.`;
        return { success: true as const, msg };
      }),
  );
}

function listRoutes({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/users/cloud_integrations/",
    {
      config: { access: { operation: "api.cloud.integrations", permission: "user_read" } },
      schema: { tags: TAGS, summary: "List cloud connections, briefly", response: { 200: ConnectionsAnswer } },
    },
    async (request) => {
      const found = await listConnections(database.kysely, identityOf(request).userId);
      return found.map(({ id, provider, user_given_name: name }) => ({ id, name, cloud_type: provider }));
    },
  );
  app.get(
    PATH,
    {
      config: { access: { operation: "api.cloud.list", permission: "user_read" } },
      schema: { tags: TAGS, summary: "List cloud connections", response: { 200: StoredConnectionsAnswer } },
    },
    async (request) => (await listConnections(database.kysely, identityOf(request).userId)).map(view),
  );
}

/** Numbers of the kinds of storage, in the published order: drive, s3, b2, dropbox, hf. */
const SERVICE_IDS = { s3: 2, b2: 3, hf: 5 } as const;

function view({ provider, created_at: createdAt, ...connection }: CloudConnection) {
  return {
    ...connection,
    cloud_type: provider,
    cloud_service_id: SERVICE_IDS[provider],
    created_at: epochSeconds(createdAt),
  };
}
