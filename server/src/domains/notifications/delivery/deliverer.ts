import type { Clock } from "../../../base/clock.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Log } from "../../../base/log.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Reader } from "../../../db/transaction.ts";
import type { LoopStatus } from "../../../base/loop-driver.ts";
import { claimDue, lockUnplanned, storePlan, storeResult, type Channel, type ClaimedDelivery } from "./store.ts";
import { eventIdOf, signedRequest, type NotificationEvent } from "./rules/event.ts";
import { mailOf } from "./rules/mail.ts";
import type { Mailer } from "./mailer.ts";
import { planDeliveries } from "./rules/plan.ts";
import { listPreferences } from "../preference-store.ts";
import { nextAttemptAt, type Outcome } from "./rules/retry.ts";
import { unlessAborted } from "../../../base/unless-aborted.ts";
import type { WebhookClient } from "../webhooks/client.ts";
import { listTargets, listWebhooks, encryptionContextOf } from "../webhooks/store.ts";

/** Concurrent attempts of this process. There are many receivers, and most attempts wait; there is one mail server. */
const ATTEMPTS_AT_ONCE = { webhook: 128, email: 8 } as const satisfies Record<Channel, number>;
const CHANNELS = ["webhook", "email"] as const;
/** Concurrent attempts for one user. */
const ATTEMPTS_PER_USER = 4;
/** Longer than any attempt: a process that has not reported by then is gone. */
const CLAIM_MS = 120_000;
const PLANNED_PER_ROUND = 500;
const ROUNDS_PER_RUN = 20;

export type DelivererPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (byteCount: number) => Buffer;
  readonly encryption: Encryption;
  readonly callWebhook: WebhookClient;
  /** The mailer; undefined where no mail server is set up: then no mail is sent. */
  readonly mailer: Mailer | undefined;
  /** Those of these users whose accounts are live, with their mailboxes; undefined for an unproven address. */
  readonly mailboxesOf: (db: Reader, userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, string | undefined>>;
};

const INTERRUPTED: Outcome = { kind: "retry", text: "interrupted by a stop of the server" };

type Targets = {
  readonly webhooks: Awaited<ReturnType<typeof listTargets>>;
  readonly mailboxes: ReadonlyMap<UserId, string | undefined>;
};

/**
 * Delivers notifications by webhook and mail. A run plans, claims and begins; it does not wait for receivers, so that
 * the next run can serve others. Any number of processes may do this at once: a claimed delivery belongs to its process
 * for a while.
 */
export class Deliverer {
  readonly #ports: DelivererPorts;
  readonly #underWay = new Map<Promise<void>, { readonly userId: UserId; readonly channel: Channel }>();
  readonly #stopping = new AbortController();
  /** The last user served: the next claim continues after that user, so that waiting users take turns. */
  readonly #lastUserIds = { webhook: 0, email: 0 } satisfies Record<Channel, number>;
  /** Called when an attempt ends, to look for deliveries that wait. */
  #onFree: () => void = () => {};

  constructor(ports: DelivererPorts) {
    this.#ports = ports;
  }

  whenFree(listener: () => void): void {
    this.#onFree = listener;
  }

  async run(): Promise<LoopStatus> {
    const planned = await this.#plan();
    let begun = 0;
    for (const channel of CHANNELS) begun += await this.#begin(channel);
    return { planned, begun, under_way: this.#underWay.size };
  }

  /** Resolves when no attempt is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.keys());
  }

  /** Aborts attempts under way; the next server to run tries them again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.idle();
    this.#ports.mailer?.close();
  }

  async #plan(): Promise<number> {
    const { database, clock, mailer } = this.#ports;
    let total = 0;
    for (let round = 1; round <= ROUNDS_PER_RUN; round += 1) {
      const count = await withTransaction(database, clock, async (tx) => {
        const notifications = await lockUnplanned(tx, PLANNED_PER_ROUND);
        if (notifications.length === 0) return 0;
        const userIds = [...new Set(notifications.map(({ userId }) => userId))];
        const [preferences, webhooks] = [await listPreferences(tx.db, userIds), await listWebhooks(tx.db, userIds)];
        const canMail = mailer !== undefined;
        await storePlan(tx, notifications, planDeliveries(notifications, { preferences, webhooks, canMail }));
        return notifications.length;
      });
      total += count;
      if (count < PLANNED_PER_ROUND) break;
    }
    return total;
  }

  async #begin(channel: Channel): Promise<number> {
    const { database, clock, mailboxesOf } = this.#ports;
    let begun = 0;
    while (!this.#stopping.signal.aborted) {
      const busy = [...this.#underWay.values()].filter((one) => one.channel === channel).map(({ userId }) => userId);
      const total = ATTEMPTS_AT_ONCE[channel] - busy.length;
      if (total <= 0) break;
      const claimed = await withTransaction(database, clock, (tx) =>
        claimDue(tx, {
          channel,
          total,
          perUser: ATTEMPTS_PER_USER,
          except: repeatedIn(busy, ATTEMPTS_PER_USER),
          afterUserId: this.#lastUserIds[channel],
          claimedUntil: new Date(tx.now.getTime() + CLAIM_MS),
        }),
      );
      const isFromStart = this.#lastUserIds[channel] === 0;
      this.#lastUserIds[channel] = Math.max(0, ...claimed.map(userOf));
      if (claimed.length === 0 && isFromStart) break;
      if (claimed.length === 0) continue;
      const targets = {
        webhooks: await listTargets(
          database.kysely,
          claimed.flatMap(({ webhookId }) => webhookId ?? []),
        ),
        mailboxes: await mailboxesOf(database.kysely, claimed.map(userOf)),
      };
      for (const delivery of claimed) this.#start(delivery, targets);
      begun += claimed.length;
    }
    return begun;
  }

  #start(delivery: ClaimedDelivery, targets: Targets): void {
    const done = this.#deliver(delivery, targets)
      // An attempt whose outcome cannot be stored now is tried again when its claim expires.
      .catch((error: unknown) => this.#ports.log.error({ err: error }, "a delivery could not be completed"))
      .finally(() => {
        this.#underWay.delete(done);
        if (!this.#stopping.signal.aborted) this.#onFree();
      });
    const channel = delivery.webhookId === undefined ? "email" : "webhook";
    this.#underWay.set(done, { userId: delivery.userId, channel });
  }

  async #deliver(delivery: ClaimedDelivery, targets: Targets): Promise<void> {
    const { database, clock } = this.#ports;
    const outcome = await this.#attempt(delivery, targets);
    await withTransaction(database, clock, async (tx) => {
      const { id, attempt, createdAt } = delivery;
      const chance = this.#chance();
      const dueAt = outcome.kind === "retry" ? nextAttemptAt({ attempt, createdAt, now: tx.now, chance }) : undefined;
      const isGivenUp = outcome.kind === "retry" && dueAt === undefined;
      await storeResult(tx, {
        id,
        attempt,
        outcome: isGivenUp ? `${outcome.text}; given up` : outcome.text,
        dueAt,
        isDelivered: outcome.kind === "delivered",
      });
    });
  }

  async #attempt({ userId, webhookId, attempt, notification }: ClaimedDelivery, targets: Targets): Promise<Outcome> {
    const { clock, encryption, callWebhook, mailer } = this.#ports;
    const event: NotificationEvent = { ...notification, userId, eventId: eventIdOf(notification.id) };
    if (!targets.mailboxes.has(userId)) return { kind: "refused", text: "the account is gone" };
    if (webhookId === undefined) {
      const to = targets.mailboxes.get(userId);
      if (to === undefined) return { kind: "refused", text: "the account has proven no address" };
      if (mailer === undefined) return { kind: "retry", text: "no mail server is set up" };
      const sending = mailer.send(mailOf(event, { to, from: mailer.from }));
      return unlessAborted(sending, this.#stopping.signal).catch(() => INTERRUPTED);
    }
    const target = targets.webhooks.get(webhookId);
    const secret = target && encryption.decrypt(target.encryptedSecret, encryptionContextOf(webhookId));
    if (target === undefined || secret === undefined) return { kind: "refused", text: "its secret cannot be read" };
    return callWebhook(target.url, signedRequest(event, { secret, attempt, now: clock.now() }), this.#stopping.signal);
  }

  /** A random number from 0 up to 1. */
  #chance(): number {
    return this.#ports.random(4).readUInt32BE() / 2 ** 32;
  }
}

/** Users who appear in the list this often, or more. */
function repeatedIn(userIds: readonly UserId[], times: number): readonly UserId[] {
  return [...Map.groupBy(userIds, (userId) => userId)]
    .filter(([, own]) => own.length >= times)
    .map(([userId]) => userId);
}

function userOf({ userId }: ClaimedDelivery): UserId {
  return userId;
}
