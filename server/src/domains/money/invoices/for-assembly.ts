// Exports that only assembly uses.
export { collectDocumentData } from "./account-documents/personal-data-store.ts";
