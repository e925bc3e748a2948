// Exports that only instances uses.
export { openConnection } from "./service.ts";
