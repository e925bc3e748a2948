export type { BackupSettings } from "./backup.ts";
export { BackupEnds } from "./ends/backup-ends.ts";
export { BackupFolder } from "./folder.ts";
export { backupLoops, START_BACKUPS_LOOP } from "./loops.ts";
export { backupRoutes } from "./routes.ts";
export { concludeBackups, restore } from "./service.ts";
