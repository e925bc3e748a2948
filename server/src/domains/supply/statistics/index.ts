export { statisticsLoops } from "./loops.ts";
export { statisticsRoutes } from "./routes.ts";
