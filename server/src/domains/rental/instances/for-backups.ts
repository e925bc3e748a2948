// Exports that only backups uses.
export { listInstancesNearEnd, listInstancesToKeep } from "./rentals/backup-store.ts";
