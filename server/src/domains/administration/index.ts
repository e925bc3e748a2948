export { administrationRoutes } from "./routes.ts";
export type { SettingInForce } from "./settings/routes.ts";
export { readMarketFigures, type MarketFigures } from "./overview/figures-service.ts";
export { RENTS } from "./overview/routes.ts";
