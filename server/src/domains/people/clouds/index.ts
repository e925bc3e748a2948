export { cloudRoutes } from "./routes.ts";
