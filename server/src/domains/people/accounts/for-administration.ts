// Exports that only administration uses.
export {
  countAccountParts,
  findAnyUser,
  listAddressesOf,
  searchUsers,
  type FoundUser,
  type UserSearch,
} from "./admin/found-user-store.ts";
export { listFreezesOf } from "./freeze-store.ts";
