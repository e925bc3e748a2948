// Exports that only administration uses.
export {
  countAccountParts,
  findAnyUser,
  listAddressesOf,
  searchUsers,
  type FoundUser,
  type UserSearch,
} from "./admin/found-user-store.ts";
export { listMemberships } from "./team-accounts/member-store.ts";
export { lockBelongings } from "./users/store.ts";
export { listFreezesOf } from "./freeze-store.ts";
