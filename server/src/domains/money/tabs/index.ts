export {
  clearUnmeteredHolds,
  findHold,
  isMetered,
  isSettled,
  makeDue,
  openTabs,
  setHold,
  startMetering,
  storageChargedUntil,
} from "./tab-store.ts";
