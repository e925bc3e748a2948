import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import {
  AttachNamedKeyBody,
  AttachSshKeyBody,
  IdParams,
  KeyAttached,
  Message,
  SshKeyParams,
  SshKeys,
} from "../schema.ts";
import {
  attachInstanceKey,
  attachNamedKey,
  detachInstanceKey,
  listInstanceKeys,
  type KeyRequest,
} from "./ssh-service.ts";
import { viewInstanceKeys } from "../views.ts";
import type { AttachedKey } from "../../../people/accounts/for-instances.ts";

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
        response: { 200: KeyAttached },
      },
    },
    (request) =>
      mutate(request, async (tx) =>
        viewAttached(await attachInstanceKey(tx, requestOf(request), request.body.ssh_key)),
      ),
  );

  app.put(
    PATH,
    {
      config: { access: { operation: "api.instance.put_ssh_key", permission: "instance_write" } },
      schema: {
        summary: "Attach an SSH key of the account to an instance, and show it",
        params: IdParams,
        body: AttachNamedKeyBody,
        response: { 200: KeyAttached },
      },
    },
    (request) =>
      mutate(request, async (tx) => viewAttached(await attachNamedKey(tx, requestOf(request), request.body))),
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

function viewAttached(attached: AttachedKey) {
  const { id, instanceId, isNew } = attached;
  const msg = `SSH key ${id} ${isNew ? "is" : "was"} attached to instance ${instanceId}${isNew ? "" : " already"}.`;
  const [key] = viewInstanceKeys([attached]);
  return { success: true as const, msg, key: JSON.stringify(key) };
}

function requestOf(
  request: Parameters<typeof identityOf>[0] & { readonly params: { readonly id: number } },
): KeyRequest {
  return { caller: callerOf(request), instanceId: request.params.id };
}
