// Exports that only listings uses.
export { keepBackground, listOutOfStep, removeBackground } from "./rentals/background-service.ts";
export { takeEndingRentals } from "./rentals/ending-store.ts";
export type { Actor } from "./instance.ts";
export { followTerms, noteOnRentals } from "./rentals/rental-service.ts";
export { reschedule } from "./lifecycle/transitions.ts";
export { hasRentedOn } from "./rentals/rental-store.ts";
