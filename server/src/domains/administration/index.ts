export { administrationRoutes } from "./routes.ts";
export type { SettingInForce } from "./settings/routes.ts";
