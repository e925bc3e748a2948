export { creditNoticeLoop } from "./credit-notice-loop.ts";
export { moveCredit } from "./credit-transfer.ts";
export { grantCredit } from "./grants.ts";
export { billingLoops } from "./loops.ts";
export { billingRoutes } from "./routes.ts";
export { UNNAMED_SELLER, type Seller } from "./seller.ts";
export { listWrongDocuments } from "./document-audit.ts";
