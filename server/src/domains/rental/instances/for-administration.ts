// Exports that only administration uses.
export { stopByOperator } from "./lifecycle/freeze-service.ts";
export { PHASES } from "./lifecycle/rules/lifecycle.ts";
export {
  countInstancesByPhase,
  countInstancesOfEach,
  countRentsSince,
  searchInstances,
  type FoundInstance,
} from "./totals/found-store.ts";
