export { taskLoops } from "./loops.ts";
export { resultRoutes } from "./routes.ts";
export {
  cancelCopies,
  listNotes,
  loadOpenTasks,
  recordTaskMessage,
  requestResult,
  startCopyTask,
  startLongTask,
  type EndedTask,
  type TaskMeans,
} from "./service.ts";
export { findTransferHost, listProgress, TASKS_CHANNEL } from "./store.ts";
export { nameOf } from "./rules/task.ts";
