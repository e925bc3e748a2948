import type { Clock } from "../base/clock.ts";
import type { Outside } from "../base/pinned-request.ts";
import type { Log } from "../base/log.ts";
import type { Encryption } from "../base/encryption.ts";
import type { Database } from "../db/connect.ts";
import { listMailboxes } from "../domains/people/accounts/for-assembly.ts";
import { recordAudit, resolveUserId, type RandomBytes } from "../domains/people/accounts/index.ts";
import {
  createMailer,
  createWebhookClient,
  Deliverer,
  deliverLoop,
  mailLoop,
  mailQueue,
  resolveBySystem,
  resolverByDns,
  type MailSettings,
  type NotificationPorts,
  type QueueMail,
  type Resolve,
} from "../domains/notifications/index.ts";
import type { Loop } from "../base/loop-driver.ts";

/** The settings with which notifications leave this installation. */
export type NotificationSettings = {
  /** The mail server's settings; undefined when none is set up. */
  readonly mail?: MailSettings | undefined;
  /** True when webhooks may be called on this network, and without TLS. */
  readonly isPrivateAllowed?: boolean;
  /** Resolves receivers; by DNS when absent, or as this machine does where private addresses may be called. */
  readonly resolve?: Resolve;
};

type Means = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: RandomBytes;
  readonly encryption: Encryption;
};

/** Creates the carriers of notifications and the services that their routes need. */
export function createNotificationParts(
  means: Means,
  {
    mail,
    isPrivateAllowed = false,
    resolve = isPrivateAllowed ? resolveBySystem : resolverByDns(),
  }: NotificationSettings,
): {
  readonly deliverer: Deliverer;
  /** Loops that deliver notifications and mails. */
  readonly deliveryLoops: readonly Loop[];
  readonly ports: NotificationPorts;
  /** Puts a mail into the outbox; undefined when no mail server is set up. */
  readonly queueMail: QueueMail | undefined;
  /** The way to servers that users choose. */
  readonly outside: Outside;
} {
  const { clock, random, encryption } = means;
  const callWebhook = createWebhookClient({ clock, resolve, isPrivateAllowed });
  const mailer = mail === undefined ? undefined : createMailer(mail);
  const deliverer = new Deliverer({ ...means, callWebhook, mailer, mailboxesOf: listMailboxes });
  return {
    deliverer,
    deliveryLoops: [deliverLoop(deliverer), mailLoop({ ...means, mailer })],
    queueMail: mailer === undefined ? undefined : mailQueue(encryption),
    outside: { resolve, isPrivateAllowed },
    ports: { random, encryption, callWebhook, isPrivateAllowed, recordAudit, resolveUserId },
  };
}
