// Exports that only administration uses.
export { listMoneyOf, NO_MONEY, type UserMoney } from "./house-store.ts";
