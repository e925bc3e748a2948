import { epochSeconds } from "../../../base/clock.ts";
import type { AccountFreeze } from "../accounts/for-freezes.ts";

export function viewFreeze({ id, userId, reason, frozenBy, frozenAt, lifted }: AccountFreeze) {
  return {
    id,
    user_id: userId,
    reason,
    frozen_by: frozenBy,
    frozen_at: epochSeconds(frozenAt),
    lifted_by: lifted?.by ?? null,
    lifted_at: lifted === undefined ? null : epochSeconds(lifted.at),
    lift_reason: lifted?.reason ?? null,
  };
}
