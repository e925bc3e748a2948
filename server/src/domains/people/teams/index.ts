export { teamLoops } from "./loops.ts";
export { teamRoutes } from "./routes.ts";
