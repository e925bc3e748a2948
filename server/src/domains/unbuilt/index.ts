export { unbuiltRoutes } from "./routes.ts";
