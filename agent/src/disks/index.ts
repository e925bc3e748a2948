export { checkDisks } from "./check.ts";
export { createDisks, type Disks, type OpenDisk } from "./disks.ts";
export { simulatedDisks } from "./simulated.ts";
