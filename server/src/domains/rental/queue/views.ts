import { epochSeconds } from "../../../base/clock.ts";
import { toDollars } from "../../../base/money.ts";
import type { StandingRequest } from "./rules/standing-request.ts";

type Viewpoint = { readonly now: Date; readonly position: number | undefined };

const seconds = (at: Date | undefined) => (at === undefined ? null : epochSeconds(at));
const dollars = (amount: bigint | undefined) => (amount === undefined ? null : toDollars(amount));

/** The record of a request for its renter. Past its deadline it reads as expired, even before the row is closed. */
export function standingRequestRecord(request: StandingRequest, { now, position }: Viewpoint) {
  const isOver = request.status === "open" && request.expiresAt <= now;
  const status = isOver ? ("expired" as const) : request.status;
  return {
    id: request.id,
    status,
    reason: request.reason,
    position: status === "open" ? (position ?? null) : null,
    q: request.query,
    max_dph: dollars(request.totalMaxNanosPerHour),
    price: dollars(request.bidNanosPerHour),
    image: request.image,
    template_hash_id: request.templateHashId ?? null,
    disk: request.diskGb,
    label: request.label ?? null,
    created_at: epochSeconds(request.createdAt),
    expires_at: epochSeconds(request.expiresAt),
    attempted_at: seconds(request.attemptedAt),
    closed_at: isOver ? epochSeconds(request.expiresAt) : seconds(request.closedAt),
    instance_id: request.instanceId ?? null,
  };
}
