import { epochSeconds } from "../../base/clock.ts";
import { eventIdOf } from "./delivery/rules/event.ts";
import type { StoredDelivery, StoredNotice } from "./inbox/store.ts";
import type { NoticeType } from "./rules/notification-types.ts";
import type { Webhook } from "./webhooks/rules/webhook.ts";

const seconds = (at: Date | undefined) => (at === undefined ? null : epochSeconds(at));

export function viewType({ displayName, defaults, isEmailMandatory, topic, ...type }: NoticeType) {
  return {
    ...type,
    topic,
    category: topic,
    display_name: displayName,
    default_preferences: defaults,
    mandatory_email: isEmailMandatory,
  };
}

export function viewWebhook(webhook: Webhook) {
  return {
    id: webhook.id,
    user_id: webhook.userId,
    name: webhook.name ?? null,
    webhook_url: webhook.url,
    event_types: [...webhook.eventTypes],
    created_at: epochSeconds(webhook.createdAt),
    updated_at: epochSeconds(webhook.updatedAt),
  };
}

export function viewNotice(notice: StoredNotice, deliveries: readonly StoredDelivery[]) {
  return {
    id: Number(notice.id),
    event_id: eventIdOf(notice.id),
    type: notice.kind,
    subject: notice.subject,
    message: notice.message,
    created_at: epochSeconds(notice.createdAt),
    read_at: seconds(notice.readAt),
    deliveries: deliveries.map((delivery) => ({
      channel: delivery.channel,
      webhook_id: delivery.webhookId ?? null,
      state: delivery.state,
      attempt_count: delivery.attemptCount,
      outcome: delivery.outcome,
      next_attempt_at: seconds(delivery.dueAt),
      ended_at: seconds(delivery.endedAt),
    })),
  };
}
