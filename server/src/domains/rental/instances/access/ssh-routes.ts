import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { AttachSshKeyBody, IdParams, Message, SshKeyParams, SshKeys } from "../schema.ts";
import { attachInstanceKey, detachInstanceKey, listInstanceKeys, type KeyRequest } from "./ssh-service.ts";
import { viewInstanceKeys } from "../views.ts";

const PATH = "/api/v0/instances/:id/ssh/";

/** SSH keys of one instance. A change takes effect at once, in a running instance too. */
export function instanceSshRoutes({ app, database, mutate }: HttpScope): void {
  app.post(
    PATH,
    {
      config: { access: { operation: "api.instance.attach_ssh_key", permission: "instance_write" } },
      schema: {
        summary: "Attach an SSH key to an instance; it takes effect at once",
        params: IdParams,
        body: AttachSshKeyBody,
        response: { 200: Message },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { id, isNew } = await attachInstanceKey(tx, requestOf(request), request.body.ssh_key);
        const what = isNew ? "is attached to" : "was attached to";
        const msg = `SSH key ${id} ${what} instance ${request.params.id}${isNew ? "" : " already"}.`;
        return { success: true as const, msg };
      }),
  );

  app.get(
    PATH,
    {
      config: { access: { operation: "api.instance.list_ssh_keys", permission: "instance_read" } },
      schema: { summary: "Show the SSH keys of an instance", params: IdParams, response: { 200: SshKeys } },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const keys = await listInstanceKeys(database.kysely, userId, request.params.id);
      return { success: true as const, ssh_keys: JSON.stringify(viewInstanceKeys(keys)) };
    },
  );

  app.delete(
    `${PATH}:key_id/`,
    {
      config: { access: { operation: "api.instance.detach_ssh_key", permission: "instance_write" } },
      schema: {
        summary: "Remove an SSH key from an instance; it takes effect at once",
        params: SshKeyParams,
        response: { 200: Message },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        await detachInstanceKey(tx, requestOf(request), request.params.key_id);
        return { success: true as const, msg: "SSH key removed from instance." };
      }),
  );
}

function requestOf(
  request: Parameters<typeof identityOf>[0] & { readonly params: { readonly id: number } },
): KeyRequest {
  return { caller: callerOf(request), instanceId: request.params.id };
}
