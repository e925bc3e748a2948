export { appointMember, dismissMember } from "./appointments.ts";
export { teamLoops } from "./loops.ts";
export { teamRoutes } from "./routes.ts";
