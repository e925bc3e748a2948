import path from "node:path";
import { BackupFolder, type BackupSettings } from "../domains/rental/backups/index.ts";
import { ConfigError } from "./config-error.ts";

/** The most that one backup may have, in GB, and the most days for which one is kept. */
const [GB_MAX, DAYS_MAX] = [10_000, 3_650];
const BYTES_PER_GB = 1_000_000_000;

/** The settings of backups; undefined where the operator names no folder. */
export function readBackupSettings(
  environment: Readonly<Record<string, string | undefined>>,
): BackupSettings | undefined {
  const limitGb = readCount("BERTH_BACKUP_LIMIT_GB", environment["BERTH_BACKUP_LIMIT_GB"] || "10", GB_MAX);
  const keptDays = readCount("BERTH_BACKUP_DAYS", environment["BERTH_BACKUP_DAYS"] || "30", DAYS_MAX);
  const directory = environment["BERTH_BACKUP_DIR"];
  return directory ? { directory: path.resolve(directory), limitBytes: limitGb * BYTES_PER_GB, keptDays } : undefined;
}

function readCount(name: string, text: string, max: number): number {
  const count = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw new ConfigError(`${name} must be a whole number from 1 to ${max}, not "${text}"`);
}

/**
 * Throws when the folder of backups cannot be used. It is not made here: where a disk is not mounted, backups would be
 * written to the disk below.
 */
export async function checkBackupFolder(settings: BackupSettings | undefined): Promise<void> {
  if (settings === undefined) return;
  try {
    await new BackupFolder(settings.directory).check();
  } catch (cause) {
    throw new ConfigError(
      `BERTH_BACKUP_DIR must be a folder that this server can write to, not "${settings.directory}": ${String(cause)}`,
    );
  }
}
