import { invalid, notFound } from "../../../base/errors.ts";
import type { Caller, Identity } from "../../../base/identity.ts";
import { parseId, type UserId, type WebhookId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { listWebhookDeliveries } from "../inbox/store.ts";
import { findNotificationType } from "../rules/notification-types.ts";
import { listPreferences, lockChannels, putPreferences } from "../preference-store.ts";
import { effectiveChannels } from "../rules/preferences.ts";
import { viewWebhookDelivery } from "../views.ts";
import { newWebhookSecret, parseWebhook, WEBHOOKS_MAX, type Webhook, type WebhookBody } from "./rules/webhook.ts";
import {
  deleteWebhook,
  insertWebhook,
  listTargets,
  listWebhooks,
  reserveWebhookId,
  encryptionContextOf,
  updateWebhook,
} from "./store.ts";

export type WebhookPorts = {
  readonly random: (byteCount: number) => Buffer;
  readonly encryption: Encryption;
  /** True when plain http and addresses of this network are accepted too. */
  readonly isPrivateAllowed: boolean;
  /** Writes the act to the audit log of the accounts. */
  readonly recordAudit: (
    tx: Tx,
    identity: Identity,
    event: { readonly ipAddress: string; readonly action: string; readonly args: Readonly<Record<string, unknown>> },
  ) => Promise<void>;
};

/** A webhook with its new secret, and the kinds whose webhook channel the request turned on. */
export type Subscribed = { readonly webhook: Webhook; readonly enabledKinds: readonly string[] };

/** Creates a webhook; its secret is shown only in this answer. */
export async function createWebhook(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: WebhookBody,
  ports: WebhookPorts,
): Promise<Subscribed & { readonly secret: string }> {
  const { userId } = identity;
  const { name, url, eventTypes } = parseWebhook(body, { isPlainAllowed: ports.isPrivateAllowed });
  if (url === undefined) throw invalid("webhook_url", "webhook_url is required", "missing_input");
  if (eventTypes === undefined) throw invalid("event_types", "event_types is required", "missing_input");
  await lockChannels(tx, userId);
  if ((await listWebhooks(tx.db, [userId])).length >= WEBHOOKS_MAX) {
    throw invalid("webhook_url", `An account may have at most ${WEBHOOKS_MAX} webhooks.`, "max_webhooks");
  }
  const id = await reserveWebhookId(tx);
  const secret = newWebhookSecret(ports.random);
  const encryptedSecret = ports.encryption.encrypt(secret, encryptionContextOf(id));
  const webhook = await insertWebhook(tx, { id, userId, name: name ?? undefined, url, eventTypes, encryptedSecret });
  const enabledKinds = await turnOn(tx, userId, eventTypes);
  await ports.recordAudit(tx, identity, { ipAddress, action: "api.webhook.create", args: { id } });
  return { webhook, enabledKinds, secret };
}

/** Changes the fields that the body names. */
export async function changeWebhook(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id: text, body }: { readonly id: string; readonly body: WebhookBody },
  ports: WebhookPorts,
): Promise<Subscribed> {
  const { userId } = identity;
  const wish = parseWebhook(body, { isPlainAllowed: ports.isPrivateAllowed });
  await lockChannels(tx, userId);
  const id = toWebhookId(text);
  const webhook = id && (await updateWebhook(tx, { id, userId, ...wish }));
  if (webhook === undefined) throw noSuchWebhook(text);
  const enabledKinds = wish.eventTypes === undefined ? [] : await turnOn(tx, userId, wish.eventTypes);
  await ports.recordAudit(tx, identity, { ipAddress, action: "api.webhook.update", args: { id } });
  return { webhook, enabledKinds };
}

export async function removeWebhook(
  tx: Tx,
  { identity, ipAddress }: Caller,
  text: string,
  ports: Pick<WebhookPorts, "recordAudit">,
): Promise<void> {
  const id = toWebhookId(text);
  if (id === undefined || !(await deleteWebhook(tx, identity.userId, id))) throw noSuchWebhook(text);
  await ports.recordAudit(tx, identity, { ipAddress, action: "api.webhook.delete", args: { id } });
}

/** Gives a webhook another secret; later deliveries are signed with it. */
export async function rotateSecret(
  tx: Tx,
  { identity, ipAddress }: Caller,
  text: string,
  ports: WebhookPorts,
): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
  const id = toWebhookId(text);
  if (id === undefined) throw noSuchWebhook(text);
  const secret = newWebhookSecret(ports.random);
  const encryptedSecret = ports.encryption.encrypt(secret, encryptionContextOf(id));
  const webhook = await updateWebhook(tx, { id, userId: identity.userId, encryptedSecret });
  if (webhook === undefined) throw noSuchWebhook(text);
  await ports.recordAudit(tx, identity, { ipAddress, action: "api.webhook.rotate_secret", args: { id } });
  return { webhook, secret };
}

const DELIVERIES_DEFAULT = 25;

/** The newest deliveries to a webhook, with the outcome of the last attempt of each. */
export async function showDeliveries(
  db: Reader,
  userId: UserId,
  { id: text, limit = DELIVERIES_DEFAULT }: { readonly id: string; readonly limit: number | undefined },
) {
  const webhookId = toWebhookId(text);
  const isOwn = webhookId !== undefined && (await listTargets(db, [webhookId])).get(webhookId)?.userId === userId;
  if (!isOwn) throw noSuchWebhook(text);
  const deliveries = await listWebhookDeliveries(db, { webhookId, userId, limit });
  return { success: true as const, deliveries: deliveries.map(viewWebhookDelivery) };
}

/** Turns on the webhook channel of the subscribed kinds; returns those for which it was off. */
async function turnOn(tx: Tx, userId: UserId, kinds: readonly string[]): Promise<readonly string[]> {
  const stored = new Map((await listPreferences(tx.db, [userId])).map((preference) => [preference.kind, preference]));
  const enabled = kinds.flatMap((kind) => {
    const type = findNotificationType(kind);
    if (type === undefined) return [];
    const { email, webhooks } = effectiveChannels(type, stored.get(kind));
    return webhooks ? [] : [{ kind, email, webhooks: true }];
  });
  await putPreferences(tx, userId, enabled);
  return enabled.map(({ kind }) => kind);
}

/** The id in a path; undefined for a text that no webhook can have as its id. */
export function toWebhookId(text: string): WebhookId | undefined {
  if (!/^\d+$/.test(text)) throw invalid("id", "id must be the number of a webhook", "invalid_request");
  return parseId<WebhookId>(text);
}

export function noSuchWebhook(text: string) {
  return notFound("no_such_webhook", `There is no webhook ${text} of yours.`);
}
