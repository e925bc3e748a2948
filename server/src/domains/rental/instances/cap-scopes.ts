import type { CapScope } from "../../money/ledger/index.ts";
import type { Instance } from "./instance.ts";

/** Whose limits an instance's spending counts against: its account's, its own, and those that it was made with. */
export function scopesOf({
  id,
  userId,
  capScopes,
}: Pick<Instance, "id" | "userId" | "capScopes">): readonly CapScope[] {
  return [`account:${userId}`, `instance:${id}`, ...capScopes];
}
