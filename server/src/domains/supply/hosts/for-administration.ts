// Exports that only administration uses.
export { countMachinesOfEach, searchMachines, type FoundMachine, type MachineSearch } from "./machines/found-store.ts";
export { listFlags, type HostFlag } from "./flags/store.ts";
