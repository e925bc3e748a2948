// Exports that only volumes uses.
export { hostIdOf, isOwnedBy } from "./machines/owner-store.ts";
