import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { instanceDetachSshKey, instanceListSshKeys, instancePutSshKey } from "../../../sdk/src/operations.ts";
import type { Client } from "../../../sdk/src/client.ts";
import { ownKeyFiles } from "../commands/ssh-key/public-key.ts";
import { UserError } from "../failure.ts";

/** The key that a copy logs in with: options of ssh, and the way to be rid of a key that was made for this copy. */
export type CopyKey = {
  readonly sshOptions: readonly string[];
  /** True when the host has only just been told of the key. */
  readonly isNew: boolean;
  remove(): Promise<void>;
};

const run = promisify(execFile);

/**
 * The key file that the caller names; else a key in `~/.ssh` that the instance has; else a key that is made for this
 * copy, in this folder, and attached to the instance until `remove`.
 */
export async function copyKeyFor(
  client: Client,
  instance: { readonly id: number; readonly folder: string },
  identity: string | undefined,
): Promise<CopyKey> {
  const named = identity ?? (await ownKeyOf(client, instance.id));
  if (named !== undefined) {
    return { sshOptions: ["-i", named], isNew: false, remove: async () => undefined };
  }
  return makeKey(client, instance);
}

async function ownKeyOf(client: Client, id: number): Promise<string | undefined> {
  const { ssh_keys: text } = await instanceListSshKeys(client, { id });
  const bodies = new Set(readKeys(text).map(({ public_key: line }) => bodyOf(line)));
  return ownKeyFiles().find(({ line }) => bodies.has(bodyOf(line)))?.file;
}

function bodyOf(line: string): string {
  return line.split(" ")[1] ?? "";
}

async function makeKey(
  client: Client,
  { id, folder }: { readonly id: number; readonly folder: string },
): Promise<CopyKey> {
  const file = path.join(folder, "id_ed25519");
  await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "berth-copy", "-f", file]).catch((error: unknown) => {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw isMissing
      ? new UserError("There is no ssh-keygen here.", "On Debian or Ubuntu: apt install openssh-client")
      : error;
  });
  const line = (await readFile(`${file}.pub`, "utf8")).trim();
  const { key } = await instancePutSshKey(client, { id, body: { ssh_key: line } });
  const [{ id: keyId } = { id: 0 }] = readKeys(`[${key}]`);
  return {
    // With keys of an agent first, the server would end the login after some attempts.
    sshOptions: ["-i", file, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"],
    isNew: true,
    remove: async () => {
      await instanceDetachSshKey(client, { id, key_id: keyId }).catch(() => {
        process.stderr.write(
          `The key that was made for this copy is still attached. Remove it: berth detach-ssh ${id} ${keyId}\n`,
        );
      });
    },
  };
}

type Row = { readonly id: number; readonly public_key: string };

/** The rows of a JSON text; those that are no keys are left out. */
function readKeys(text: string): readonly Row[] {
  const rows: unknown = JSON.parse(text);
  return Array.isArray(rows) ? rows.filter(isRow) : [];
}

function isRow(row: unknown): row is Row {
  if (typeof row !== "object" || row === null) return false;
  return "id" in row && typeof row.id === "number" && "public_key" in row && typeof row.public_key === "string";
}
