// Exports that only administration uses.
export { searchDocuments } from "./documents/found-store.ts";
