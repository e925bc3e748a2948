import type { RouteAccess } from "./access.ts";
import { unauthenticated, type AppError } from "./errors.ts";
import type { Identity } from "./identity.ts";

/** Operations that destroy something, or give it or access to it away, by another method than DELETE. */
const DESTRUCTIVE: ReadonlySet<string> = new Set([
  "api.apikey.reset",
  "api.billing.choose_payout_method",
  "api.billing.transfer_credit",
  "api.instance.recycle",
  "api.machine.cleanup",
  "api.machine.force_delete",
  "api.subaccount.regenerate_keys",
  "api.team.create",
  "api.team.invite",
  "api.team.transfer",
  "api.user.update",
]);

/**
 * Refuses what destroys something to a key that demands a second factor for it. Published clients look for the words "Two
 * Factor Authentication". Changes of second factors need a code of their own.
 */
export function refuseWithoutFactor(
  { demandsTfa = false }: Identity,
  method: string,
  { operation }: RouteAccess,
): AppError | undefined {
  if (!demandsTfa || operation.startsWith("api.tfa.") || operation === "api.session.end") return undefined;
  const isAdministration = operation.startsWith("api.admin.") && method !== "GET";
  if (method !== "DELETE" && !isAdministration && !DESTRUCTIVE.has(operation)) return undefined;
  const message =
    "Two Factor Authentication is required: this key demands it for what destroys something. POST /api/v0/tfa/ with it gives a session that may.";
  return unauthenticated(message, "tfa_required");
}
