export { arrearsLoops } from "./loops.ts";
export { arrearsRoutes } from "./routes.ts";
