import { createHmac } from "node:crypto";
import { epochSeconds } from "../../../../base/clock.ts";
import type { UserId } from "../../../../base/ids.ts";
import { slugOf } from "../../rules/notification-types.ts";

/** The event that receivers of a webhook get. */
export type NotificationEvent = {
  /** Equal at every attempt and for every receiver, so that a repetition can be recognised. */
  readonly eventId: string;
  readonly userId: UserId;
  readonly kind: string;
  readonly subject: string;
  readonly message: string;
  readonly createdAt: Date;
};

export type SignedRequest = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

export function eventIdOf(notificationId: bigint): string {
  return `evt_${notificationId}`;
}

/**
 * The request that delivers an event, as receivers verify it (docs/notifications.md#webhooks). Each attempt is signed
 * for its own time.
 */
export function signedRequest(
  event: NotificationEvent,
  { secret, attempt, now }: { readonly secret: string; readonly attempt: number; readonly now: Date },
): SignedRequest {
  const body = Buffer.from(
    JSON.stringify({
      event_id: event.eventId,
      user_id: event.userId,
      notif_type: slugOf(event.kind),
      subject: event.subject,
      message: event.message,
      timestamp: epochSeconds(event.createdAt),
    }),
  );
  const timestamp = String(Math.floor(epochSeconds(now)));
  const signature = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
  return {
    body,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": String(body.length),
      "User-Agent": "Berth-Webhooks",
      "X-Vast-Event-Id": event.eventId,
      "X-Vast-Delivery-Attempt": String(attempt),
      "X-Vast-Timestamp": timestamp,
      "X-Vast-Signature-256": `sha256=${signature}`,
    },
  };
}
