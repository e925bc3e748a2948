// Exports that only administration uses.
export { PHASES, type Phase } from "./lifecycle/rules/lifecycle.ts";
export {
  countInstancesByPhase,
  countInstancesOfEach,
  countRentsSince,
  searchInstances,
  type FoundInstance,
  type InstanceSearch,
} from "./totals/found-store.ts";
