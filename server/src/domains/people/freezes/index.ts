export { ENFORCE_LOOP, freezeLoops } from "./loops.ts";
export { freezeRoutes } from "./routes.ts";
export { freezeAbandonedTeam } from "./service.ts";
