import type { UserId, WebhookId } from "../../../../base/ids.ts";
import { findNotificationType, type Channels } from "../../rules/notification-types.ts";
import { effectiveChannels, type StoredPreference } from "../../rules/preferences.ts";
import type { Webhook } from "../../webhooks/rules/webhook.ts";

export type Unplanned = { readonly id: bigint; readonly userId: UserId; readonly kind: string };
export type PlannedDelivery = {
  readonly notificationId: bigint;
  readonly userId: UserId;
  /** The webhook; undefined for an e-mail. */
  readonly webhookId: WebhookId | undefined;
};

type Wishes = {
  readonly preferences: readonly (StoredPreference & { readonly userId: UserId })[];
  readonly webhooks: readonly Webhook[];
  /** Without a mail server, no e-mail is planned. */
  readonly canMail: boolean;
};

/** Deliveries of notifications by channel. A notification of an unknown kind is only shown in the inbox. */
export function planDeliveries(
  notifications: readonly Unplanned[],
  { preferences, webhooks, canMail }: Wishes,
): readonly PlannedDelivery[] {
  const said = new Map<string, Channels>(preferences.map((one) => [`${one.userId} ${one.kind}`, one]));
  const byUser = Map.groupBy(webhooks, (webhook) => webhook.userId);
  return notifications.flatMap(({ id: notificationId, userId, kind }) => {
    const type = findNotificationType(kind);
    if (type === undefined) return [];
    const wanted = effectiveChannels(type, said.get(`${userId} ${kind}`));
    const called = wanted.webhooks
      ? (byUser.get(userId) ?? []).filter(({ eventTypes }) => eventTypes.includes(kind))
      : [];
    const mailed = wanted.email && canMail ? [{ notificationId, userId, webhookId: undefined }] : [];
    return [...mailed, ...called.map(({ id: webhookId }) => ({ notificationId, userId, webhookId }))];
  });
}
