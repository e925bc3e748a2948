import type { RouteAccess } from "./access.ts";
import { forbidden, type AppError } from "./errors.ts";
import type { Freeze, Identity } from "./identity.ts";

/** The refusal of everything that a frozen account would begin (`account_frozen`, 403). */
export function accountFrozen({ id, reason }: Freeze): AppError {
  const message = `This account is frozen: ${withoutEnd(reason)}. Ask the operator of this server about freeze ${id}; until it is lifted you may read and delete what is yours.`;
  return forbidden(message, "account_frozen", { extra: { freeze_id: id } });
}

/**
 * Refuses a call of a frozen account, whichever of its keys makes it. Reading stays, and so does deleting, which moves no
 * money elsewhere and stops what the account pays for. A member of a team who is frozen only reads there: what would be
 * deleted is the team's.
 */
export function refuseFrozen({ freeze, memberFreeze }: Identity, method: string, access: RouteAccess) {
  const isRead = method === "GET" || method === "HEAD";
  if (isRead) return undefined;
  if (memberFreeze !== undefined) return accountFrozen(memberFreeze);
  const isFree = method === "DELETE" && access.movesMoney !== true;
  return freeze === undefined || isFree ? undefined : accountFrozen(freeze);
}

function withoutEnd(reason: string): string {
  return reason.trim().replace(/[.!?]+$/, "");
}
