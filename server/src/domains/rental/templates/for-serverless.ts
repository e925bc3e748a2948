// Exports that only serverless uses.
export { listPublicHashes } from "./store.ts";
