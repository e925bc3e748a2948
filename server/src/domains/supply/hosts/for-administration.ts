// Exports that only administration uses.
export { countOpenFlags, listFlags } from "./flags/store.ts";
export {
  countMachinesOfEach,
  countMachineStates,
  searchMachines,
  type FoundMachine,
  type MachineSearch,
} from "./machines/found-store.ts";
export { listGpuMachines } from "./machines/supply-store.ts";
