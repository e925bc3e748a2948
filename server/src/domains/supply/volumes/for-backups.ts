// Exports that only backups uses.
export { listVolumesNearEnd, listVolumesToKeep } from "./local/backup-store.ts";
