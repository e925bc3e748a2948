// Exports that only audit uses.
export {
  findNextEventId,
  listEventBuckets,
  listEventIds,
  listEventTexts,
  listToldTransferBuckets,
  listToldTransferIds,
  listToldTransfers,
} from "./audit-log/audit-store.ts";
export { listStatedFreezes } from "./freeze-store.ts";
