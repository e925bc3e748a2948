// Exports that only hosts uses.
export { isLiveUser } from "./users/store.ts";
