export { capLoops } from "./loops.ts";
export { capRoutes } from "./routes.ts";
export { refuseNewKeys } from "./service.ts";
