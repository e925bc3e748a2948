// Exports that only measurements uses.
export { findMeasured, listMeasured, type Measured } from "./rentals/measured-service.ts";
