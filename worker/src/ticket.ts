import { createHmac, timingSafeEqual } from "node:crypto";
import type { AuthData } from "./routed-request.ts";

/**
 * True if the server gave exactly this request to the worker with this token: one HMAC-SHA256 covers endpoint,
 * worker, cost, number and time (docs/workers.md).
 */
export function isTicketGood(auth: AuthData, token: string): boolean {
  const { endpoint, url, cost, reqnum, requestIdx, expiresAt, ticket } = auth;
  const text = JSON.stringify(["berth ticket", endpoint, url, cost, reqnum, requestIdx, expiresAt]);
  const expected = createHmac("sha256", token).update(text).digest("base64url");
  return ticket.length === expected.length && timingSafeEqual(Buffer.from(ticket), Buffer.from(expected));
}
