import path from "node:path";
import { become } from "../../become.ts";
import { readClock } from "../../clock.ts";
import { UserError } from "../../failure.ts";
import { requireCheckout } from "../../rooms.ts";

export type BackupOptions = { readonly dataDir: string; readonly unverified?: boolean };

export type RestoreOptions = { readonly dataDir: string; readonly replace?: boolean; readonly external?: boolean };

/** Becomes the program that backs the embedded database up. Does not return. */
export async function backup(file: string | undefined, { dataDir, unverified = false }: BackupOptions): Promise<void> {
  const time = readClock().toISOString().slice(0, 19).replaceAll(":", "");
  const target = path.resolve(file ?? `berth-backup-${time}Z.tar.gz`);
  const options = ["--file", target, "--data-dir", path.resolve(dataDir), ...(unverified ? ["--unverified"] : [])];
  await become([path.join(requireCheckout(), "server/src/backup-main.ts"), ...options], process.env);
}

/** Becomes the program that restores a backup, or that prepares an external database after its restore. */
export async function restore(
  file: string | undefined,
  { dataDir, replace = false, external: isExternal = false }: RestoreOptions,
): Promise<void> {
  if (isExternal === (file !== undefined)) {
    throw new UserError(
      "Give the file of a backup, or --external for a database that PostgreSQL's own tools have restored.",
      "Such as `./berth restore berth-backup.tar.gz`.",
      2,
    );
  }
  const hasUrl = ["DATABASE_URL", "DATABASE_URL_FILE"].some((name) => (process.env[name] ?? "") !== "");
  if (isExternal && !hasUrl) {
    throw new UserError("--external needs DATABASE_URL.", "Set it as the server has it.", 2);
  }
  const source = file === undefined ? ["--external"] : ["--file", path.resolve(file)];
  const options = [...source, "--data-dir", path.resolve(dataDir), ...(replace ? ["--replace"] : [])];
  await become([path.join(requireCheckout(), "server/src/restore-main.ts"), ...options], process.env);
}
