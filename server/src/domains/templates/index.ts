export { resolveLaunch, type LaunchSettings } from "./launch.ts";
export { templateRoutes } from "./routes.ts";
export { recordTemplateUse, resolveTemplateByHash } from "./service.ts";
