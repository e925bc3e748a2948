import { invalid } from "../../../../base/errors.ts";
import type { UserId, WebhookId } from "../../../../base/ids.ts";
import { findNotificationType } from "../../rules/notification-types.ts";

export type Webhook = {
  readonly id: WebhookId;
  readonly userId: UserId;
  readonly name: string | undefined;
  readonly url: string;
  /** Kinds of notifications, each once. */
  readonly eventTypes: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export const WEBHOOKS_MAX = 4;
const URL_LENGTH_MAX = 2048;
const NAME_LENGTH_MAX = 120;
const SECRET_BYTES = 32;

/** A request body before its checks. */
export type WebhookBody = {
  readonly name?: string | null;
  readonly webhook_url?: string;
  readonly event_types?: readonly string[];
};

/** The checked fields of a body; undefined for absent ones. A null or empty name removes the name. */
export type WebhookWish = {
  readonly name?: string | null;
  readonly url?: string;
  readonly eventTypes?: readonly string[];
};

/** `isPlainAllowed`: http is accepted too, if the installation allows it. */
export function parseWebhook(body: WebhookBody, { isPlainAllowed }: { readonly isPlainAllowed: boolean }): WebhookWish {
  const { name, webhook_url: url, event_types: eventTypes } = body;
  return {
    ...(name === undefined ? {} : { name: parseName(name) }),
    ...(url === undefined ? {} : { url: parseUrl(url, isPlainAllowed) }),
    ...(eventTypes === undefined ? {} : { eventTypes: parseEventTypes(eventTypes) }),
  };
}

function parseName(name: string | null): string | null {
  const trimmed = (name ?? "").trim();
  if (trimmed.length > NAME_LENGTH_MAX) {
    throw invalid("name", `name must have at most ${NAME_LENGTH_MAX} characters`);
  }
  if (/\p{Cc}/u.test(trimmed)) throw invalid("name", "name must not contain control characters");
  return trimmed === "" ? null : trimmed;
}

function parseUrl(text: string, isPlainAllowed: boolean): string {
  if (text.length > URL_LENGTH_MAX) {
    throw invalid("webhook_url", `webhook_url must have at most ${URL_LENGTH_MAX} characters`);
  }
  const url = !/[\s\p{Cc}]/u.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url?.protocol === "https:" || (isPlainAllowed && url?.protocol === "http:");
  if (url === undefined || !isSecure || url.hostname === "") {
    throw invalid("webhook_url", "webhook_url must be an https address with a host name");
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid("webhook_url", "webhook_url must not contain a user name or password");
  }
  return text;
}

function parseEventTypes(eventTypes: readonly string[]): readonly string[] {
  if (eventTypes.length === 0) throw invalid("event_types", "event_types must name at least one notification type");
  const unknown = eventTypes.findIndex((key) => findNotificationType(key) === undefined);
  if (unknown !== -1) {
    const name = JSON.stringify(eventTypes[unknown]?.slice(0, 64));
    throw invalid(`event_types[${unknown}]`, `${name} is not a notification type such as client:low_credit`);
  }
  return [...new Set(eventTypes)];
}

/** 256 random bits behind a prefix by which a leaked one is recognised. Receivers use the whole text as their key. */
export function newWebhookSecret(random: (byteCount: number) => Buffer): string {
  return `whsec_${random(SECRET_BYTES).toString("base64url")}`;
}
