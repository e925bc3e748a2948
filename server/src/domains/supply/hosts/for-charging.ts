// Exports that only charging uses.
export { certainUntil, joinIntervals, type Interval } from "./presence/rules/coverage.ts";
