// Exports that only assembly uses.
export { readTaskQueue } from "./store.ts";
