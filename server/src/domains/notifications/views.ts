import { epochSeconds } from "../../base/clock.ts";
import { eventIdOf } from "./delivery/rules/event.ts";
import type { StoredDelivery, StoredNotification, WebhookDelivery } from "./inbox/store.ts";
import type { NotificationType } from "./rules/notification-types.ts";
import type { Webhook } from "./webhooks/rules/webhook.ts";

const seconds = (at: Date | undefined) => (at === undefined ? null : epochSeconds(at));

export function viewType({ displayName, defaults, isEmailMandatory, topic, ...type }: NotificationType) {
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

export function viewNotification(notification: StoredNotification, deliveries: readonly StoredDelivery[]) {
  return {
    id: Number(notification.id),
    event_id: eventIdOf(notification.id),
    type: notification.kind,
    subject: notification.subject,
    message: notification.message,
    created_at: epochSeconds(notification.createdAt),
    read_at: seconds(notification.readAt),
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

export function viewWebhookDelivery(delivery: WebhookDelivery) {
  return {
    event_id: eventIdOf(delivery.notificationId),
    type: delivery.kind,
    subject: delivery.subject,
    state: delivery.state,
    attempt_count: delivery.attemptCount,
    outcome: delivery.outcome,
    created_at: epochSeconds(delivery.createdAt),
    next_attempt_at: seconds(delivery.dueAt),
    ended_at: seconds(delivery.endedAt),
  };
}
