import { epochSeconds } from "../../../../base/clock.ts";
import type { PasskeyView } from "./schema.ts";
import type { Passkey } from "./store.ts";

/** A passkey without its key. */
export function viewPasskey({ id, label, isSynced, transports, createdAt, lastUsedAt }: Passkey): PasskeyView {
  return {
    id,
    label,
    is_synced: isSynced,
    transports: [...transports],
    created_at: epochSeconds(createdAt),
    last_used: lastUsedAt === undefined ? null : epochSeconds(lastUsedAt),
  };
}
