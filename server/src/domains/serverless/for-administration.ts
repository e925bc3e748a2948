// Exports that only administration uses.
export { countServerless } from "./endpoints/belongings-store.ts";
