// Exports that only serverless uses.
export { findMachinesFor, type MachinesFor } from "./orders/barred-images.ts";
export { subjectOf } from "./access/certificates.ts";
export { requireOwnSpending } from "./own-spending.ts";
export { startInstance, stopInstance } from "./service.ts";
export { listInstanceFacts, type InstanceFacts } from "./facts-store.ts";
export { listWorkloads } from "./workload-store.ts";
export { listSites, type Site } from "./access/site-service.ts";
export { WORKER_GROUP_VARIABLE } from "./settings/rules/platform-env.ts";
export { renewFromWish } from "./tasks/renewal-service.ts";
