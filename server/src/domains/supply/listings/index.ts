export { defaultJobLoop } from "./job-service.ts";
export { lowerPricesLoop } from "./ceiling-loop.ts";
export { hostingNotificationLoops } from "./notification-loops.ts";
export { rollListingsLoop } from "./listing-service.ts";
export { hostingRoutes } from "./routes.ts";
export { encryptEarlierJobs } from "./store.ts";
