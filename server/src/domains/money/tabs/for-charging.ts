// Exports that only charging uses.
export { forgetHold, isHoldOnTab, makeUnheldDue, scheduleSettlement } from "./repair-store.ts";
