import type { Identity } from "../../../base/identity.ts";

/** True when a key grants now what it granted before; sessions that only last longer are the same. */
export function hasSameRights(before: Identity, now: Identity): boolean {
  return before === now || textOf(before) === textOf(now);
}

function textOf({ session, ...identity }: Identity): string {
  return JSON.stringify([
    identity.userId,
    identity.apiKeyId,
    identity.memberId,
    identity.isAdmin,
    identity.permissions,
    identity.instanceId,
    session?.kind,
    identity.demandsTfa,
    identity.freeze?.id,
    identity.memberFreeze?.id,
    identity.view,
  ]);
}
