// The rows of backups of instances and volumes.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { sql } from "kysely";
import type { TestCaller } from "../support/fixtures.ts";
import { at, onObject, plain, type Row } from "./row.ts";
import { aListedMachine, anInstance, type World } from "./world.ts";

/** A whole backup of an instance of the user's, with its file; the id of the instance. */
async function aBackup(world: World, user: TestCaller): Promise<number> {
  const { id } = await anInstance(world, user);
  const { rows } = await sql<{ id: number }>`
    insert into instance_backups (kind, contract_id, user_id, machine_id, cause, status, attempt, size_bytes, created_at, made_at)
    select 'instance', id, user_id, machine_id, 'asked', 'success', 1, 4, now(), now() from instances where id = ${id}
    returning id
  `.execute(world.database.kysely);
  await writeFile(path.join(world.backupFolder, `${rows[0]?.id}-1.tar.gz`), "file");
  return id;
}

export const backupEndpoints = {
  "GET /api/v0/instance_backups/": plain("instance_read", "/api/v0/instance_backups/"),
  "GET /api/v0/instance_backups/{contract_id}/download/": onObject("instance_read", "contract_id", aBackup, (id) =>
    at(`/api/v0/instance_backups/${id}/download/`),
  ),
  "POST /api/v0/admin/machines/{id}/backups/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/machines/${await aListedMachine(world)}/backups/`, {}),
  },
} satisfies Readonly<Record<string, Row>>;

export const hiddenBackupEndpoints = {
  "GET /api/v0/instance_backups/{contract_id}/files/{name}/": {
    needs: "public",
    call: async (world) => {
      const path = `/api/v0/instance_backups/${await aBackup(world, world.owner)}/download/`;
      const { files, authorization_token: token } = await world.done("GET", at(path), world.owner);
      const [file] = files as readonly { readonly url: string }[];
      return at(`${new URL(file?.url ?? "").pathname}?Authorization=${String(token)}`);
    },
  },
} satisfies Readonly<Record<string, Row>>;
