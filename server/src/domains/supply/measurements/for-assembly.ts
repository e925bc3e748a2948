// Exports that only assembly uses.
export { MeasurementIntake } from "./intake.ts";
export { measurementLoops } from "./loops.ts";
export { measurementRoutes } from "./routes.ts";
