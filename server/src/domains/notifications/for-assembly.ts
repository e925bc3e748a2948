// Exports that only assembly uses.
export { readDueDeliveries } from "./delivery/store.ts";
export { collectNotificationData, eraseNotificationData } from "./personal-data-store.ts";
