export { noGpuAccess, realGpuAccess } from "./access.ts";
export { watchGpus, type GpuAccess, type GpuWatch } from "./watch.ts";
