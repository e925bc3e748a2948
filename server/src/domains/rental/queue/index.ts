export { MATCH_LOOP, matchLoop, waitlistLoops } from "./loops.ts";
export { Matcher } from "./matcher.ts";
export { waitlistRoutes } from "./routes.ts";
export { STANDING_REQUESTS_CHANNEL } from "./store.ts";
export { cancelRequestsOf, countOpenRequestsOf } from "./belongings-store.ts";
export { sealEarlierRequests } from "./encryption-store.ts";
