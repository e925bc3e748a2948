// Exports that only administration uses.
export {
  countAccountParts,
  findAnyUser,
  listAddressesOf,
  searchUsers,
  type AccountCounts,
  type FoundUser,
  type UserSearch,
} from "./admin/found-user-store.ts";
export { listFreezesOf, type AccountFreeze } from "./freeze-store.ts";
