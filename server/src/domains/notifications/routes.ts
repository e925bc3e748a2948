import type { Identity } from "../../base/identity.ts";
import type { UserId } from "../../base/ids.ts";
import { findAnswers } from "../../db/idempotency-store.ts";
import { once, openAnswer } from "../../db/idempotency.ts";
import { callerOf, identityOf, type HttpScope } from "../../http/server.ts";
import { withTransaction, type Reader } from "../../db/transaction.ts";
import { readNotifications, showNotifications } from "./inbox/service.ts";
import { NOTIFICATION_TYPES } from "./rules/notification-types.ts";
import { listPreferences, lockChannels, replacePreferences } from "./preference-store.ts";
import { describePreferences, parsePreferences } from "./rules/preferences.ts";
import {
  ChangedWebhook,
  CreatedWebhook,
  DeliveriesQuery,
  DeliveriesResponse,
  DoneResponse,
  NotificationsQuery,
  NotificationsResponse,
  PreferencesBody,
  PreferencesResponse,
  ReadBody,
  ReadResponse,
  RotatedWebhook,
  TestedWebhook,
  TypesResponse,
  UserIdParams,
  WebhookBody,
  WebhookChanges,
  WebhookParams,
  WebhooksResponse,
} from "./schema.ts";
import { testWebhook } from "./webhooks/test-service.ts";
import { viewType, viewWebhook } from "./views.ts";
import type { WebhookClient } from "./webhooks/client.ts";
import {
  changeWebhook,
  createWebhook,
  removeWebhook,
  rotateSecret,
  showDeliveries,
  type WebhookPorts,
} from "./webhooks/service.ts";
import { listWebhooks } from "./webhooks/store.ts";

const TAGS = ["Notifications"];
const PREFERENCES = "/api/v0/users/:user_id/notification-prefs/";
const WEBHOOKS = "/api/v0/webhooks/";

export type NotificationPorts = WebhookPorts & {
  readonly callWebhook: WebhookClient;
  /** The user that a path names; throws when the caller may not read that user's data. */
  readonly resolveUserId: (db: Reader, identity: Identity, text: string) => Promise<UserId>;
};

/** Notifications, preferences and webhooks of users. */
export function notificationRoutes(scope: HttpScope, ports: NotificationPorts): void {
  inboxRoutes(scope);
  preferenceRoutes(scope, ports);
  webhookReadingRoutes(scope);
  webhookRoutes(scope, ports);
  webhookSecretRoutes(scope, ports);
}

function inboxRoutes({ app, database, mutate }: HttpScope): void {
  app.get(
    "/api/v0/notices/",
    {
      config: { access: { operation: "api.notice.list", permission: "user_read" } },
      schema: {
        tags: TAGS,
        summary: "List own notifications, newest first",
        querystring: NotificationsQuery,
        response: { 200: NotificationsResponse },
      },
    },
    (request) => showNotifications(database.kysely, identityOf(request).userId, request.query),
  );
  app.put(
    "/api/v0/notices/",
    {
      config: { access: { operation: "api.notice.read", permission: "user_write" } },
      schema: { tags: TAGS, summary: "Mark notifications as read", body: ReadBody, response: { 200: ReadResponse } },
    },
    (request) => mutate(request, (tx) => readNotifications(tx, identityOf(request).userId, request.body)),
  );
}

function preferenceRoutes({ app, database, mutate }: HttpScope, { resolveUserId }: NotificationPorts): void {
  app.get(
    "/api/v0/notification-types/",
    {
      config: { access: { operation: "api.notification_type.list", permission: "user_read" } },
      schema: { tags: TAGS, summary: "List notification types", response: { 200: TypesResponse } },
    },
    async () => ({ success: true as const, notification_types: NOTIFICATION_TYPES.map(viewType) }),
  );
  app.get(
    PREFERENCES,
    {
      config: { access: { operation: "api.notification_preference.show", permission: "user_read" } },
      schema: {
        tags: TAGS,
        summary: "Show notification preferences",
        params: UserIdParams,
        response: { 200: PreferencesResponse },
      },
    },
    async (request) => {
      const userId = await resolveUserId(database.kysely, identityOf(request), request.params.user_id);
      const stored = await listPreferences(database.kysely, [userId]);
      return { success: true as const, notification_preferences: describePreferences(stored) };
    },
  );
  app.put(
    PREFERENCES,
    {
      config: { access: { operation: "api.notification_preference.update", permission: "user_write" } },
      schema: {
        tags: TAGS,
        summary: "Replace notification preferences; types that are left out go back to their defaults",
        params: UserIdParams,
        body: PreferencesBody,
        response: { 200: PreferencesResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const userId = await resolveUserId(tx.db, identityOf(request), request.params.user_id);
        const preferences = parsePreferences(request.body.notification_preferences);
        await lockChannels(tx, userId);
        await replacePreferences(tx, userId, preferences);
        return { success: true as const, notification_preferences: describePreferences(preferences) };
      }),
  );
}

function webhookReadingRoutes({ app, database }: HttpScope): void {
  app.get(
    WEBHOOKS,
    {
      config: { access: { operation: "api.webhook.list", permission: "user_read" } },
      schema: { tags: TAGS, summary: "List own webhooks", response: { 200: WebhooksResponse } },
    },
    async (request) => {
      const webhooks = await listWebhooks(database.kysely, [identityOf(request).userId]);
      return { success: true as const, webhooks: webhooks.map(viewWebhook) };
    },
  );
  app.get(
    `${WEBHOOKS}:id/deliveries/`,
    {
      config: { access: { operation: "api.webhook.deliveries", permission: "user_read" } },
      schema: {
        tags: TAGS,
        summary: "List the newest deliveries to a webhook",
        params: WebhookParams,
        querystring: DeliveriesQuery,
        response: { 200: DeliveriesResponse },
      },
    },
    (request) => {
      const asked = { id: request.params.id, limit: request.query.limit };
      return showDeliveries(database.kysely, identityOf(request).userId, asked);
    },
  );
}

function webhookRoutes({ app, mutate }: HttpScope, ports: NotificationPorts): void {
  app.post(
    WEBHOOKS,
    {
      config: { access: { operation: "api.webhook.create", permission: "user_write", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Create a webhook; its secret is shown this once",
        body: WebhookBody,
        response: { 200: CreatedWebhook },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { webhook, secret, enabledKinds } = await createWebhook(tx, callerOf(request), request.body, ports);
        return {
          success: true as const,
          webhook: { ...viewWebhook(webhook), webhook_secret: secret },
          enabled_notification_preferences: [...enabledKinds],
        };
      }),
  );
  app.put(
    `${WEBHOOKS}:id/`,
    {
      config: {
        access: { operation: "api.webhook.update", permission: "user_write", limit: "keys" },
        nullMembers: ["name"],
      },
      schema: {
        tags: TAGS,
        summary: "Change a webhook",
        params: WebhookParams,
        body: WebhookChanges,
        response: { 200: ChangedWebhook },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const change = { id: request.params.id, body: request.body };
        const { webhook, enabledKinds } = await changeWebhook(tx, callerOf(request), change, ports);
        return {
          success: true as const,
          webhook: viewWebhook(webhook),
          enabled_notification_preferences: [...enabledKinds],
        };
      }),
  );
  app.delete(
    `${WEBHOOKS}:id/`,
    {
      config: { access: { operation: "api.webhook.delete", permission: "user_write", limit: "keys" } },
      schema: { tags: TAGS, summary: "Delete a webhook", params: WebhookParams, response: { 200: DoneResponse } },
    },
    (request) =>
      mutate(request, async (tx) => {
        await removeWebhook(tx, callerOf(request), request.params.id, ports);
        return { success: true as const };
      }),
  );
}

function webhookSecretRoutes({ app, database, clock, mutate, repeatable }: HttpScope, ports: NotificationPorts): void {
  app.post(
    `${WEBHOOKS}:id/rotate-secret/`,
    {
      config: { access: { operation: "api.webhook.rotate_secret", permission: "user_write", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Replace the secret of a webhook; the new one is shown this once",
        params: WebhookParams,
        response: { 200: RotatedWebhook },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { webhook, secret } = await rotateSecret(tx, callerOf(request), request.params.id, ports);
        return { success: true as const, webhook: { ...viewWebhook(webhook), webhook_secret: secret } };
      }),
  );
  app.post(
    `${WEBHOOKS}:id/test/`,
    {
      config: { access: { operation: "api.webhook.test", permission: "user_write", limit: "keys" } },
      schema: {
        tags: TAGS,
        summary: "Call a webhook once with a test event",
        params: WebhookParams,
        response: { 200: TestedWebhook },
      },
    },
    async (request) => {
      const again = repeatable(request);
      const earlier = again && (await findAnswers(database.kysely, [again])).get(again);
      if (again !== undefined && earlier !== undefined)
        return openAnswer(again, earlier) as Awaited<ReturnType<typeof testWebhook>>;
      // Outside any transaction, since a receiver may be slow.
      const answer = await testWebhook(database.kysely, identityOf(request), request.params.id, { ...ports, clock });
      return withTransaction(database, clock, (tx) => once(tx, again, async () => answer));
    },
  );
}
