import type { FieldWords } from "./schemas.ts";
export const FIELDS: FieldWords = {};
