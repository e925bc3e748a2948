// Exports that only instances uses.
export type { HoldOutcome } from "./types.ts";
export { isHeldUntilStopped, findPendingHold, releaseHolds } from "./hold-store.ts";
