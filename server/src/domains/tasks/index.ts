export { taskLoops } from "./loops.ts";
export { resultRoutes } from "./routes.ts";
export {
  cancelCopies,
  listNotes,
  loadOpenTasks,
  recordTaskMessage,
  requestResult,
  startLongTask,
  type TaskMeans,
} from "./service.ts";
export { TASKS_CHANNEL } from "./store.ts";
export { nameOf } from "./task.ts";
