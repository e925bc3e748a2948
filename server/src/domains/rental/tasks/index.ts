export { taskLoops } from "./loops.ts";
export { resultRoutes } from "./routes.ts";
export {
  cancelCloudCopies,
  cancelCopies,
  listNotes,
  loadOpenTasks,
  recordTaskMessage,
  requestResult,
  startBackupTask,
  startCloudCopyTask,
  startCopyTask,
  startLongTask,
  startRestoreTask,
  type EndedTask,
  type TaskMeans,
} from "./service.ts";
export {
  findBackupTransfer,
  findTransferHost,
  listProgress,
  setEnd,
  TASKS_CHANNEL,
  type BackupTransfer,
} from "./store.ts";
export { backupNameOf, nameOf } from "./rules/task.ts";
