export { ENFORCE_LOOP, freezeLoops } from "./loops.ts";
export { freezeRoutes } from "./routes.ts";
