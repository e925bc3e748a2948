export { administrationRoutes } from "./routes.ts";
export { PauseWatch } from "./pauses/pause-watch.ts";
export { PAUSES_CHANNEL } from "./pauses/store.ts";
export type { SettingInForce } from "./settings/routes.ts";
export { readMarketFigures, type MarketFigures } from "./overview/figures-service.ts";
export { RENTS } from "./overview/routes.ts";
