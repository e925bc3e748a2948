export { grantCredit } from "./grants.ts";
export { billingRoutes } from "./routes.ts";
