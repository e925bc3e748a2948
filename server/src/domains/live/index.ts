export { LiveHub } from "./hub.ts";
export { liveLoops } from "./loops.ts";
export { liveRoutes } from "./routes.ts";
