export { defaultJobLoop } from "./job-service.ts";
export { hostingNoticeLoops } from "./notice-loops.ts";
export { rollListingsLoop } from "./listing-service.ts";
export { hostingRoutes } from "./routes.ts";
