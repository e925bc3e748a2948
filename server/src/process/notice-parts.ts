import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Sealer } from "../base/seal.ts";
import type { Database } from "../db/connect.ts";
import { listAddresses, recordAudit, resolveUserId, type RandomBytes } from "../domains/accounts/index.ts";
import {
  createMailer,
  createWebhookClient,
  Deliverer,
  resolveBySystem,
  resolverByDns,
  type MailSettings,
  type NoticePorts,
  type Resolve,
} from "../domains/notices/index.ts";

/** How notices leave this installation. */
export type NoticeSettings = {
  /** Undefined where no mail server is set up. */
  readonly mail?: MailSettings | undefined;
  /** Webhooks may be called on this network, and without TLS. */
  readonly isPrivateAllowed?: boolean;
  /** How the names of receivers are resolved; when absent by DNS, or where private ones may be called as this machine does. */
  readonly resolve?: Resolve;
};

type Means = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
};

/** What carries notices, and what their routes need. */
export function createNoticeParts(
  means: Means,
  { mail, isPrivateAllowed = false, resolve = isPrivateAllowed ? resolveBySystem : resolverByDns() }: NoticeSettings,
): { readonly deliverer: Deliverer; readonly ports: NoticePorts } {
  const { clock, random, sealer } = means;
  const callWebhook = createWebhookClient({ clock, resolve, isPrivateAllowed });
  const mailer = mail === undefined ? undefined : createMailer(mail);
  return {
    deliverer: new Deliverer({ ...means, callWebhook, mailer, addressesOf: listAddresses }),
    ports: { random, sealer, callWebhook, isPrivateAllowed, recordAudit, resolveUserId },
  };
}
