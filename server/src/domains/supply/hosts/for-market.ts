// Exports that only market uses.
export { usualNanosPerHour } from "./terms/rules/gpu-prices.ts";
export { USUAL_CORE_NANOS_PER_HOUR, USUAL_DISK_NANOS_PER_GB_MONTH } from "./terms/rules/listing.ts";
