// Exports that only administration uses.
export { listMoneyOf, NO_MONEY, readHouse, type House, type UserMoney } from "./house-store.ts";
