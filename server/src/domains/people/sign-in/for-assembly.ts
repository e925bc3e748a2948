// Exports that only assembly uses.
export { collectSignInData, eraseSignInData } from "./personal-data-store.ts";
