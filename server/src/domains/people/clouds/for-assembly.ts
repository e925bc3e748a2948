// Exports that only assembly uses.
export { eraseCloudData } from "./personal-data-store.ts";
