import { invalid } from "../../../base/errors.ts";
import {
  findNotificationType,
  NOTIFICATION_TYPES,
  type Channels,
  type NotificationType,
} from "./notification-types.ts";

/** A user's channels for a kind; a kind without a stored preference uses its default. */
export type StoredPreference = Channels & { readonly kind: string };

/**
 * By context and slug, as the contract writes them: `{"client": {"low_credit": {"email": true, "webhooks": false}}}`.
 */
export type PreferencesDocument = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, boolean>>>>>>;

const CHANNELS: readonly string[] = ["email", "webhooks"] satisfies readonly (keyof Channels)[];
const FIELD = "notification_preferences";

/** The channels of a kind, given the user's stored preference. */
export function effectiveChannels(type: NotificationType, stored: Channels | undefined): Channels {
  const { email, webhooks } = stored ?? type.defaults;
  return { email: email || type.isEmailMandatory, webhooks };
}

/** Every kind with its channels. */
export function describePreferences(stored: readonly StoredPreference[]): PreferencesDocument {
  const byKind = new Map(stored.map((preference) => [preference.kind, preference]));
  const contexts: Record<string, Record<string, Channels>> = { client: {}, host: {} };
  for (const type of NOTIFICATION_TYPES) {
    const { [type.context]: slugs = {} } = contexts;
    slugs[type.slug] = effectiveChannels(type, byKind.get(type.key));
  }
  return contexts;
}

/** Reads a whole document; kinds that it leaves out return to their default. Throws naming the first wrong key. */
export function parsePreferences(document: PreferencesDocument): readonly StoredPreference[] {
  return Object.entries(document).flatMap(([context, slugs]) =>
    Object.entries(slugs).map(([slug, channels]) => parseOne({ context, slug, channels })),
  );
}

type Said = { readonly context: string; readonly slug: string; readonly channels: Readonly<Record<string, boolean>> };

function parseOne({ context, slug, channels }: Said): StoredPreference {
  const field = `${FIELD}.${context.slice(0, 64)}.${slug.slice(0, 64)}`;
  const type = findNotificationType(`${context}:${slug}`);
  if (type === undefined || type.context !== context) throw invalid(field, `${field} is not a notification type`);
  const unknown = Object.keys(channels).find((channel) => !CHANNELS.includes(channel));
  if (unknown !== undefined) {
    const channel = `${field}.${unknown.slice(0, 64)}`;
    throw invalid(channel, `${channel} is not a channel: there are email and webhooks`);
  }
  if (type.isEmailMandatory && channels["email"] === false) {
    throw invalid(`${field}.email`, `${field}.email cannot be switched off: this e-mail is mandatory`);
  }
  const { email = type.defaults.email, webhooks = type.defaults.webhooks } = channels;
  return { kind: type.key, email, webhooks };
}
