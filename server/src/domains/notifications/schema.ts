import { Type, type Static } from "typebox";
import { model } from "../../http/model.ts";

const Time = Type.Number();
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const Done = Type.Literal(true);

export const TypesResponse = Type.Object({
  success: Done,
  notification_types: Type.Array(
    model("NotificationType", {
      key: Type.String(),
      slug: Type.String(),
      context: Type.Union([Type.Literal("client"), Type.Literal("host")]),
      topic: Nullable(Type.String()),
      category: Type.String(),
      display_name: Type.String(),
      default_preferences: Type.Object({ email: Type.Boolean(), webhooks: Type.Boolean() }),
      mandatory_email: Type.Boolean({ description: "True when its e-mails cannot be switched off" }),
    }),
  ),
});

const Preferences = Type.Record(Type.String(), Type.Record(Type.String(), Type.Record(Type.String(), Type.Boolean())), {
  description: 'By context and slug: {"client": {"low_credit": {"email": true, "webhooks": false}}}',
});
export const UserIdParams = Type.Object({ user_id: Type.String() });
export const PreferencesBody = Type.Object({ notification_preferences: Preferences });
export const PreferencesResponse = model("NotificationPreferences", {
  success: Done,
  notification_preferences: Preferences,
});

const Name = Nullable(Type.String());
const Url = Type.String({ description: "An https address, at most 2048 characters" });
const EventTypes = Type.Array(Type.String(), { maxItems: 200, description: "Keys of notification types" });
export const WebhookBody = Type.Object({
  webhook_url: Url,
  event_types: EventTypes,
  name: Type.Optional(Name),
});
export const WebhookChanges = Type.Object({
  webhook_url: Type.Optional(Url),
  event_types: Type.Optional(EventTypes),
  name: Type.Optional(Name),
});
export const WebhookParams = Type.Object({ id: Type.String() });

const Webhook = model("Webhook", {
  id: Type.Integer(),
  user_id: Type.Integer(),
  name: Nullable(Type.String()),
  webhook_url: Type.String(),
  event_types: Type.Array(Type.String()),
  created_at: Time,
  updated_at: Time,
});
const WebhookWithSecret = model("WebhookWithSecret", {
  ...Webhook.properties,
  webhook_secret: Type.String({ description: "Secret that deliveries are signed with; it is shown once" }),
});
const Enabled = Type.Array(Type.String(), {
  description: "Keys of the notification types whose webhook channel this request turned on",
});
export const WebhooksResponse = Type.Object({ success: Done, webhooks: Type.Array(Webhook) });
export const CreatedWebhook = Type.Object({
  success: Done,
  webhook: WebhookWithSecret,
  enabled_notification_preferences: Enabled,
});
export const ChangedWebhook = Type.Object({
  success: Done,
  webhook: Webhook,
  enabled_notification_preferences: Enabled,
});
export const RotatedWebhook = Type.Object({ success: Done, webhook: WebhookWithSecret });
export const DoneResponse = Type.Object({ success: Done });
export const TestedWebhook = Type.Object({
  success: Type.Boolean(),
  msg: Type.String(),
  webhook_id: Type.Integer(),
  event_id: Type.String(),
});

export const NotificationsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  after_token: Type.Optional(Type.String({ maxLength: 20 })),
  unread: Type.Optional(Type.Boolean()),
});
export type NotificationsQuery = Static<typeof NotificationsQuery>;

const Delivery = model("Delivery", {
  channel: Type.Union([Type.Literal("email"), Type.Literal("webhook")]),
  webhook_id: Nullable(Type.Integer()),
  state: Type.Union([Type.Literal("due"), Type.Literal("delivered"), Type.Literal("failed")]),
  attempt_count: Type.Integer(),
  outcome: Type.String(),
  next_attempt_at: Nullable(Time),
  ended_at: Nullable(Time),
});
export const DeliveriesQuery = Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })) });
export const DeliveriesResponse = Type.Object({
  success: Done,
  deliveries: Type.Array(
    model("WebhookDelivery", {
      event_id: Type.String(),
      type: Type.String(),
      subject: Type.String(),
      state: Delivery.properties.state,
      attempt_count: Type.Integer(),
      outcome: Type.String(),
      created_at: Time,
      next_attempt_at: Nullable(Time),
      ended_at: Nullable(Time),
    }),
  ),
});
export const NotificationsResponse = Type.Object({
  success: Done,
  notices: Type.Array(
    model("Notification", {
      id: Type.Integer(),
      event_id: Type.String(),
      type: Type.String(),
      subject: Type.String(),
      message: Type.String(),
      created_at: Time,
      read_at: Nullable(Time),
      deliveries: Type.Array(Delivery),
    }),
  ),
  unread_count: Type.Integer(),
  next_token: Nullable(Type.String()),
});

/** Ids of notifications may exceed 32 bits; this is the largest integer that JSON carries exactly. */
const NOTIFICATION_ID_MAX = Number.MAX_SAFE_INTEGER;
export const ReadBody = Type.Object({
  ids: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: NOTIFICATION_ID_MAX }), { maxItems: 1000 })),
  up_to_id: Type.Optional(Type.Integer({ minimum: 0, maximum: NOTIFICATION_ID_MAX })),
});
export type ReadBody = Static<typeof ReadBody>;
export const ReadResponse = Type.Object({
  success: Done,
  marked: Type.Integer({ description: "Number of notifications that were not read before" }),
  unread_count: Type.Integer(),
});
