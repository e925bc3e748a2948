import type { CapScope } from "../../money/ledger/index.ts";
import type { Instance } from "./instance.ts";

/** The scopes whose caps an instance's spending counts against: its account's, its own, and those of its order. */
export function scopesOf({
  id,
  userId,
  capScopes,
}: Pick<Instance, "id" | "userId" | "capScopes">): readonly CapScope[] {
  return [`account:${userId}`, `instance:${id}`, ...capScopes];
}
