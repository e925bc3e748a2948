// Exports that only statistics uses.
export { findHostRole, listGpuMachines, type GpuMachine } from "./machines/supply-store.ts";
