export { MATCH_LOOP, matchLoop, queueLoops } from "./loops.ts";
export { Matcher } from "./matcher.ts";
export { queueRoutes } from "./routes.ts";
export { STANDING_REQUESTS_CHANNEL } from "./store.ts";
export { cancelRequestsOf, countOpenRequestsOf } from "./belongings-store.ts";
export { encryptEarlierRequests } from "./encryption-store.ts";
