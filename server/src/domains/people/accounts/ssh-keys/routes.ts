import { invalid } from "../../../../base/errors.ts";
import { parseId, type SshKeyId } from "../../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { ACCOUNT_TAGS } from "../route-ports.ts";
import { DoneResponse, KeyIdParams, SshKeyBody, SshKeyResponse, SshKeysResponse } from "../schema.ts";
import { changeSshKey, createSshKey, removeSshKey } from "./service.ts";
import { listSshKeys } from "./store.ts";
import { viewSshKey } from "../views.ts";

const PATH = "/api/v0/ssh/";

/** The SSH keys of an account, which are copied into every later instance. */
export function sshKeyRoutes({ app, database, mutate }: HttpScope): void {
  app.post(
    PATH,
    {
      config: { access: { operation: "api.ssh_key.create", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Add an SSH key; one that is there already is answered again",
        body: SshKeyBody,
        response: { 200: SshKeyResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const key = await createSshKey(tx, callerOf(request), request.body.ssh_key);
        return { success: true as const, key: viewSshKey(key) };
      }),
  );

  app.get(
    PATH,
    {
      config: { access: { operation: "api.ssh_key.list", permission: "user_read" } },
      schema: { tags: ACCOUNT_TAGS, summary: "Show own SSH keys", response: { 200: SshKeysResponse } },
    },
    async (request) => (await listSshKeys(database.kysely, identityOf(request).userId)).map(viewSshKey),
  );

  app.put(
    `${PATH}:id/`,
    {
      config: { access: { operation: "api.ssh_key.update", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Replace an SSH key; instances keep what they were made with",
        params: KeyIdParams,
        body: SshKeyBody,
        response: { 200: SshKeyResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = readSshKeyId(request.params.id);
        const key = await changeSshKey(tx, callerOf(request), id, request.body.ssh_key);
        return { success: true as const, key: viewSshKey(key) };
      }),
  );

  app.delete(
    `${PATH}:id/`,
    {
      config: { access: { operation: "api.ssh_key.delete", permission: "user_write", limit: "keys" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Delete an SSH key; instances keep what they were made with",
        params: KeyIdParams,
        response: { 200: DoneResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        await removeSshKey(tx, callerOf(request), readSshKeyId(request.params.id));
        return { success: true as const };
      }),
  );
}

/** The id in a path; undefined for a number that no key can have. */
function readSshKeyId(text: string): SshKeyId | undefined {
  if (!/^\d+$/.test(text)) throw invalid("id", "id must be the number of an SSH key", "invalid_request");
  return parseId<SshKeyId>(text);
}
