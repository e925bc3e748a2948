// Exports that only freezes uses.
export {
  findOpenFreeze,
  findOwnFreeze,
  followFreezes,
  insertFreeze,
  listFreezes,
  listUnfrozenTeamsOf,
  lockWithSubaccounts,
  storeLift,
  type AccountFreeze,
} from "./freeze-store.ts";
