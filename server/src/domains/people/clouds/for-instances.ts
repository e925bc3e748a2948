// Exports that only instances uses.
export { openConnection } from "./service.ts";
export type { CloudSettings } from "./rules/connection.ts";
