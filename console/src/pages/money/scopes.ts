// Words of limits: what one limits, and in which period.
import type { Cap } from "../../../../sdk/src/index.ts";

export const PERIOD_WORDS: Readonly<Record<Cap["period"], string>> = {
  day: "per day",
  month: "per month",
  total: "in total",
};

/** `The whole account`, `Key 7`. */
export function scopeText({ scope, scope_id: id }: Pick<Cap, "scope" | "scope_id">): string {
  return scope === "account" ? "The whole account" : `${scope.charAt(0).toUpperCase()}${scope.slice(1)} ${id}`;
}
